"""Short functions that build the texts and tables of service pages."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from egm.kernel.service_pages import PageAction, PageRow, PageTable, PageText
from meters.reading import METER_DIGIT_COUNT, compute_displayed_value
from meters.table import METER_BY_NAME, MeterUnit


def build_text(key: str, **values: int | str) -> PageText:
    """Return the catalogue text ``key``, filled with the given values, as a text of a service page."""
    return PageText(kind="text", value=key, values=values)


def build_code_text(section: str, code: str) -> PageText:
    """Return the catalogue text ``<section>.<code>``; dots in the code are written as underscores.

    A code without a text is returned unchanged. In the section ``tilt.text``, a fault without its own text
    has the text for a failure of its device.
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


def build_authors_text(authors: Sequence[str]) -> PageText:
    """Return as text who acted: the staff numbers or, if no PIN was required, the key that was turned."""
    if len(authors) == 1 and not authors[0].isdigit():
        return build_code_text("input.key", authors[0])
    return build_plain_text(", ".join(authors))


def build_multilingual_text(names: Mapping[str, str]) -> PageText:
    """Return, for a service page, a text that is not in the catalogue; ``names`` has the text by language."""
    return PageText(kind="local", values=dict(names))


def build_name_list_text(named_items: Iterable[Mapping[str, Any]]) -> PageText:
    """Return the ``names`` of prizes, games or the like, in each available language, as one text of a service page."""
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

    A name is a text, or a catalogue key under ``service.``.
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


#: Prefix of a meter's name -> its table, and the catalogue section for the rest of the name.
METER_GROUPS: Final = (("fault.", "faults", "tilt.text"), ("door.", "doors", "door"))
#: The jurisdictions whose names of meters the screen's catalogue translates.
_JURISDICTIONS_WITH_TRANSLATED_METER_NAMES: Final = frozenset({"us"})


def build_meter_name_text(meter_name: str) -> PageText:
    """Return a meter's name as a text of a service page."""
    for prefix, _, section in METER_GROUPS:
        if meter_name.startswith(prefix):
            return build_code_text(section, meter_name.removeprefix(prefix).removesuffix(".opens"))
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
