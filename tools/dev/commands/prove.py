"""``prove``: works out the exact figures that definitions of card games carry, and writes them there."""

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
from paytables.figure_binding import PROVED, add_binding_digest
from paytables.game import build_game
from paytables.source import parse_toml, read
from tools.cli.terminal import echo
from tools.dev.kept import Kept, OtherCalculationError


def _toml(table: Mapping[str, Any], name: str) -> str:
    values = {key: value for key, value in table.items() if value is not None}
    lists = {
        key: value
        for key, value in values.items()
        if isinstance(value, list) and value[:1] and isinstance(value[0], dict)
    }
    plain = [
        f"{_key(key)} = {json.dumps(value)}"
        for key, value in values.items()
        if not isinstance(value, dict) and key not in lists
    ]
    inner = [_toml(value, f"{name}.{_key(key)}") for key, value in values.items() if isinstance(value, dict)]
    for key, rows in lists.items():
        plain += [f"{_key(key)} = [", *(f"  {_inline(row)}," for row in rows), "]"]
    return "\n".join([*([f"[{name}]", *plain] if plain else []), *filter(None, inner)])


def _inline(row: Mapping[str, Any]) -> str:
    return "{ " + ", ".join(f"{_key(key)} = {json.dumps(value)}" for key, value in row.items()) + " }"


@click.command()
@click.argument("files", nargs=-1, required=True, type=click.Path(exists=True, path_type=Path))
@click.option("--threads", default=2, show_default=True, help="as many as may work at once")
def command(files: tuple[Path, ...], threads: int) -> None:
    """Compute the figures of each definition in FILES and write them into its [proved] table, bound to the file.

    Progress is stored in FILE.part: an interrupted computation continues from there. Games that take seconds
    start over.
    """
    for path in files:
        try:
            data = definition.parse(read(path, definition.LIBRARY))
            data.pop(PROVED, None)
            rules: Any = build_game(data, str(path)).rules
        except PaytableError as error:
            raise click.ClickException(str(error)) from None
        if not hasattr(rules, "prove"):
            raise click.ClickException(
                f"{path}: a game of this family carries no figures: they are worked out"
            )
        started = perf_counter()
        of = {"definition": definition.digest_of(data), "version of the program": compute_code_digest()}
        try:
            kept = Kept(path.with_name(f"{path.name}.part"), of)
        except OtherCalculationError as error:
            raise click.ClickException(str(error)) from None
        found = _found(rules.prove, kept, threads, _told(str(path), len(kept.found)))
        text = re.split(r"\n*^\[proved", path.read_text(), maxsplit=1, flags=re.MULTILINE)[0].rstrip()
        figures = add_binding_digest(data | parse_toml(_toml(_plain(found), PROVED)))
        path.write_text(f"{text}\n\n{_toml(figures, PROVED)}\n")
        kept.close(done=True)
        echo(f"{path}: {perf_counter() - started:.1f} s")


def _found(
    prove: Callable[..., object], kept: Kept, threads: int, told: Callable[[int, int], None]
) -> object:
    """Return the proof, computed by the given number of threads."""
    pool = ThreadPoolExecutor(threads)
    try:
        return prove(partial(kept.map, pool.map), told)
    except BaseException:
        kept.close(done=False)
        raise
    finally:
        pool.shutdown(cancel_futures=True)


def _key(key: str) -> str:
    return key if re.fullmatch(r"[A-Za-z0-9_-]+", key) else json.dumps(key)


def _plain(found: object) -> dict[str, Any]:
    """Return one proof, or several by name, in the form TOML stores."""
    if isinstance(found, Mapping):
        return {name: _plain(each) for name, each in found.items()}
    if not isinstance(found, BaseModel):
        raise TypeError(f"{type(found).__name__} is no proof")
    return found.model_dump(mode="json")


def _told(name: str, kept: int) -> Callable[[int, int], None]:
    started = perf_counter()

    def told(done: int, of: int) -> None:
        if done == kept:
            echo(f"{name}: goes on after {done:,} of {of:,}")
        elif done > kept and (done == of or done * 20 // of > (done - 1) * 20 // of):
            left = (perf_counter() - started) * (of - done) / (done - kept)
            echo(f"{name}: {done * 100 // of} %, {done:,} of {of:,}, about {left:.0f} s more")

    return told
