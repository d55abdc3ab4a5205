"""Amounts in words, English and French, printed on tickets next to the amount in digits (H-02).

French follows the traditional rules: *et* before *un* and *onze* only (vingt et un, soixante et onze, but
quatre-vingt-un). *Cent* and *quatre-vingt* take an s when multiplied and last (deux cents, quatre-vingts), but not
before *mille*, which never changes. *Million* and *milliard* are nouns: they take an s, *cents* and *quatre-vingts*
keep their s before them, and *de* follows them before the noun counted (un million de dollars). Zero and one are
singular.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from egm.tickets.errors import InvalidTicket

#: Exclusive upper bound of the amounts that can be worded.
WORDED_AMOUNT_CENTS_LIMIT: Final = 10**14


@dataclass(frozen=True, slots=True)
class _CurrencyUnitWords:
    """The words for a currency's unit and its hundredth, each in singular and plural."""

    unit: tuple[str, str]
    hundredth: tuple[str, str]


_DOLLAR_WORDS: Final = _CurrencyUnitWords(("dollar", "dollars"), ("cent", "cents"))
#: Words of each currency's unit, by language.
_CURRENCY_WORDS: Final[Mapping[str, Mapping[str, _CurrencyUnitWords]]] = {
    "en": {
        "USD": _DOLLAR_WORDS,
        "CAD": _DOLLAR_WORDS,
        "EUR": _CurrencyUnitWords(("euro", "euros"), ("cent", "cents")),
    },
    "fr": {
        "USD": _DOLLAR_WORDS,
        "CAD": _DOLLAR_WORDS,
        "EUR": _CurrencyUnitWords(("euro", "euros"), ("centime", "centimes")),
    },
}


def _split_words(number_words: str) -> tuple[str, ...]:
    """Return the words of a text; a word's index is the number that it names, and "-" stands for a missing word."""
    return tuple(number_words.split())


#: English words of the numbers below twenty.
_ENGLISH_NUMBER_WORDS_BELOW_20: Final = _split_words(
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
    "seventeen eighteen nineteen"
)
#: English words of the tens.
_ENGLISH_TENS_WORDS: Final = _split_words("- - twenty thirty forty fifty sixty seventy eighty ninety")
#: French words of the numbers below twenty.
_FRENCH_NUMBER_WORDS_BELOW_20: Final = _split_words(
    "zéro un deux trois quatre cinq six sept huit neuf dix onze douze treize quatorze quinze seize dix-sept "
    "dix-huit dix-neuf"
)
#: French words of the tens.
_FRENCH_TENS_WORDS: Final = _split_words(
    "- - vingt trente quarante cinquante soixante soixante quatre-vingt quatre-vingt"
)
#: English group words, the largest first.
_ENGLISH_WORDS_OF_LARGE_POWERS: Final = ((10**9, "billion"), (10**6, "million"), (10**3, "thousand"))
#: French group words, the largest first.
_FRENCH_WORDS_OF_LARGE_POWERS: Final = ((10**9, "milliard"), (10**6, "million"))


def spell_in_english(number: int) -> str:
    """Return an integer from 0 to 999,999,999,999 in English words."""
    for power, power_word in _ENGLISH_WORDS_OF_LARGE_POWERS:
        if number >= power:
            remainder = f" {spell_in_english(number % power)}" if number % power else ""
            return f"{spell_in_english(number // power)} {power_word}{remainder}"
    if number >= 100:
        remainder = f" {spell_in_english(number % 100)}" if number % 100 else ""
        return f"{_ENGLISH_NUMBER_WORDS_BELOW_20[number // 100]} hundred{remainder}"
    if number >= 20:
        return _ENGLISH_TENS_WORDS[number // 10] + (
            f"-{_ENGLISH_NUMBER_WORDS_BELOW_20[number % 10]}" if number % 10 else ""
        )
    return _ENGLISH_NUMBER_WORDS_BELOW_20[number]


