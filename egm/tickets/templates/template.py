"""Ticket templates in TOML: the lines on a jurisdiction's tickets, with position and text, and their validation.

A template is either valid or refused with a message naming the file, the key and the reason. The legal
requirements are checked here, so a template that omits a mandatory field cannot be used at all.
"""

import string
import tomllib
from collections.abc import Mapping
from decimal import Decimal
from enum import StrEnum
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Final, Literal
from unicodedata import normalize

from babel import Locale, UnknownLocaleError
from babel.dates import format_date, format_time
from babel.numbers import format_currency
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from egm.devices.interface import TicketJob
from egm.tickets.amount_in_words import format_amount_in_words
from egm.tickets.barcode import compute_width_modules
from egm.tickets.errors import InvalidTicket
from egm.tickets.model import TICKET_NUMBER_DIGIT_COUNT, Ticket, TicketKind, Venue, group_digits
from paytables.source import describe_toml_error, parse_toml, read_contents
from paytables.wording import describe_wrong_value, format_known_names

#: Folder of the templates.
_TEMPLATES_FOLDER: Final = Path(__file__).parent
#: Width of the usual paper of ticket printers.
TICKET_WIDTH_MM: Final = 156
#: Height of the paper.
TICKET_HEIGHT_MM: Final = 65
#: Dots of the print head per millimetre: 203 dots per inch.
DOTS_PER_MM: Final = 8
#: Maximum distance of the number's second, rotated printing from the paper's left edge, where it is readable while the
#: ticket is held in a hand.
_LEFT_EDGE_DISTANCE_MAX_MM: Final = 14

#: The character sets of the printers' codecs (:mod:`egm.devices.tcl`, :mod:`egm.devices.ithaca`).
_PRINTER_CHARACTER_SETS: Final = ("latin-1", "cp437")
#: Characters that frame a command in those codecs, and so can never be in the text of a printed line.
_FRAMING_CHARACTERS: Final = frozenset("^|*")
#: Signs that printers lack -> their replacement.
_REPLACEMENT_BY_CHARACTER: Final = {
    "\N{EURO SIGN}": "EUR",
    "\N{EN DASH}": "-",
    "\N{RIGHT SINGLE QUOTATION MARK}": "'",
    "\N{LATIN SMALL LIGATURE OE}": "oe",
    "\N{LATIN CAPITAL LIGATURE OE}": "OE",
}

#: The field names that a line may use, in braces.
TICKET_FIELDS: Final = frozenset(
    {
        *("site", "address", "licence_holder", "machine_serial", "operator_number"),
        *("kind", "amount", "amount_words", "credits", "denomination"),
        *("date", "time", "expires", "sequence", "number", "duplicate", "witness"),
    }
)


class TicketClass(StrEnum):
    """The legal class of a ticket: voucher, or coupon (Québec's video lotteries); it decides the mandatory fields."""

    VOUCHER = "voucher"
    COUPON = "coupon"


#: Fields that every ticket must print.
_FIELDS_OF_EVERY_TICKET: Final = (
    *("site", "machine_serial", "date", "time", "amount", "amount_words"),
    *("sequence", "number", "kind", "expires", "duplicate"),
)
#: The fields that each class must print: H-02 (OK 21-18; SD 48:02:14:02; NY 5119.3; AGE 5.1.4), and for the
#: coupon of Québec's video lotteries also H-03 (S-13.1 r.7 s.9: scheme, licence holder, serial number, date
#: and time, value, control number, reimbursable credits).
MANDATORY_FIELDS_BY_CLASS: Final[Mapping[TicketClass, tuple[str, ...]]] = {
    TicketClass.VOUCHER: _FIELDS_OF_EVERY_TICKET,
    TicketClass.COUPON: (*_FIELDS_OF_EVERY_TICKET, "scheme", "licence_holder", "credits"),
}

#: A text by language code.
TextByLanguage = dict[str, str]
Millimetres = Annotated[float, Field(ge=0, le=TICKET_WIDTH_MM)]


