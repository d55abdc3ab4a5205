"""``egm levels``: the displayed amount, contents and payments of every progressive level (NY 5320.8(b))."""

from pathlib import Path
from typing import Any

import click

from egm.app.features import FEATURES
from egm.progressive import posting
from egm.progressive.last_hits import read_last_hits
from egm.progressive.level import Level
from meters import JournalView
from meters.recall import read_details
from tools.cli.journal_source import EXPORT_OPTION, STATE_OPTION, open_journal
from tools.cli.tables import Column, OutputFormat, Table, add_format_options, build_number_column, show


@click.command()
@STATE_OPTION
@EXPORT_OPTION
@add_format_options
def command(state_folder: Path | None, export_file: Path | None, *, output_format: OutputFormat) -> None:
    """Show every progressive level of the machine, with the last hits.

    For a linked level, show the machine's contributions and its claims that are not settled yet. The last 25
    hits of each level are shown (D-18). Each stand-alone level is first compared with the accounts of its
    pool (the money of the level); the exit status is 1 if one does not agree.
    """
    with open_journal(state_folder, export_file, check_pages=False) as view:
        stand_alone_levels = {
            key.removeprefix("level:"): _read_stand_alone_level(
                view, key.removeprefix("level:"), stored_level
            )
            for key, stored_level in sorted(view.states("level:").items(), key=_build_sort_key)
        }
        linked_levels = {
            key.removeprefix("link:"): {
                "contributions": link_record,
                "claims": _list_pool_claims(view, key.removeprefix("link:")),
            }
            for key, link_record in sorted(view.states("link:").items(), key=_build_sort_key)
        }
        last_hits = {
            pool: [{"time_utc": entry.time_utc.isoformat(), **read_details(entry)} for entry in hits]
            for pool, hits in read_last_hits(view, FEATURES.entry_declarations, view.sequence).items()
        }
        built_tables = (
            _build_stand_alone_table(stand_alone_levels),
            _build_linked_table(linked_levels),
            _build_hits_table(last_hits),
        )
    tables = [table for table in built_tables if table is not None]
    empty_table = Table(("level",), empty_text="no progressive level")
    document = {"own": stand_alone_levels, "linked": linked_levels, "last_hits": last_hits}
    show(output_format, *tables or (empty_table,), document=document)


def _build_sort_key(level_item: tuple[str, Any]) -> tuple[str, int, str]:
    """Return the sort key of a level's pool: its name, then as a number the stake or denomination that ends the name.

    A stake of 10 is therefore sorted after a stake of 2.
    """
    pool, _ = level_item
    name, _, last_part = pool.rpartition(".")
    return name, int(last_part) if last_part.isdecimal() else 0, last_part


def _read_stand_alone_level(view: JournalView, pool: str, stored_level: Any) -> dict[str, Any]:
    """Return a stand-alone level as JSON data, after comparing it with the accounts of its pool.

    The pool holds the level's money. Raises LevelDefectiveError if the level and the balance of an account differ.
    """
    level = Level.from_json(stored_level)
    posting.check_pool_balances(pool, level, view.balance_cents)
    return {"shown_cents": level.shown_cents, **level.to_json()}


def _list_pool_claims(view: JournalView, pool: str) -> list[Any]:
    """Return the open claims of a linked level (its wins not yet settled), each as stored in the machine's memory."""
    claims: dict[str, Any] = dict(view.states("claim:"))
    return [
        {"claim": key.removeprefix("claim:"), **claim}
        for key, claim in sorted(claims.items())
        if claim["pool"] == pool
    ]


#: The columns of stand-alone levels.
_STAND_ALONE_LEVEL_COLUMNS = (
    "level",
    build_number_column("shows", "shown_cents"),
    build_number_column("hidden reserve", "hidden_pool"),
    build_number_column("overflow", "overflow"),
    build_number_column("hits", "hits"),
    build_number_column("paid", "paid_cents"),
    build_number_column("base", "base_cents"),
    build_number_column("ceiling", "ceiling_cents"),
    build_number_column("increment", "increment"),
    build_number_column("increment of the hidden reserve", "hidden"),
)
#: The columns of linked levels, those of a controller.
_LINKED_LEVEL_COLUMNS = (
    "level",
    build_number_column("contributions", "contributions"),
    build_number_column("counted by the controller", "counted"),
    build_number_column("shown at the last wager", "shown_cents"),
    build_number_column("claims open", "claims"),
)


def _build_stand_alone_table(stand_alone_levels: dict[str, Any]) -> Table | None:
    """Return the table of the stand-alone levels of this machine, or None if none exist."""
    rows = [
        (
            pool,
            *(level[key] for key in ("shown_cents", "hidden", "overflow", "hits", "paid")),
            *(level["terms"][key] for key in ("base_cents", "ceiling_cents", "increment", "hidden")),
        )
        for pool, level in stand_alone_levels.items()
    ]
    return (
        Table(
            _STAND_ALONE_LEVEL_COLUMNS,
            rows,
            title="stand-alone levels, minor units",
            identifying_column_count=1,
        )
        if rows
        else None
    )


def _build_linked_table(linked_levels: dict[str, Any]) -> Table | None:
    """Return a table of the levels of progressive controllers, or None if the machine plays for none."""
    rows = []
    for pool, linked_level in linked_levels.items():
        link_record = linked_level["contributions"]  # "sequence" is the last contribution number
        cells = (
            link_record["sequence"],
            link_record["counted"],
            link_record["shown_cents"],
            len(linked_level["claims"]),
        )
        rows.append((pool, *cells))
    return (
        Table(
            _LINKED_LEVEL_COLUMNS,
            rows,
            title="levels of a controller, minor units",
            identifying_column_count=1,
        )
        if rows
        else None
    )


def _build_hits_table(last_hits: dict[str, list[dict[str, Any]]]) -> Table | None:
    """Return the table of the last hits of each level, or None if none was hit."""
    columns = (
        "level",
        Column("time (UTC)", "time_utc"),
        "game",
        build_number_column("amount", "amount_cents"),
    )
    rows = [
        (pool, hit["time_utc"], hit["game"], hit["amount_cents"])
        for pool, hits in last_hits.items()
        for hit in hits
    ]
    return Table(columns, rows, title="last hits, minor units", identifying_column_count=1) if rows else None
