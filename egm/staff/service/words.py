"""Shorthand for the texts and tables of service pages."""

import re
from collections.abc import Iterable, Mapping
from typing import Any, Final

from egm.kernel.service_pages import Action, Row, Table, Words
from meters.reading import DIGITS, shown
from meters.table import BY_NAME, Unit


def say(key: str, **values: int | str) -> Words:
    """A text of the catalogue, with its values."""
    return Words(kind="say", value=key, values=values)


def coded(section: str, code: str) -> Words:
    """A code of the machine's in words: the text ``code`` of a section of the catalogue, dots written as _.

    A code that no catalogue has is shown as it is. The section ``tilt.text`` is of faults, whose words may be
    those of their device's failure.
    """
    return Words(kind="code", value=code, values={"of": section})


def plain(text: object) -> Words:
    """A datum as it stands."""
    return Words(kind="plain", value=str(text))


def money(amount_cents: int, *more_cents: int) -> Words:
    """An amount of minor units, or several side by side."""
    more: dict[str, int | str] = {str(place): cents for place, cents in enumerate(more_cents)}
    return Words(kind="money", value=amount_cents, values=more)


def number(count: int) -> Words:
    """A count."""
    return Words(kind="number", value=count)


def moment(when: str) -> Words:
    """A date and time, ISO 8601 UTC."""
    return Words(kind="moment", value=when)


def who(person: str) -> Words:
    """Who did something: a staff number, or the key that was turned where nobody had to prove more."""
    return plain(person) if person.isdigit() else coded("input.key", person)


def local(names: Mapping[str, str]) -> Words:
    """A text each language brings itself."""
    return Words(kind="local", values=dict(names))


def prize_names(prizes: Iterable[Mapping[str, Any]]) -> Words:
    """Prizes in kind by their names, in each language they have one."""
    names: dict[str, str] = {}
    for prize in prizes:
        for language, name in prize["names"].items():
            names[language] = f"{names[language]}, {name}" if language in names else name
    return local(names)


BACK = Action(id="back", label=say("service.back"), style="back")


def pairs(rows: Iterable[tuple[str | Words, Words]], title: Words | None = None) -> Table:
    """A list of a name (a key under ``service.``, or words) and what it is."""
    return Table(
        title=title,
        rows=tuple(
            Row(cells=(say(f"service.{name}") if isinstance(name, str) else name, what))
            for name, what in rows
        ),
    )


def columns(*names: str) -> tuple[Words, ...]:
    """Column titles, keys under ``service.column``."""
    return tuple(say(f"service.column.{name}") for name in names)


#: A meter's name, as it begins -> the table it stands in, and the section that has words for the rest of it.
METER_GROUPS: Final = (("fault.", "faults", "tilt.text"), ("door.", "doors", "door"))


def meter_words(name: str) -> Words:
    """A meter's name in words."""
    for start, _, section in METER_GROUPS:
        if name.startswith(start):
            return coded(section, name.removeprefix(start).removesuffix(".opens"))
    return coded("meter_name", name)


def regulation_meter(name: str, jurisdiction: str) -> Words:
    """The name a regulation gives a meter: English ones translated, those of a French text as it has them."""
    if jurisdiction != "us":
        return plain(name)
    return coded("regulation_meter", re.sub(r"[^a-z]+", "_", name.lower()).strip("_"))


def meter_value(name: str, value: int) -> Words:
    """A meter's value as its unit wants: money, or a count; ten digits, then it rolls over (D-05)."""
    meter = BY_NAME.get(name)
    rolled = shown(value, DIGITS)
    return money(rolled) if meter is not None and meter.unit is Unit.CENTS else number(rolled)