class _Table(BaseModel):
    """Base class of the TOML tables of a ticket template; an unknown key is an error."""

    model_config = ConfigDict(defer_build=True, frozen=True, extra="forbid")


class BarcodePlacement(_Table):
    """The position and size of a ticket's bar code."""

    at_mm: tuple[Millimetres, Millimetres]
    """The position in millimetres of the middle of the bar code's upper edge, from the left and top of the paper."""
    height_mm: Annotated[float, Field(ge=8, le=30)]
    module_dots: Annotated[int, Field(ge=2, le=5, strict=True)]
    """The width of the narrowest bar in dots."""


class TemplateLine(_Table):
    """One printed line of a ticket template. Texts wider than ``width_mm`` are printed smaller."""

    name: Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*$")]
    at_mm: tuple[Millimetres, Millimetres]
    """The position in millimetres of the line's left end, middle or right end, as ``align`` says.

    The second coordinate is at half the line's height.
    """
    size_mm: Annotated[float, Field(ge=2, le=14)]
    width_mm: Annotated[float, Field(gt=0, le=TICKET_WIDTH_MM)]
    font: Literal["regular", "bold", "black", "narrow"] = "regular"
    align: Literal["left", "centre", "right"] = "centre"
    turn: Literal[0, 90, 270] = 0
    """The rotation in degrees counter-clockwise."""
    text: TextByLanguage
    """The line's text by language; a name in braces is a field, which each ticket's own data replace.

    A bilingual ticket prints all languages of a line one after another. A line may also have only one language, with a
    second line for the other.
    """

    def find_field_names(self, language: str) -> frozenset[str]:
        """Return the names of the fields in braces that the line's text uses in a language."""
        parsed = string.Formatter().parse(self.text.get(language, ""))
        return frozenset(name for _, name, _, _ in parsed if name is not None)


class CageAction(StrEnum):
    """The actions of a cashier on a ticket (:mod:`egm.tickets.cage`)."""

    PAY = "pay"
    VOID = "void"
    RELEASE = "release"
    REPRINT = "reprint"
    REVIVE = "revive"


class CageRules(_Table):
    """The jurisdiction's rules for cashiers who handle tickets at the cage."""

    two_persons: tuple[CageAction, ...] = (
        CageAction.VOID,
        CageAction.RELEASE,
        CageAction.REPRINT,
        CageAction.REVIVE,
    )
    """The cashier's actions that require two people."""
    expired: Literal["refused", "paid"] = "refused"
    """Whether the cage pays an expired ticket or refuses it; machines always refuse it."""