def spell_in_french(number: int) -> str:
    """Return an integer from 0 to 999 999 999 999 in French words (masculine)."""
    for power, power_noun in _FRENCH_WORDS_OF_LARGE_POWERS:
        if number >= power:
            count, remainder = divmod(number, power)
            number_words = f"{spell_in_french(count)} {power_noun}{'s' if count > 1 else ''}"
            return f"{number_words} {spell_in_french(remainder)}" if remainder else number_words
    if number >= 1000:
        count, remainder = divmod(number, 1000)
        number_words = "mille" if count == 1 else f"{_spell_french_to_999(count, is_before_noun=False)} mille"
        return f"{number_words} {spell_in_french(remainder)}" if remainder else number_words
    return _spell_french_to_999(number, is_before_noun=True)


def _spell_french_to_999(number: int, *, is_before_noun: bool) -> str:
    """Return a number from 0 to 999 in French words.

    If ``is_before_noun``, a noun follows directly, so that *cent* and *quatre-vingt* take their plural s.
    """
    hundreds, remainder = divmod(number, 100)
    if not hundreds:
        return _spell_french_to_99(remainder, is_before_noun=is_before_noun)
    number_words = "cent" if hundreds == 1 else f"{_FRENCH_NUMBER_WORDS_BELOW_20[hundreds]} cent"
    if remainder:
        return f"{number_words} {_spell_french_to_99(remainder, is_before_noun=is_before_noun)}"
    return f"{number_words}s" if is_before_noun and hundreds > 1 else number_words


def _spell_french_to_99(number: int, *, is_before_noun: bool) -> str:
    """Return a number from 0 to 99 in French words.

    If ``is_before_noun``, a noun follows directly, so that *quatre-vingt* takes its plural s.
    """
    if number < 20:
        return _FRENCH_NUMBER_WORDS_BELOW_20[number]
    if number == 80:
        return "quatre-vingts" if is_before_noun else "quatre-vingt"
    tens = number // 10
    tens_word = _FRENCH_TENS_WORDS[tens]
    ones_digit = number % 10 + (10 if tens in {7, 9} else 0)
    if ones_digit == 0:
        return tens_word
    has_et = ones_digit in {1, 11} and tens < 8
    return (
        f"{tens_word} et {_FRENCH_NUMBER_WORDS_BELOW_20[ones_digit]}"
        if has_et
        else f"{tens_word}-{_FRENCH_NUMBER_WORDS_BELOW_20[ones_digit]}"
    )


#: By language: the number's words, the conjunction, and whether a number takes the plural.
_WORDING_BY_LANGUAGE: Final[Mapping[str, tuple[Callable[[int], str], str, Callable[[int], bool]]]] = {
    "en": (spell_in_english, "and", lambda number: number != 1),
    "fr": (spell_in_french, "et", lambda number: number >= 2),
}


def format_amount_in_words(amount_cents: int, currency: str, language: str) -> str:
    """Return an amount in minor units in words, with an initial capital.

    Example: 1234 is ``Twelve dollars and thirty-four cents``; a whole amount mentions no cents. Raises
    :class:`InvalidTicket` for a negative amount or one not below :data:`WORDED_AMOUNT_CENTS_LIMIT`, and for a currency
    or language without words.
    """
    if not 0 <= amount_cents < WORDED_AMOUNT_CENTS_LIMIT:
        raise InvalidTicket(
            f"amount in words: {amount_cents} is not from 0 to {WORDED_AMOUNT_CENTS_LIMIT - 1}"
        )
    try:
        spell, conjunction, is_plural = _WORDING_BY_LANGUAGE[language]
        currency_words = _CURRENCY_WORDS[language][currency]
    except KeyError:
        raise InvalidTicket(f"amount in words: {currency} has no wording in {language!r}") from None
    units, cents = divmod(amount_cents, 100)
    amount_texts = []
    if units or not cents:
        preposition = " de" if language == "fr" and units and units % 10**6 == 0 else ""
        currency_noun = currency_words.unit[is_plural(units)]
        amount_texts.append(f"{spell(units)}{preposition} {currency_noun}".replace("de euro", "d'euro"))
    if cents:
        amount_texts.append(f"{spell(cents)} {currency_words.hundredth[is_plural(cents)]}")
    text = f" {conjunction} ".join(amount_texts)
    return text[0].upper() + text[1:]
