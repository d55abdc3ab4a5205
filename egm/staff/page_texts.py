"""Short functions that build the texts and tables of service pages."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from egm.kernel.service_pages import PageAction, PageRow, PageTable, PageText
from meters.reading import METER_DIGIT_COUNT, compute_displayed_value
from meters.table import METER_BY_NAME, MeterUnit


def build_text(key: str, **values: int | str) -> PageText:
    """Return the catalogue text ``key``, filled with the given values, as a text of a service page."""
    return PageText(kind="text", value=key, values=values)


def build_code_text(section: str, code: str) -> PageText:
    """Return, for a service page, the catalogue text ``<section>.<code>`` of a code, such as a fault or a door.

    The catalogue writes dots in a code as underscores. The screen shows a code without a text unchanged. In the section
    ``tilt.text``, a fault without its own text has the text for a failure of its device, or else a general one.
    """
    return PageText(kind="code", value=code, values={"of": section})


def build_plain_text(text: object) -> PageText:
    """Return a text that is shown untranslated on a service page."""
    return PageText(kind="plain", value=str(text))


def build_money_text(amount_cents: int, *more_cents: int) -> PageText:
    """Return one or several amounts of minor units, side by side, as a text of a service page."""
    more_amounts: dict[str, int | str] = {str(index): cents for index, cents in enumerate(more_cents)}
    return PageText(kind="money", value=amount_cents, values=more_amounts)


def build_number_text(count: int) -> PageText:
    """Return a count as a text of a service page."""
    return PageText(kind="number", value=count)


def build_time_text(time_utc: str) -> PageText:
    """Return a date and time, ISO 8601 UTC, as a text of a service page."""
    return PageText(kind="moment", value=time_utc)


def build_actors_text(actors: Sequence[str]) -> PageText:
    """Return as text who acted: the staff numbers or, if no PIN was required, the key switch that was turned."""
    if len(actors) == 1 and not actors[0].isdigit():
        return build_code_text("input.key", actors[0])
    return build_plain_text(", ".join(actors))


def build_multilingual_text(names: Mapping[str, str]) -> PageText:
    """Return, for a service page, a text that is not in the catalogue; ``names`` has the text by language."""
    return PageText(kind="local", values=dict(names))


def build_name_list_text(named_items: Iterable[Mapping[str, Any]]) -> PageText:
    """Return the ``names`` of prizes, games or the like, as one text of a service page in each available language.

    An item without a name in a language is left out of the text in that language.
    """
    names: dict[str, str] = {}
    for item in named_items:
        for language, name in item["names"].items():
            names[language] = f"{names[language]}, {name}" if language in names else name
    return build_multilingual_text(names)


#: The action that leaves a page.
BACK_ACTION = PageAction(id="back", label=build_text("service.back"), style="back")


def build_two_column_table(
    rows: Iterable[tuple[str | PageText, PageText]], title: PageText | None = None
) -> PageTable:
    """Return a table with two columns, names and values, for a service page.

    A name given as ``str`` is a catalogue key under ``service.``.
    """
    return PageTable(
        title=title,
        rows=tuple(
            PageRow(cells=(build_text(f"service.{name}") if isinstance(name, str) else name, value))
            for name, value in rows
        ),
    )


def build_column_titles(*names: str) -> tuple[PageText, ...]:
    """Return the titles of a table's columns; ``names`` are catalogue keys under ``service.column``."""
    return tuple(build_text(f"service.column.{name}") for name in names)


class MeterGroup(NamedTuple):
    """The meters whose names begin with one prefix; they have a table of their own on the page of the meters."""

    name_prefix: str
    table_name: str
    catalogue_section: str
    """The section of the screen's catalogue that has a text for what follows the prefix in a meter's name."""


#: The meters with one meter for each fault or door.
METER_GROUPS: Final = (MeterGroup("fault.", "faults", "tilt.text"), MeterGroup("door.", "doors", "door"))
#: The jurisdictions whose names of meters the screen's catalogue translates.
_JURISDICTIONS_WITH_TRANSLATED_METER_NAMES: Final = frozenset({"us"})


def build_meter_name_text(meter_name: str) -> PageText:
    """Return a meter's name as a text of a service page."""
    for group in METER_GROUPS:
        if meter_name.startswith(group.name_prefix):
            return build_code_text(
                group.catalogue_section, meter_name.removeprefix(group.name_prefix).removesuffix(".opens")
            )
    return build_code_text("meter_name", meter_name)


def build_regulation_meter_name_text(meter_name: str, jurisdiction: str) -> PageText:
    """Return the name that a jurisdiction's regulation gives to a meter.

    A name that the screen's catalogue does not translate is shown as it is in the regulation.
    """
    if jurisdiction not in _JURISDICTIONS_WITH_TRANSLATED_METER_NAMES:
        return build_plain_text(meter_name)
    return build_code_text("regulation_meter", re.sub(r"[^a-z]+", "_", meter_name.lower()).strip("_"))


def build_meter_value_text(meter_name: str, meter_value: int) -> PageText:
    """Return a meter's value, money or a count, as text that shows only its last ten digits (D-05)."""
    meter = METER_BY_NAME.get(meter_name)
    displayed_value = compute_displayed_value(meter_value, METER_DIGIT_COUNT)
    return (
        build_money_text(displayed_value)
        if meter is not None and meter.unit is MeterUnit.CENTS
        else build_number_text(displayed_value)
    )