class TicketTemplate(_Table):
    """The layout and texts of one jurisdiction's tickets.

    ``locales`` has the locale for each language; the first is the main language.
    """

    id: str
    ticket: TicketClass
    """The legal class of the tickets, which decides the mandatory fields."""
    source: str
    """The laws or standards from which the template's requirements are taken."""
    locales: dict[str, str]
    bilingual: bool = False
    """Whether every ticket is printed in all languages of the template."""
    date: str = "yyyy-MM-dd"
    """The format of printed dates, a CLDR pattern; the default is the same in every language."""
    register_from_cents: Annotated[int, Field(gt=0, strict=True)] | None = None
    """The amount in minor units from which the cage must record the payee's name and address (H-14); None: never."""
    kinds: dict[TicketKind, TextByLanguage]
    """The printed name of each kind of ticket, by kind and then by language."""
    duplicate: TextByLanguage
    """The text printed on a reprint, by language."""
    never: TextByLanguage
    """The text printed instead of an expiry date on a ticket that never expires, by language."""
    constants: dict[str, TextByLanguage] = {}
    """Fixed texts that lines may use as fields, such as the lottery scheme's name."""
    cage: CageRules = CageRules()
    barcode: BarcodePlacement
    lines: tuple[TemplateLine, ...]

    # ------------------------------------------------------------------ printing
    def build_texts(self, ticket: Ticket, language: str) -> dict[str, str]:
        """Return the printed text of each line of a ticket, by the line's name; "" if the line is empty.

        A bilingual template uses all of its languages. If the template lacks ``language``, its main language is used.
        """
        if self.bilingual or language not in self.locales:
            languages = tuple(self.locales)[: None if self.bilingual else 1]
        else:
            languages = (language,)
        value_by_field_by_language = {code: self._format_values(ticket, code) for code in languages}
        text_by_line_name = {}
        for line in self.lines:
            line_texts = (
                line.text[code].format_map(value_by_field_by_language[code]).strip()
                for code in languages
                if code in line.text
            )
            text_by_line_name[line.name] = " / ".join(dict.fromkeys(text for text in line_texts if text))
        return text_by_line_name

    @property
    def field_names(self) -> tuple[str, ...]:
        """Return the names of the template's lines in order; the printer's own template has a field for each."""
        return tuple(line.name for line in self.lines)

    def build_job(self, job_id: str, ticket: Ticket, language: str) -> TicketJob:
        """Return the print job of a ticket: its bar code, and the text of each line by the line's name.

        The texts contain only characters that every printer has.
        """
        fields = {name: _to_plain_text(text) for name, text in self.build_texts(ticket, language).items()}
        return TicketJob(job_id=job_id, template=self.id, barcode=ticket.number, fields=fields)

    def check_venue(self, venue: Venue) -> None:
        """Raise :class:`InvalidTicket` if the venue's data lack a field that this template must print."""
        for name in MANDATORY_FIELDS_BY_CLASS[self.ticket]:
            # A field that is not one of the venue's passes, because its default is its own name.
            if not getattr(venue, name, name).strip():
                raise InvalidTicket(
                    f"ticket template {self.id}: the venue's {name} is missing, which must be printed;"
                    f" give machine.{name} in the cabinet file"
                )

    def _format_values(self, ticket: Ticket, language: str) -> dict[str, str]:
        """Return the text of every template field for one ticket, by the field's name."""
        zone, locale = ticket.venue.zone, self.locales[language]
        local_time = ticket.issued_at.astimezone(zone)
        expires = self.never[language]
        if ticket.expires_at is not None:
            last_day = ticket.venue.find_last_valid_moment(ticket.expires_at)
            expires = format_date(last_day, self.date, locale=locale)
        return {
            **{name: text[language] for name, text in self.constants.items()},
            "site": ticket.venue.site,
            "address": ticket.venue.address,
            "licence_holder": ticket.venue.licence_holder,
            "machine_serial": ticket.machine_serial,
            "operator_number": ticket.operator_number,
            "kind": self.kinds[ticket.kind][language],
            "amount": _format_money(ticket.amount_cents, ticket.currency, locale),
            "amount_words": format_amount_in_words(ticket.amount_cents, ticket.currency, language),
            "date": format_date(local_time, self.date, locale=locale),
            "time": format_time(local_time.replace(tzinfo=None), "HH:mm:ss", locale=locale),
            "expires": expires,
            "sequence": f"{ticket.sequence:04d}",
            "number": group_digits(ticket.number),
            "credits": str(ticket.credits),
            "denomination": _format_money(ticket.denomination_cents, ticket.currency, locale),
            "duplicate": self.duplicate[language] if ticket.is_duplicate else "",
            "witness": f"JOURNAL {ticket.journal_head}" if ticket.journal_head else "",
        }

    # ------------------------------------------------------------------ checking
    @model_validator(mode="after")
    def _check_template(self) -> "TicketTemplate":
        """Raise ValueError if the template breaks any rule on mandatory fields, texts, positions or locales."""
        for code, locale in self.locales.items():
            _check_locale(code, locale)
        self._check_texts()
        for language in self.locales:
            self._check_mandatory(language)
        self._check_positions_on_paper()
        return self

    def _check_texts(self) -> None:
        """Raise ValueError if a text is missing in one of the template's languages, or a line uses an unknown field."""
        text_table_by_key = {
            **{f"kinds.{kind}": self.kinds.get(kind, {}) for kind in TicketKind},
            **{f"constants.{name}": text_by_language for name, text_by_language in self.constants.items()},
            "duplicate": self.duplicate,
            "never": self.never,
        }
        for key, text_by_language in text_table_by_key.items():
            if missing_languages := [code for code in self.locales if code not in text_by_language]:
                raise ValueError(f"{key}: no text for {', '.join(missing_languages)}")
        known_fields = TICKET_FIELDS | self.constants.keys()
        for line in self.lines:
            for language in line.text:
                if language not in self.locales:
                    raise ValueError(f"lines.{line.name}.text: {language} is not among the locales")
                if unknown_fields := line.find_field_names(language) - known_fields:
                    raise ValueError(
                        f"lines.{line.name}.text: unknown field {', '.join(sorted(unknown_fields))}"
                    )

    def _check_mandatory(self, language: str) -> None:
        """Raise ValueError if the template does not print every mandatory field in ``language``.

        The validation number must be printed twice, one of them rotated, at the left edge.
        """
        printed_lines = [line for line in self.lines if language in line.text]
        printed_fields = frozenset[str]().union(*(line.find_field_names(language) for line in printed_lines))
        if missing_fields := [
            name for name in MANDATORY_FIELDS_BY_CLASS[self.ticket] if name not in printed_fields
        ]:
            raise ValueError(
                f"lines: a {self.ticket} must print {', '.join(missing_fields)} (language {language})"
            )
        number_lines = [line for line in printed_lines if "number" in line.find_field_names(language)]
        edge_lines = [
            line for line in number_lines if line.turn and line.at_mm[0] <= _LEFT_EDGE_DISTANCE_MAX_MM
        ]
        if len(number_lines) < 2 or not edge_lines:
            raise ValueError(
                "lines: the validation number must be printed twice, one of them rotated, at the left edge"
                f" (language {language})"
            )

    def _check_positions_on_paper(self) -> None:
        """Raise ValueError if two lines have the same name, or if a line or the bar code does not fit on the paper."""
        line_names = [line.name for line in self.lines]
        if duplicates := sorted({name for name in line_names if line_names.count(name) > 1}):
            raise ValueError(f"lines: {', '.join(duplicates)} appears twice")
        half_width_mm = (
            compute_width_modules(TICKET_NUMBER_DIGIT_COUNT) * self.barcode.module_dots / DOTS_PER_MM / 2
        )
        middle_x_mm, top_mm = self.barcode.at_mm
        if (
            middle_x_mm - half_width_mm < 0
            or middle_x_mm + half_width_mm > TICKET_WIDTH_MM
            or top_mm + self.barcode.height_mm > TICKET_HEIGHT_MM
        ):
            raise ValueError(
                f"barcode: does not fit on the paper of {TICKET_WIDTH_MM} x {TICKET_HEIGHT_MM} mm"
            )
        for line in self.lines:
            if not _is_on_paper(line):
                raise ValueError(
                    f"lines.{line.name}: does not fit on the paper of {TICKET_WIDTH_MM} x {TICKET_HEIGHT_MM} mm"
                )


