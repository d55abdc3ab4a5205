"""A log of the journal as a person reads it on a terminal: a headline an entry, and what it tells below it.

Nothing of an entry is cut off or interpreted: long stories are wrapped, and what is not printable is shown as
an escape.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from textwrap import wrap
from typing import Any, Final

from egm.terminal import printable

_INDENT: Final = " " * 10
_WIDTH_LEAST: Final = 40
#: What stands in the headline; everything else an entry tells is its story.
_HEAD: Final = ("entry", "time", "kind", "effect", "clear", "person")
_UNTOLD: Final = frozenset({*_HEAD, "outcome", "sas"})


def log_lines(rows: Iterable[Mapping[str, Any]], width: int) -> Iterator[str]:
    """The lines of a log, none longer than ``width`` unless one word of it is; times are UTC."""
    width = max(width, _WIDTH_LEAST)
    for row in rows:
        moment = str(row["time"]).partition("+")[0].replace("T", " ")
        yield from _wrapped(f"{row['entry']:>8}  {moment}  {printable(row['kind'])}", width)
        if about := " · ".join(_about(row)):
            yield from _wrapped(f"{_INDENT}{about}", width)
        told = {key: value for key, value in row.items() if key not in _UNTOLD and value}
        details = told.pop("story", {})
        facts = {**told, **details} if isinstance(details, Mapping) else {**told, "story": details}
        said = {key: value for key, value in facts.items() if value not in (None, "")}
        if said:
            text = "; ".join(f"{printable(key)} {_value(value)}" for key, value in said.items())
            yield from _wrapped(f"{_INDENT}{text}", width)


def _about(row: Mapping[str, Any]) -> Iterator[str]:
    """What the event does, who may clear it, who did it: as far as there is anything to say."""
    if row.get("effect") not in {None, "", "log"}:
        yield str(row["effect"]).replace("_", " ")
    clear = row.get("clear")
    if clear not in {None, "", "nothing"}:
        who = str(clear).replace("_", " ")
        yield "ends by itself" if clear == "itself" else f"to be cleared by {who}"
    if row.get("person"):
        yield f"person {printable(row['person'])}"


def _wrapped(text: str, width: int) -> list[str]:
    indent = text[: len(text) - len(text.lstrip())]
    return wrap(
        text.strip(),
        width,
        initial_indent=indent,
        subsequent_indent=_INDENT,
        break_long_words=False,
        break_on_hyphens=False,
    )


def _value(value: Any) -> str:
    return printable(value) if isinstance(value, str) else printable(json.dumps(value, ensure_ascii=False))
