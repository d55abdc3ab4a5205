"""``prove``: compute the exact figures of card games and write them into their definitions."""

import json
import re
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import Any

import click
from pydantic import BaseModel

from egm.play.stored_prizes import compute_code_digest
from paytables import PaytableError, definition
from paytables.figure_binding import PROVED_KEY, add_binding_digest
from paytables.game import build_game
from paytables.source import parse_toml, read_source_file
from tools.cli.terminal import echo
from tools.dev.result_store import OtherCalculationError, ResultStore


def _format_toml(table: Mapping[str, Any], name: str) -> str:
    values = {key: value for key, value in table.items() if value is not None}
    lists = {
        key: value
        for key, value in values.items()
        if isinstance(value, list) and value[:1] and isinstance(value[0], dict)
    }
    plain_lines = [
        f"{_format_key(key)} = {json.dumps(value)}"
        for key, value in values.items()
        if not isinstance(value, dict) and key not in lists
    ]
    subtables = [
        _format_toml(value, f"{name}.{_format_key(key)}")
        for key, value in values.items()
        if isinstance(value, dict)
    ]
    for key, rows in lists.items():
        plain_lines += [f"{_format_key(key)} = [", *(f"  {_format_inline_table(row)}," for row in rows), "]"]
    return "\n".join([*([f"[{name}]", *plain_lines] if plain_lines else []), *filter(None, subtables)])


def _format_inline_table(row: Mapping[str, Any]) -> str:
    return "{ " + ", ".join(f"{_format_key(key)} = {json.dumps(value)}" for key, value in row.items()) + " }"


@click.command()
@click.argument("files", nargs=-1, required=True, type=click.Path(exists=True, path_type=Path))
@click.option("--threads", default=2, show_default=True, help="Number of threads.")
def command(files: tuple[Path, ...], threads: int) -> None:
    """Compute the figures of each definition in FILES and write them into its [proved] table, bound to the file.

    Progress is stored in FILE.part: an interrupted computation continues from there. Games that take seconds
    start over.
    """
    for path in files:
        try:
            data = definition.parse(read_source_file(path, definition.LIBRARY_FOLDER))
            data.pop(PROVED_KEY, None)
            rules: Any = build_game(data, str(path)).rules
        except PaytableError as error:
            raise click.ClickException(str(error)) from None
        if not hasattr(rules, "prove"):
            raise click.ClickException(
                f"{path}: definitions of this family carry no figures; they are computed at start"
            )
        started_seconds = perf_counter()
        identity = {
            "definition": definition.compute_digest(data),
            "version of the program": compute_code_digest(),
        }
        try:
            store = ResultStore(path.with_name(f"{path.name}.part"), identity)
        except OtherCalculationError as error:
            raise click.ClickException(str(error)) from None
        proof = _run_proof(
            rules.prove, store, threads, _create_progress_reporter(str(path), len(store.stored_results))
        )
        text = re.split(r"\n*^\[proved", path.read_text(), maxsplit=1, flags=re.MULTILINE)[0].rstrip()
        figures = add_binding_digest(
            data | parse_toml(_format_toml(_convert_to_plain_data(proof), PROVED_KEY))
        )
        path.write_text(f"{text}\n\n{_format_toml(figures, PROVED_KEY)}\n")
        store.close(done=True)
        echo(f"{path}: {perf_counter() - started_seconds:.1f} s")


def _run_proof(
    prove: Callable[..., object], store: ResultStore, threads: int, progress: Callable[[int, int], None]
) -> object:
    """Run ``prove`` with the given number of threads and return the proof."""
    pool = ThreadPoolExecutor(threads)
    try:
        return prove(partial(store.map, pool.map), progress)
    except BaseException:
        store.close(done=False)
        raise
    finally:
        pool.shutdown(cancel_futures=True)


def _format_key(key: str) -> str:
    return key if re.fullmatch(r"[A-Za-z0-9_-]+", key) else json.dumps(key)


def _convert_to_plain_data(proof: object) -> dict[str, Any]:
    """Return one proof, or several by name, as data for TOML."""
    if isinstance(proof, Mapping):
        return {name: _convert_to_plain_data(each) for name, each in proof.items()}
    if not isinstance(proof, BaseModel):
        raise TypeError(f"{type(proof).__name__} is not a proof")
    return proof.model_dump(mode="json", by_alias=True)


def _create_progress_reporter(name: str, stored_count: int) -> Callable[[int, int], None]:
    started_seconds = perf_counter()

    def report(done_count: int, case_count: int) -> None:
        if done_count == stored_count:
            echo(f"{name}: continues after {done_count:,} of {case_count:,}")
        elif done_count > stored_count and (
            done_count == case_count or done_count * 20 // case_count > (done_count - 1) * 20 // case_count
        ):
            seconds_left = (
                (perf_counter() - started_seconds) * (case_count - done_count) / (done_count - stored_count)
            )
            echo(
                f"{name}: {done_count * 100 // case_count} %, {done_count:,} of {case_count:,}, "
                f"about {seconds_left:.0f} s more"
            )

    return report
