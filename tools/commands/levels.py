"""``egm levels``: what every progressive level of a machine shows, holds and has paid (NY 5320.8(b))."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import click
from rich.console import Console

from egm.config import default_state_dir
from egm.errors import LocalError
from egm.progressive import posting
from egm.progressive.level import Level
from meters import JournalError, JournalView, open_view
from tools.terminal import Table, echo, plain


@click.command()
@click.option("--state", type=click.Path(path_type=Path, file_okay=False), help="the machine's state folder")
@click.option("--json", "as_json", is_flag=True, help="for scripts, exact fractions as text")
def command(state: Path | None, *, as_json: bool) -> None:
    """Show every progressive level the machine keeps, and its contributions and claims on a link.

    Each level is held against the accounts of its pool first; the exit status is 1 when one does not agree.
    """
    try:
        with open_view(state or default_state_dir()) as view:
            own = {
                key.removeprefix("level:"): _own(view, key.removeprefix("level:"), kept)
                for key, kept in sorted(view.states("level:").items())
            }
            linked = {
                key.removeprefix("link:"): {"contributions": kept, "claims": _claims(view, key[5:])}
                for key, kept in sorted(view.states("link:").items())
            }
    except (JournalError, LocalError) as error:
        raise click.ClickException(str(error)) from None
    if as_json:
        echo(json.dumps({"own": own, "linked": linked}, indent=2))
        return
    _print(own, linked)


def _own(view: JournalView, pool: str, kept: Any) -> dict[str, Any]:
    level = Level.from_json(kept)
    posting.compare(pool, level, view.balance_cents)
    return {"shown_cents": level.shown_cents, **level.to_json()}


def _claims(view: JournalView, pool: str) -> list[Any]:
    kept: dict[str, Any] = dict(view.states("claim:"))
    return [{"claim": key[6:], **claim} for key, claim in sorted(kept.items()) if claim["pool"] == pool]


def _print(own: dict[str, Any], linked: dict[str, Any]) -> None:
    console = Console()
    if own:
        terms = {pool: level["terms"] for pool, level in own.items()}
        console.print(_table("levels of this machine, minor units", _AMOUNTS, own))
        console.print(_table("\ntheir terms", _TERMS, terms))
    for pool, link in linked.items():
        made = link["contributions"]
        console.print(
            f"{plain(pool)}: {made['sequence']} contributions, {made['counted']} known to be counted; "
            f"last shown {made['shown_cents']:,}; {len(link['claims'])} claims open",
            highlight=False,
        )
    if not own and not linked:
        console.print("no progressive level")


_AMOUNTS: Final = {
    "shows": "shown_cents",
    "hidden": "hidden",
    "overflow": "overflow",
    "hits": "hits",
    "paid": "paid",
}
_TERMS: Final = {
    "base": "base_cents",
    "ceiling": "ceiling_cents",
    "increment": "increment",
    "to the hidden pool": "hidden",
}


def _table(title: str, columns: Mapping[str, str], rows: Mapping[str, Mapping[str, Any]]) -> Table:
    table = Table(title=title, title_justify="left", show_edge=False)
    table.add_column("level", overflow="fold")
    for column in columns:
        table.add_column(column, justify="right", no_wrap=True)
    for pool, values in rows.items():
        table.add_row(pool, *(_figure(values[key]) for key in columns.values()))
    return table


def _figure(value: int | str | None) -> str:
    """A whole number in threes, a fraction as it is, nothing as a dash."""
    return "-" if value is None else f"{value:,}" if isinstance(value, int) else value
