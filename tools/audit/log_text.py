"""The event log as text for a terminal: a headline for each event, and its details below.

Long details are wrapped, not shortened, and unprintable characters are shown as escapes. The outcome of a game, the
SAS exception code and fields without a value are left out.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from textwrap import wrap
from typing import Any, Final

from egm.terminal import make_printable

#: The indentation of an entry's details.
_INDENT: Final = " " * 10
#: The smallest width of the text, in characters.
_WIDTH_MIN: Final = 40
#: The fields shown before the details.
_HEADLINE_FIELDS: Final = ("entry", "time", "kind", "effect", "clear", "person")
#: Fields of an entry that are not among its details.
_FIELDS_NOT_IN_DETAILS: Final = frozenset({*_HEADLINE_FIELDS, "outcome", "sas"})


def format_log_lines(rows: Iterable[Mapping[str, Any]], width_max: int) -> Iterator[str]:
    """Yield the lines of text for each event of the log, at most ``width_max`` characters wide; times are UTC.

    A word that is longer than the width is not split, so its line exceeds the width. A width below
    the minimum is raised to the minimum.
    """
    width_max = max(width_max, _WIDTH_MIN)
    for row in rows:
        time_text = str(row["time"]).partition("+")[0].replace("T", " ")
        yield from _wrap_text(f"{row['entry']:>8}  {time_text}  {make_printable(row['kind'])}", width_max)
        if event_text := " · ".join(_describe_event(row)):
            yield from _wrap_text(f"{_INDENT}{event_text}", width_max)
        fields = {key: value for key, value in row.items() if key not in _FIELDS_NOT_IN_DETAILS and value}
        story_data = fields.pop("story", {})
        details_by_name = (
            {**fields, **story_data} if isinstance(story_data, Mapping) else {**fields, "story": story_data}
        )
        shown_details = {key: value for key, value in details_by_name.items() if value not in (None, "")}
        if shown_details:
            text = "; ".join(
                f"{make_printable(key)} {_format_value(value)}" for key, value in shown_details.items()
            )
            yield from _wrap_text(f"{_INDENT}{text}", width_max)


def _describe_event(row: Mapping[str, Any]) -> Iterator[str]:
    """Yield texts about an event: its effect, who may clear it and who caused it.

    A part that the log does not state is left out.
    """
    if row.get("effect") not in {None, "", "log"}:
        yield str(row["effect"]).replace("_", " ")
    clearing_role = row.get("clear")
    if clearing_role not in {None, "", "nothing"}:
        clear_text = str(clearing_role).replace("_", " ")
        yield "ends by itself" if clearing_role == "itself" else f"to be cleared by {clear_text}"
    if row.get("person"):
        yield f"person {make_printable(row['person'])}"


def _wrap_text(text: str, width_max: int) -> list[str]:
    """Return a text in lines of at most ``width_max`` characters, with every line after the first indented."""
    indent = text[: len(text) - len(text.lstrip())]
    return wrap(
        text.strip(),
        width_max,
        initial_indent=indent,
        subsequent_indent=_INDENT,
        break_long_words=False,
        break_on_hyphens=False,
    )


def _format_value(value: Any) -> str:
    """Return a value of a log entry as printable text; values other than texts are shown as JSON."""
    return (
        make_printable(value)
        if isinstance(value, str)
        else make_printable(json.dumps(value, ensure_ascii=False))
    )
