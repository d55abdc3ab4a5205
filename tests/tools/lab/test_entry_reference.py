"""The entry reference describes every field of every record and every type."""

import dataclasses
from collections.abc import Mapping
from typing import Annotated, Any, Literal

import pytest

from egm.app.features import FEATURES
from egm.config.documented_fields import read_field_meanings
from egm.record_codec import FieldCondition, get_stored_key
from tools.lab.entry_reference import (
    MEANING_BY_FIELD_NAME,
    describe_type,
    format_entries,
    format_meaning,
    iter_record_classes,
)


def list_fields() -> list[tuple[type, str, bool]]:
    """Return each field of each record, with whether the record itself documents the field."""
    records = {
        part
        for entry in FEATURES.entry_declarations
        if dataclasses.is_dataclass(entry.record)
        for part in iter_record_classes(entry.record)
    }
    return [
        (record, get_stored_key(field), bool(read_field_meanings(record).get(field.name)))
        for record in records
        for field in dataclasses.fields(record)
        if not field.metadata.get("inline")
    ]


def test_every_field_of_every_entry_has_a_meaning() -> None:
    missing = sorted(
        f"{record.__module__}.{record.__qualname__}.{name}"
        for record, name, is_documented in list_fields()
        if not is_documented and name not in MEANING_BY_FIELD_NAME
    )
    assert missing == []


def test_every_common_meaning_is_used() -> None:
    used = {name for _, name, is_documented in list_fields() if not is_documented}
    assert sorted(MEANING_BY_FIELD_NAME.keys() - used) == []


def test_no_meaning_is_empty_in_the_generated_page() -> None:
    rows = [line for line in format_entries().splitlines() if line.startswith("| `")]
    assert len(rows) > 900
    assert [row for row in rows if not row.rstrip().removesuffix("|").rpartition("|")[2].strip()] == []


@pytest.mark.parametrize(
    ("hint", "words"),
    [
        (tuple[str, ...], "list of text"),
        (tuple[str, str], "list of text, text"),
        (tuple[int, int, int], "list of 3 values, each: number"),
        (tuple[tuple[int, int, str], ...], "list; each item: list of number, number, text"),
        (Mapping[str, tuple[str, str]], "object; for each text: list of text, text"),
        (str | None, "text, or null"),
        (Literal["", "hand"], "empty, `hand`"),
        (Annotated[int, FieldCondition("number above zero", "", bool)], "number above zero"),
    ],
)
def test_types_are_described_in_words(hint: Any, words: str) -> None:
    assert describe_type(hint) == words


def test_a_meaning_is_formatted_for_json() -> None:
    text = "The part of ``level``\n(:meth:`paytables.game.Rules.for_table`), or None."
    assert format_meaning(text) == "The part of `level` (`paytables.game.Rules.for_table`), or null."


def test_a_field_with_another_name_in_code_states_both() -> None:
    assert "| `win_cents` (in code: `returned_cents`) |" in format_entries()
    assert "In code: `GameEnd`." in format_entries()