def _is_on_paper(line: TemplateLine) -> bool:
    """Return whether the paper has room for a line at its full ``width_mm``, at its position and rotation.

    In the code, ``along`` is the direction in which the line's text runs, ``across`` the other direction.
    """
    x_mm, y_mm = line.at_mm
    along_mm, across_mm = (y_mm, x_mm) if line.turn else (x_mm, y_mm)
    paper_length_mm, paper_depth_mm = (
        (TICKET_WIDTH_MM, TICKET_HEIGHT_MM) if not line.turn else (TICKET_HEIGHT_MM, TICKET_WIDTH_MM)
    )
    start_distance_mm = {"left": 0.0, "centre": line.width_mm / 2, "right": line.width_mm}[line.align]
    if line.turn == 90:
        start_distance_mm = line.width_mm - start_distance_mm
    fits_along = (
        along_mm - start_distance_mm >= 0 and along_mm - start_distance_mm + line.width_mm <= paper_length_mm
    )
    return fits_along and across_mm - line.size_mm / 2 >= 0 and across_mm + line.size_mm / 2 <= paper_depth_mm


def _check_locale(language: str, locale: str) -> None:
    """Raise ValueError if a locale is unknown or does not belong to the language."""
    try:
        parsed_locale = Locale.parse(locale)
    except (UnknownLocaleError, ValueError) as error:
        raise ValueError(f"locales.{language}: {error}") from None
    if parsed_locale.language != language:
        raise ValueError(f"locales.{language}: {locale} is a locale of another language")


