"""Short ways to write the texts and tables of service pages."""

from collections.abc import Iterable, Mapping
from typing import Any

from egm.link.pages import Action, Row, Table, Words


def say(key: str, **values: int | str) -> Words:
    """A text of the catalogue, with its values."""
    return Words(kind="say", value=key, values=values)


def plain(text: object) -> Words:
    """A datum as it stands."""
    return Words(kind="plain", value=str(text))


def money(amount_cents: int) -> Words:
    """An amount of minor units."""
    return Words(kind="money", value=amount_cents)


def number(count: int) -> Words:
    """A count."""
    return Words(kind="number", value=count)


def moment(when: str) -> Words:
    """A date and time, ISO 8601 UTC."""
    return Words(kind="moment", value=when)


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
