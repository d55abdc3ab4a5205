"""Service page of the progressive levels: the shown, the hidden and the paid amount of each level (I-05)."""

from collections.abc import Iterable
from functools import partial
from typing import Final

from egm.kernel.machine import PositionMachine
from egm.kernel.service_pages import PageRow, PageTable, PageText
from egm.people import Permission
from egm.progressive.entries import LevelHitRegistered
from egm.progressive.game_levels import find_link_progress
from egm.progressive.keys import ProgressiveKey
from egm.progressive.last_hits import read_last_hits
from egm.progressive.level import Level
from egm.progressive.level_views import read_displayed_amount
from egm.progressive.pools import ProgressivePools
from egm.record_codec import from_json
from egm.staff.desk import MenuItem
from egm.staff.page_texts import (
    build_column_titles,
    build_money_text,
    build_multilingual_text,
    build_number_text,
    build_plain_text,
    build_text,
    build_time_text,
    build_two_column_table,
)
from egm.staff.service.pages import TablesPage

#: The maximum number of entries of the progressives log that are read for the page; `egm levels` reads them all.
_HITS_READ_MAX: Final = 1000


def build_level_tables(machine: PositionMachine) -> tuple[PageTable, ...]:
    """Return the tables of the page: one for each level; then, for each level that was hit here, its last hits.

    This machine's own levels come first, including closed ones; then those of a controller or host.
    """
    own_levels = {
        key.removeprefix(ProgressiveKey.OWN_LEVEL): Level.from_json(stored)
        for key, stored in sorted(machine.journal.states(ProgressiveKey.OWN_LEVEL).items())
    }
    linked_pool_ids = [
        pool_id for pool_id in machine.component(ProgressivePools).pool_by_id if pool_id not in own_levels
    ]
    return (
        *(
            build_two_column_table(_iter_own_rows(level), _build_title(machine, pool_id))
            for pool_id, level in own_levels.items()
        ),
        *(
            build_two_column_table(_iter_linked_rows(machine, pool_id), _build_title(machine, pool_id))
            for pool_id in linked_pool_ids
        ),
        *_iter_hit_tables(machine),
    )


def _iter_hit_tables(machine: PositionMachine) -> Iterable[PageTable]:
    """Yield a table of the last hits of each progressive level that was hit here, newest first (D-18)."""
    hits_by_pool = read_last_hits(machine.journal, machine.entry_declarations, _HITS_READ_MAX)
    for pool_id, entries in hits_by_pool.items():
        records = [
            (entry, from_json(LevelHitRegistered, entry.record, f"entry {entry.sequence}"))
            for entry in entries
        ]
        yield PageTable(
            title=build_text("service.levels.last_hits", level=pool_id),
            columns=build_column_titles("time", "game", "amount"),
            rows=tuple(
                PageRow(
                    cells=(
                        build_time_text(entry.time_utc.isoformat()),
                        build_plain_text(hit.game_id),
                        build_plain_text("?")
                        if hit.amount_cents is None
                        else build_money_text(hit.amount_cents),
                    )
                )
                for entry, hit in records
            ),
        )


def _build_title(machine: PositionMachine, pool_id: str) -> PageText:
    """Return the title of a progressive level's table: its name and id; or that the level is no longer configured."""
    configured_pool = machine.component(ProgressivePools).pool_by_id.get(pool_id)
    if configured_pool is None:
        return build_text("service.levels.given_up", level=pool_id)
    return build_multilingual_text(
        {code: f"{name} ({pool_id})" for code, name in configured_pool.definition.names.items()}
    )


def _iter_own_rows(level: Level) -> Iterable[tuple[str | PageText, PageText]]:
    """Yield the rows of a progressive level of this machine: its amounts, terms and counts."""
    terms = level.terms
    yield "levels.shows", build_money_text(level.shown_cents)
    yield "levels.exact", build_plain_text(level.current_amount)
    yield "levels.base", build_money_text(terms.base_cents)
    yield (
        "levels.ceiling",
        build_plain_text("-") if terms.ceiling_cents is None else build_money_text(terms.ceiling_cents),
    )
    yield "levels.increment", build_plain_text(terms.increment)
    yield "levels.hidden_increment", build_plain_text(terms.hidden_increment)
    yield "levels.hidden", build_plain_text(level.hidden_amount)
    yield "levels.overflow", build_plain_text(level.overflow_amount)
    yield "levels.hits", build_number_text(level.hit_count)
    yield "levels.paid", build_money_text(level.paid_cents)


def _iter_linked_rows(machine: PositionMachine, pool_id: str) -> Iterable[tuple[str | PageText, PageText]]:
    """Yield the rows of a controller's or host's level: its amount, and the counts of this machine's contributions."""
    displayed_amount = read_displayed_amount(machine, machine.component(ProgressivePools).pool_by_id[pool_id])
    progress = find_link_progress(machine, pool_id)
    yield "levels.shows", build_money_text(displayed_amount.amount_cents)
    yield "levels.status", build_text(f"service.levels.{displayed_amount.status.value}")
    yield "levels.contributions", build_number_text(progress.contribution_number)
    yield "levels.counted", build_number_text(progress.last_counted_number)


MENU_ITEMS: Final = (
    MenuItem("levels", "games", Permission.READ_METERS, partial(TablesPage, "levels", build_level_tables)),
)
