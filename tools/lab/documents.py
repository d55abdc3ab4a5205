"""Documents for a laboratory, generated from the machine's own tables: states, rules, and all configuration keys."""

from collections.abc import Callable, Mapping
from typing import Final

from egm.config.schema import iter_cabinet_file_tables
from egm.errors import OperatorError
from egm.profiles.schema import iter_keys
from egm.screen.text import Texts
from tools.lab.entry_reference import format_entries
from tools.lab.manual import iter_manual_chapters
from tools.lab.markdown import format_table
from tools.lab.rule_table import (
    format_interruption_table,
    format_player_diagram,
    format_rule_table,
    format_state_sets,
)


def format_state_diagram() -> str:
    """Return a Mermaid diagram of the machine states that a player sees."""
    return f"```mermaid\n{format_player_diagram()}\n```"


def format_profile_keys() -> str:
    """Return a table of every jurisdiction profile key. Raises :class:`OperatorError` naming undocumented keys."""
    keys = list(iter_keys())
    undocumented_keys = [key.name for key in keys if not key.meaning]
    if undocumented_keys:
        raise OperatorError(
            f"egm/profiles/profile.py: there is no description for {', '.join(undocumented_keys)}"
        )
    rows = [
        [
            f"`{key.name}`",
            key.kind,
            "required" if key.default is None else f"`{key.default}`",
            key.meaning,
        ]
        for key in keys
    ]
    return format_table(["Key", "Kind", "Default", "Meaning"], rows)


def format_cabinet_keys() -> str:
    """Return a table of every cabinet file key. Raises :class:`OperatorError` for an undocumented key."""
    sections = []
    for table in iter_cabinet_file_tables():
        undocumented_keys = [key.name for key in table.keys if not key.meaning]
        if undocumented_keys:
            raise OperatorError(
                f"egm/config/cabinet_file.py: there is no description for {table.header} {', '.join(undocumented_keys)}"
            )
        required_text = " Required." if table.is_required else ""
        rows = [
            [
                f"`{key.name}`",
                key.kind,
                "required" if key.default is None else f"`{key.default}`",
                key.meaning,
                key.example and f"`{key.example}`",
            ]
            for key in table.keys
        ]
        headings = ["Key", "Kind", "Default", "Meaning", "Example"]
        sections.append(
            f"### `{table.header}`\n\n{table.meaning}{required_text}\n\n{format_table(headings, rows)}"
        )
    return "\n\n".join(sections)


def format_serial_lines() -> str:
    """Return the serial line of each protocol, as in the service manual."""
    # The chapters have no ids. Only the one about serial lines has a column "Protocol".
    chapter = next(
        chapter
        for chapter in iter_manual_chapters("service", Texts("en"))
        if "Protocol" in chapter.column_titles
    )
    return format_table(chapter.column_titles, chapter.rows)


#: The documents by name.
FORMATTER_BY_DOCUMENT: Final[Mapping[str, Callable[[], str]]] = {
    "cabinet-keys": format_cabinet_keys,
    "profile-keys": format_profile_keys,
    "states": format_state_diagram,
    "entries": format_entries,
    "interruptions": format_interruption_table,
    "lines": format_serial_lines,
    "state-sets": format_state_sets,
    "rules": format_rule_table,
}
