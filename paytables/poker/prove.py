"""Work out the exact figures of definitions and write them into their files.

``python -m paytables.poker.prove FILE...``: each file's ``[proved]`` is replaced. Needs laboratory packages.
"""

import json
import re
import sys
from collections.abc import Mapping
from pathlib import Path
from time import perf_counter
from typing import Any

from paytables import definition
from paytables.game import game_from
from paytables.source import read


def _toml(table: Mapping[str, Any], name: str) -> str:
    values = {key: value for key, value in table.items() if value is not None}
    plain = [f"{key} = {json.dumps(value)}" for key, value in values.items() if not isinstance(value, dict)]
    inner = [_toml(value, f"{name}.{key}") for key, value in values.items() if isinstance(value, dict)]
    return "\n".join([*([f"[{name}]", *plain] if plain else []), *inner])


def prove(path: Path) -> float:
    """Write the figures of the definition in ``path`` into it; return the seconds they took."""
    source = read(path, definition.LIBRARY)
    data = definition.parse(source)
    data.pop("proved", None)
    rules: Any = game_from(data, str(path)).rules
    started = perf_counter()
    found = rules.prove().model_dump(mode="json")
    text = re.split(r"\n*^\[proved", path.read_text(), maxsplit=1, flags=re.MULTILINE)[0].rstrip()
    path.write_text(f"{text}\n\n{_toml(found, 'proved')}\n")
    return perf_counter() - started


if __name__ == "__main__":
    for argument in sys.argv[1:]:
        sys.stdout.write(f"{argument}: {prove(Path(argument)):.2f} s\n")
