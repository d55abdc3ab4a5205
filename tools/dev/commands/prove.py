"""``prove``: works out the exact figures that definitions of card games carry, and writes them there."""

import json
import re
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from time import perf_counter
from typing import Any

import click

from paytables import PaytableError, definition
from paytables.game import game_from
from paytables.source import read
from tools.cli.terminal import echo


def _toml(table: Mapping[str, Any], name: str) -> str:
    values = {key: value for key, value in table.items() if value is not None}
    plain = [
        f"{_key(key)} = {json.dumps(value)}" for key, value in values.items() if not isinstance(value, dict)
    ]
    inner = [_toml(value, f"{name}.{_key(key)}") for key, value in values.items() if isinstance(value, dict)]
    return "\n".join([*([f"[{name}]", *plain] if plain else []), *inner])


@click.command()
@click.argument("files", nargs=-1, required=True, type=click.Path(exists=True, path_type=Path))
@click.option("--threads", default=2, show_default=True, help="as many as may work at once")
def command(files: tuple[Path, ...], threads: int) -> None:
    """Work out the figures of each definition in FILES and replace its [proved] by them."""
    for path in files:
        try:
            data = definition.parse(read(path, definition.LIBRARY))
            data.pop("proved", None)
            rules: Any = game_from(data, str(path)).rules
        except PaytableError as error:
            raise click.ClickException(str(error)) from None
        if not hasattr(rules, "prove"):
            raise click.ClickException(
                f"{path}: a game of this family carries no figures: they are worked out"
            )
        started = perf_counter()
        with ThreadPoolExecutor(threads) as pool:
            found = rules.prove(pool.map, _told(str(path)))
        table = _plain(found)
        text = re.split(r"\n*^\[proved", path.read_text(), maxsplit=1, flags=re.MULTILINE)[0].rstrip()
        path.write_text(f"{text}\n\n{_toml(table, 'proved')}\n")
        echo(f"{path}: {perf_counter() - started:.1f} s")


def _key(key: str) -> str:
    return key if re.fullmatch(r"[A-Za-z0-9_-]+", key) else json.dumps(key)


def _plain(found: Any) -> dict[str, Any]:
    """A proof, or several by name, as TOML has them."""
    if isinstance(found, Mapping):
        return {name: _plain(each) for name, each in found.items()}
    return dict(found.model_dump(mode="json"))


def _told(name: str) -> Callable[[int, int], None]:
    def told(done: int, of: int) -> None:
        if done % max(1, of // 20) == 0:
            echo(f"{name}: {done * 100 // of} %")

    return told
