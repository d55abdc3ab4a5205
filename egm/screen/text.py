"""Texts of the screen in each language (catalogues), and its formats of money, numbers and times (Babel)."""

import re
import tomllib
from collections.abc import Callable, Mapping
from datetime import datetime, tzinfo
from decimal import Decimal
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import Final

from babel.dates import format_date, format_time
from babel.numbers import format_currency, format_decimal

from egm.kernel.service_pages import PageText

#: The folder of the catalogues.
CATALOGUE_FOLDER: Final = Path(__file__).resolve().parent / "catalogue"
#: The folder of the features; each has its own texts in its own folder (``en.toml``, ``fr.toml``).
_FEATURES_FOLDER: Final = CATALOGUE_FOLDER.parents[1] / "features"
#: The locale whose formats are used, by the language of a catalogue.
LOCALE_BY_LANGUAGE: Final[Mapping[str, str]] = {"en": "en_CA", "fr": "fr_CA"}
#: A machine has one currency, so any dollar is written like the dollar of the locales above: ``$``.
_DOLLAR_CURRENCIES: Final = frozenset({"AUD", "CAD", "NZD", "USD"})
#: The language whose catalogue defines which texts must exist. It is used for a language without a catalogue.
FALLBACK_LANGUAGE: Final = "en"
#: The maximum number of amounts, and of numbers, whose formatted texts are cached: every frame shows the same ones.
_CACHED_FORMATS_MAX: Final = 4096


#: Two full stops in a row, as after "5:20 p.m." at the end of a sentence; an ellipsis is not matched.
_DOUBLE_FULL_STOP_PATTERN: Final = re.compile(r"(?<!\.)\.\.(?!\.)")


class CatalogueError(Exception):
    """Raised if a catalogue cannot be read or lacks a text; the message names the file and the key."""


def flatten_catalogue(nested_texts: Mapping[str, object], prefix: str = "") -> dict[str, str]:
    """Return the nested tables of a catalogue as one mapping whose keys are joined with dots."""
    texts: dict[str, str] = {}
    for key, value in nested_texts.items():
        if isinstance(value, Mapping):
            texts |= flatten_catalogue(value, f"{prefix}{key}.")
        else:
            texts[prefix + key] = str(value)
    return texts


@lru_cache(maxsize=2 * len(LOCALE_BY_LANGUAGE))
def read_catalogue(language: str, folder: Path = CATALOGUE_FOLDER) -> Mapping[str, str]:
    """Return the texts of a language by dotted key, read once per process. Raises :class:`CatalogueError`."""
    texts: dict[str, str] = {}
    feature_files = sorted(_FEATURES_FOLDER.glob(f"*/{language}.toml")) if folder == CATALOGUE_FOLDER else ()
    for path in (folder / f"{language}.toml", *sorted(folder.glob(f"{language}_*.toml")), *feature_files):
        try:
            texts |= flatten_catalogue(tomllib.loads(path.read_text("utf-8")))
        except (OSError, tomllib.TOMLDecodeError) as error:
            raise CatalogueError(f"{path}: {error}") from error
    return MappingProxyType({key: apply_typography(text, language) for key, text in texts.items()})


#: A whole number with its digits in groups of three, as definitions write it in every language. A telephone number does
#: not match.
_GROUPED_NUMBER_PATTERN: Final = re.compile(
    r"(?<![\d-])(?<!\d[ \u00a0])\d{1,3}(?:\u00a0\d{3})++(?![\d-]|[ \u00a0]\d)"
)


@lru_cache(maxsize=4096)
def apply_typography(text: str, language: str) -> str:
    """Return a text with printed typography: curved apostrophes, digit groups of the language, French spaces.

    Catalogues and games can be written with plain spaces: groups of three digits are separated by a comma in English
    and by a no-break space in French. In French, a space before a colon, a percent sign, a dollar sign or a closing
    guillemet, and after an opening guillemet, becomes a no-break space. A space before a semicolon, an exclamation or a
    question mark is removed (Office québécois de la langue française).
    """
    text = re.sub(r"(?<=\d) (?=\d{3}\b)", "\u00a0", text.replace("'", "\u2019"))
    if language == "en":
        text = _GROUPED_NUMBER_PATTERN.sub(lambda number: number[0].replace("\u00a0", ","), text)
    if language == "fr":
        text = re.sub(r"[ \u00a0\u202f]+(?=[;!?])", "", text)
        text = re.sub(r" (?=[:%$»])|(?<=«) ", "\u00a0", text)
    return text