def _format_money(amount_cents: int, currency: str, locale: str) -> str:
    """Return an amount in minor units as text in the format of ``locale``.

    The narrow no-break space, which the fonts of printers lack, becomes an ordinary no-break space.
    """
    text = format_currency(Decimal(amount_cents).scaleb(-2), currency, locale=locale)
    return text.replace("\N{NARROW NO-BREAK SPACE}", "\N{NO-BREAK SPACE}")


def _to_plain_text(text: str) -> str:
    """Return a ticket's text in characters that every printer has.

    A character that some printer lacks loses its accent (Ê becomes E) or is spelt out (€ becomes EUR).
    """
    return "".join(map(_to_plain_character, text))


@lru_cache(maxsize=4096)
def _to_plain_character(character: str) -> str:
    """Return the nearest character that every printer has.

    It is a blank for a control character, and ``?`` if no character is near.
    """
    if character in _FRAMING_CHARACTERS or not character.isprintable():
        return " "
    for candidate in (
        character,
        _REPLACEMENT_BY_CHARACTER.get(character, character),
        normalize("NFKD", character)[0],
    ):
        if all(
            candidate == candidate.encode(charset, "replace").decode(charset)
            for charset in _PRINTER_CHARACTER_SETS
        ):
            return candidate
    return "?"


def list_template_ids() -> tuple[str, ...]:
    """Return the ids of the ticket templates delivered with the machine."""
    return tuple(sorted(path.stem for path in _TEMPLATES_FOLDER.glob("*.toml")))


@lru_cache(maxsize=16)
def _parse_template(template_text: bytes) -> TicketTemplate:
    """Return the ticket template in the bytes of a TOML file; cached, because the file is read for each ticket."""
    return TicketTemplate.model_validate(parse_toml(template_text.decode()))


def load_template(id_or_path: str | Path) -> TicketTemplate:
    """Load a ticket template by id, or from a file.

    Raises :class:`InvalidTicket` naming the file, the key and the reason if it is missing or invalid.
    """
    path = id_or_path if isinstance(id_or_path, Path) else _TEMPLATES_FOLDER / f"{id_or_path}.toml"
    if not isinstance(id_or_path, Path) and id_or_path not in list_template_ids():
        raise InvalidTicket(
            f"no ticket template {id_or_path!r}; {format_known_names(id_or_path, list_template_ids())}"
        )
    try:
        template = _parse_template(read_contents(path))
    except OSError as error:
        raise InvalidTicket(f"ticket template {path}: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InvalidTicket(f"{path.name}: {describe_toml_error(error)}") from None
    except ValidationError as error:
        first_error = error.errors(include_url=False)[0]
        location = ".".join(str(part) for part in first_error["loc"])
        reason = describe_wrong_value(first_error["msg"], first_error["input"])
        raise InvalidTicket(f"{path.name}: {location}{': ' if location else ''}{reason}") from None
    if template.id != path.stem:
        raise InvalidTicket(f"{path.name}: id: {template.id!r} is not the file's name")
    return template
