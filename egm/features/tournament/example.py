"""An example of a tournament's rules file, as a starting point, with a comment on each key."""

import re
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from pydantic import BaseModel

from egm.config.documented_fields import read_key_meanings
from egm.features.tournament.rules import (
    EntryTerms,
    ListedMachine,
    RoundTerms,
    Tournament,
    TournamentPrize,
)

#: The file of the example.
EXAMPLE_RULES_FILE: Final = Path(__file__).parent / "example.toml"
#: The model of each table of the example.
_MODEL_BY_TABLE: Final[dict[str, type[BaseModel]]] = {
    "entries": EntryTerms,
    "rounds": RoundTerms,
    "machines": ListedMachine,
    "prizes": TournamentPrize,
}
#: Longest line of a comment, in characters.
_COMMENT_WIDTH: Final = 100


def format_example() -> str:
    """Return the example rules file as TOML, with a comment at the first occurrence of each key."""
    return (
        "\n".join(_iter_commented_lines(EXAMPLE_RULES_FILE.read_text(encoding="utf-8").splitlines())) + "\n"
    )


def _iter_commented_lines(lines: list[str]) -> Iterator[str]:
    """Yield the lines of the example rules file, with comments on a key before its first occurrence."""
    model: type[BaseModel] = Tournament
    commented_keys: set[tuple[type[BaseModel], str]] = set()
    yield "# The rules of a tournament. Check them: egm tournament check FILE"
    yield ""
    for line in lines:
        if table_match := re.match(r"\[+(\w+)\]", line):
            model = _MODEL_BY_TABLE[table_match[1]]
            if (model, "") not in commented_keys:
                yield from _format_comment(model.__doc__ or "")
            commented_keys.add((model, ""))
        elif (key_match := re.match(r"(\w+) =", line)) and (model, key_match[1]) not in commented_keys:
            commented_keys.add((model, key_match[1]))
            yield from _format_comment(read_key_meanings(model)[key_match[1]])
        yield line


def _format_comment(text: str) -> list[str]:
    """Return a text as comment lines of a TOML file."""
    return textwrap.wrap(" ".join(text.split()), _COMMENT_WIDTH, initial_indent="# ", subsequent_indent="# ")
