"""Amounts in words: grammar by examples, and every number read back by an independent reader."""

import pytest

from egm.tickets.amount_in_words import format_amount_in_words, spell_in_english, spell_in_french
from egm.tickets.errors import InvalidTicket

FRENCH = {
    0: "zéro", 1: "un", 16: "seize", 17: "dix-sept", 20: "vingt", 21: "vingt et un", 22: "vingt-deux",
    60: "soixante", 61: "soixante et un", 70: "soixante-dix", 71: "soixante et onze", 72: "soixante-douze",
    77: "soixante-dix-sept", 80: "quatre-vingts", 81: "quatre-vingt-un", 90: "quatre-vingt-dix",
    91: "quatre-vingt-onze", 99: "quatre-vingt-dix-neuf", 100: "cent", 101: "cent un", 111: "cent onze",
    121: "cent vingt et un", 180: "cent quatre-vingts", 200: "deux cents", 201: "deux cent un",
    280: "deux cent quatre-vingts", 300: "trois cents", 999: "neuf cent quatre-vingt-dix-neuf",
    1000: "mille", 1001: "mille un", 1100: "mille cent", 1980: "mille neuf cent quatre-vingts",
    2000: "deux mille", 21000: "vingt et un mille", 71000: "soixante et onze mille",
    80000: "quatre-vingt mille", 80080: "quatre-vingt mille quatre-vingts", 100000: "cent mille",
    200000: "deux cent mille", 200200: "deux cent mille deux cents", 280000: "deux cent quatre-vingt mille",
    1000000: "un million", 2000000: "deux millions", 80000000: "quatre-vingts millions",
    200000000: "deux cents millions", 1000000000: "un milliard", 3000000001: "trois milliards un",
}  # fmt: skip

ENGLISH = {
    0: "zero", 13: "thirteen", 20: "twenty", 21: "twenty-one", 40: "forty", 99: "ninety-nine",
    100: "one hundred", 115: "one hundred fifteen", 1000: "one thousand",
    1234: "one thousand two hundred thirty-four", 1000001: "one million one",
    2000000000: "two billion",
}  # fmt: skip


@pytest.mark.parametrize(("number", "words"), FRENCH.items())
def test_amounts_in_french_words_follow_its_grammar(number, words):
    assert spell_in_french(number) == words


@pytest.mark.parametrize(("number", "words"), ENGLISH.items())
def test_english_grammar(number, words):
    assert spell_in_english(number) == words


def read_french(text):
    """Read a French number by adding and multiplying, without the writer's tables."""
    units = "zéro un deux trois quatre cinq six sept huit neuf dix onze douze treize quatorze quinze seize"
    value = {word: n for n, word in enumerate(units.split())}
    value |= {"vingt": 20, "trente": 30, "quarante": 40, "cinquante": 50, "soixante": 60}
    total = group = 0
    for word in text.replace("quatre-vingt", "huitante").replace("-", " ").replace(" et ", " ").split():
        word = word if word in value else word.removesuffix("s")  # noqa: PLW2901 (the plural)
        if word == "huitante":
            group += 80
        elif word == "cent":
            group = (group or 1) * 100 if group < 10 else group + 100
        elif word == "mille":
            total, group = total + (group or 1) * 1000, 0
        elif word in {"million", "milliard"}:
            size = 10**6 if word == "million" else 10**9
            total, group = (total + group) * size if total + group < 1000 else total + group * size, 0
        else:
            group += value[word]
    return total + group


def read_english(text):
    units = (
        "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen "
        "sixteen seventeen eighteen nineteen"
    )
    value = {word: n for n, word in enumerate(units.split())}
    tens = "twenty thirty forty fifty sixty seventy eighty ninety"
    value |= {word: 10 * n for n, word in enumerate(tens.split(), 2)}
    sizes = {"thousand": 10**3, "million": 10**6, "billion": 10**9}
    total = group = 0
    for word in text.replace("-", " ").split():
        if word == "hundred":
            group *= 100
        elif word in sizes:
            total, group = total + group * sizes[word], 0
        else:
            group += value[word]
    return total + group


def test_every_number_in_words_is_read_back():
    numbers = [*range(2_200), *range(2_200, 10**6, 997), *(10**6 * n + 80 * n for n in range(1, 999, 7))]
    for number in numbers:
        assert read_french(spell_in_french(number)) == number
        assert read_english(spell_in_english(number)) == number
    assert (
        len({spell_in_french(n) for n in numbers})
        == len({spell_in_english(n) for n in numbers})
        == len(set(numbers))
    )


AMOUNTS = [
    (1234, "CAD", "en", "Twelve dollars and thirty-four cents"),
    (1234, "CAD", "fr", "Douze dollars et trente-quatre cents"),
    (101, "USD", "en", "One dollar and one cent"),
    (101, "EUR", "fr", "Un euro et un centime"),
    (50, "CAD", "fr", "Cinquante cents"),
    (1, "EUR", "en", "One cent"),
    (0, "CAD", "fr", "Zéro dollar"),
    (0, "USD", "en", "Zero dollars"),
    (2100, "CAD", "fr", "Vingt et un dollars"),
    (8000, "EUR", "fr", "Quatre-vingts euros"),
    (100_000_000, "CAD", "fr", "Un million de dollars"),
    (200_000_000, "EUR", "fr", "Deux millions d'euros"),
    (100_000_100, "CAD", "fr", "Un million un dollars"),
    (100_000_050, "EUR", "fr", "Un million d'euros et cinquante centimes"),
]


@pytest.mark.requirement("H-02")
@pytest.mark.parametrize(("cents", "currency", "language", "words"), AMOUNTS)
def test_amounts_are_worded_with_their_currency(cents, currency, language, words):
    assert format_amount_in_words(cents, currency, language) == words


@pytest.mark.parametrize(
    "wrong", [(-1, "CAD", "fr"), (10**14, "CAD", "fr"), (1, "XXX", "fr"), (1, "CAD", "de")]
)
def test_an_amount_that_cannot_be_worded_is_refused(wrong):
    with pytest.raises(InvalidTicket, match="amount in words"):
        format_amount_in_words(*wrong)