def find_catalogue_language(code: str) -> str:
    """Return the language of the catalogue for a language code such as ``fr`` or ``fr_CA``."""
    language = code.replace("-", "_").split("_", maxsplit=1)[0].lower()
    return language if language in LOCALE_BY_LANGUAGE else FALLBACK_LANGUAGE


def _format_amounts(values: Mapping[str, int | str], format_money: Callable[[int], str]) -> dict[str, str]:
    """Return each value that is named like ``x_cents`` as formatted money, under the name ``x``.

    Values with other names are left out.
    """
    return {
        name.removesuffix("_cents"): format_money(value)
        for name, value in values.items()
        if name.endswith("_cents") and isinstance(value, int)
    }


class Texts:
    """The texts, and the formats of numbers, money and times, of one language.

    ``additional_texts`` has texts by language and key, which the machine adds to the catalogue. If the catalogue has a
    text with the same key, the catalogue's text is used. ``timezone`` is the venue's; None means this computer's.
    """

    def __init__(
        self,
        language: str,
        timezone: tzinfo | None = None,
        folder: Path = CATALOGUE_FOLDER,
        additional_texts: Mapping[str, Mapping[str, str]] | None = None,
    ) -> None:
        self.language = find_catalogue_language(language)
        self.locale = LOCALE_BY_LANGUAGE[self.language]
        texts_of_language = (additional_texts or {}).get(self.language, {})
        catalogue = read_catalogue(self.language, folder)
        added_texts = {key: apply_typography(text, self.language) for key, text in texts_of_language.items()}
        # A text of the catalogue has priority.
        self._texts = {**added_texts, **catalogue} if texts_of_language else catalogue
        self._timezone = timezone
        self._last_time_of_day = ("", "")
        """Cache: the last time that :meth:`format_time_of_day` formatted, and the result; every frame requests it."""

    def has_text(self, key: str) -> bool:
        """Return whether the catalogue or the additional texts have a text with this key."""
        return key in self._texts

    def translate(self, key: str, **values: object) -> str:
        """Return the text of ``key``, with ``values`` in place of its placeholders.

        Raises :class:`CatalogueError` if the text does not exist or one of its placeholders has no value.
        """
        if key not in self._texts:
            raise CatalogueError(f"texts of language {self.language}: {key}: no such text")
        text = self._texts[key]
        try:
            filled_text = text.format(**values) if values or "{" in text else text
            return filled_text if filled_text == text else _DOUBLE_FULL_STOP_PATTERN.sub(".", filled_text)
        except (KeyError, IndexError, ValueError) as error:
            raise CatalogueError(
                f"texts of language {self.language}: {key}: cannot be filled from {values}: {error}"
            ) from error

    def is_singular(self, count: int) -> bool:
        """Return whether this language uses the singular for ``count`` things: 1 in English, 0 and 1 in French."""
        return count == 1 or (count == 0 and self.language == "fr")

    def format_code_text(self, section: str, code: str) -> str:
        """Return the text for a code of the machine, from a section of the catalogue; the code itself if it has none.

        Dots in the code are written as _ in the catalogue. A code of the section ``tilt.text`` always has a text
        (:func:`format_fault`).
        """
        if section == "tilt.text":
            return format_fault(self, code)
        key = f"{section}.{code.replace('.', '_')}"
        return self.translate(key) if self.has_text(key) else code

    def format_page_text(self, page_text: PageText, format_money: Callable[[int], str]) -> str:
        """Return a text of a service page; ``format_money`` formats its amounts. Raises CatalogueError.

        A text of the kind ``plain`` is returned unchanged.
        """
        value, values = page_text.value, page_text.values
        format_by_kind: Mapping[str, Callable[[], str]] = {
            "text": lambda: self.format_text_by_count(
                str(value),
                {**values, **_format_amounts(values, format_money), **self._format_percent_value(values)},
            ),
            "code": lambda: self.format_code_text(str(values["of"]), str(value)),
            "money": lambda: "  ".join(format_money(int(cents)) for cents in (value, *values.values())),
            "number": lambda: self.format_number(int(value)),
            "moment": lambda: self.format_date_and_time(str(value)),
            "local": lambda: self.choose_translation(
                {code: str(text) for code, text in values.items()}, str(value)
            ),
            "list": lambda: str(value or "; ").join(self.translate(str(key)) for key in values.values()),
        }
        return format_by_kind[page_text.kind]() if page_text.kind in format_by_kind else str(value)

    def format_decimal(self, number_text: str) -> str:
        """Return a number such as ``12.5%`` without its percent sign, with the decimal mark of this language."""
        plain_number = number_text.rstrip("%").strip()
        return plain_number.replace(".", ",") if self.language == "fr" else plain_number

    def _format_percent_value(self, values: Mapping[str, int | str]) -> dict[str, str]:
        """Return the value ``percent`` as the only entry of a mapping, without the percent sign.

        It has the decimal mark of this language. Return an empty mapping if ``values`` has no ``percent``.
        """
        return {"percent": self.format_decimal(str(values["percent"]))} if "percent" in values else {}

    def format_text_by_count(self, key: str, values: Mapping[str, object]) -> str:
        """Return the text of a key with ``values`` filled in; if the value ``count`` is singular, its singular form.

        A text without a singular form is used for every count.
        """
        if "count" not in values or not self.has_text(f"{key}_one"):
            return self.translate(key, **values)
        other_values = {name: value for name, value in values.items() if name != "count"}
        return self.format_count(key, int(str(values["count"])), **other_values)

    def format_count(self, key: str, count: int, **values: object) -> str:
        """Return the text of a key with ``count`` filled in; if ``count`` is singular, its singular form.

        A text without a singular form is used for every count.
        """
        singular_key = f"{key}_one"
        all_values = {"count": self.format_number(count), **values}
        return self.translate(
            singular_key if self.is_singular(count) and self.has_text(singular_key) else key, **all_values
        )

    def choose_translation(self, names: Mapping[str, str], default: str = "") -> str:
        """Return the text in this language from ``names``, which has texts by language code.

        If this language has no text, return the first text; if ``names`` is empty, return ``default``.
        """
        for code, text in names.items():
            if find_catalogue_language(code) == self.language:
                return apply_typography(text, self.language)
        return next(iter(names.values()), default)

    def format_money(self, amount_cents: int, currency: str) -> str:
        """Return an amount of minor units in the language's currency format: ``$1,234.50``, ``1 234,50 $``.

        If ``currency`` is empty (on a first start), the amount has no currency sign.
        """
        if not currency:
            return self.format_amount(amount_cents)
        return _format_money(amount_cents, currency, self.locale)

    def format_amount(self, amount_cents: int) -> str:
        """Return an amount of minor units without its currency: ``20.00``, ``20,00``."""
        return format_decimal(Decimal(amount_cents).scaleb(-2), format="#,##0.00", locale=self.locale)

    def format_number(self, value: int) -> str:
        """Return a whole number with this language's group separators."""
        return _format_number(value, self.locale)

    def format_time_of_day(self, time_utc: str) -> str:
        """Return the time of day of an ISO 8601 UTC time, in the venue's time zone and the language's short format."""
        if self._last_time_of_day[0] != time_utc:
            self._last_time_of_day = (
                time_utc,
                format_time(self._parse_local_time(time_utc), "short", locale=self.locale),
            )
        return self._last_time_of_day[1]

    def format_date_and_time(self, time_utc: str) -> str:
        """Return an ISO 8601 UTC time as the venue's date and time. A line can break only between date and time."""
        local_time = self._parse_local_time(time_utc)
        parts = (
            format_part(local_time, "medium", locale=self.locale)
            for format_part in (format_date, format_time)
        )
        return ", ".join(part.replace(" ", "\u00a0") for part in parts)

    def _parse_local_time(self, time_utc: str) -> datetime:
        """Return a UTC time (ISO 8601 text) in the venue's time zone."""
        try:
            time = datetime.fromisoformat(time_utc)
        except ValueError as error:
            raise CatalogueError(f"time {time_utc!r}: not ISO 8601: {error}") from error
        return time.astimezone(self._timezone).replace(tzinfo=None)


@lru_cache(maxsize=_CACHED_FORMATS_MAX)
def _format_money(amount_cents: int, currency: str, locale: str) -> str:
    """Return an amount of minor units in a currency, in the format of a locale."""
    shown_currency = "CAD" if currency in _DOLLAR_CURRENCIES else currency
    return format_currency(Decimal(amount_cents).scaleb(-2), shown_currency, locale=locale)


@lru_cache(maxsize=_CACHED_FORMATS_MAX)
def _format_number(value: int, locale: str) -> str:
    """Return a whole number with the group separators of a locale."""
    return format_decimal(value, locale=locale)


def format_fault(texts: Texts, code: str) -> str:
    """Return the text of a fault code.

    If the code has no text, return the general text for failures of the device that the code names or, without such a
    text, the text for any fault.
    """
    device = code.partition(".")[0]
    keys = (f"tilt.text.{code}", f"tilt.text.{device}.failure", "tilt.text.other")
    return texts.translate(next(key for key in keys if texts.has_text(key)))
