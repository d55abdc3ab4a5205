"""Print the number of lines of Python installed with the product, by folder.

The installed files are those in the wheel of ``pyproject.toml``. Usage: ``python -m tools.dev.checks.lines
[ROOT]``.
"""

import sys
import tomllib
from collections import Counter
from pathlib import Path
from typing import Final

from egm.terminal import echo

#: The lines of the release that the house's second edition is measured against, all of ``tools`` counted.
BEFORE: Final = 80_204


def installed(root: Path) -> Counter[str]:
    """Lines of Python by package, and of ``tools`` by product."""
    build = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["hatch"]["build"]
    wheel = build["targets"]["wheel"]
    left_out = [root / folder.removeprefix("/") for folder in wheel["exclude"]]
    found: Counter[str] = Counter()
    for package in wheel["packages"]:
        for path in (root / package).rglob("*.py"):
            if not any(path.is_relative_to(folder) for folder in left_out):
                parts = path.relative_to(root).parts
                name = "/".join(parts[:2]) if package == "tools" and len(parts) > 2 else package
                found[name] += path.read_bytes().count(b"\n")
    return found


def main(arguments: list[str]) -> None:
    """Print them, and how they stand to those of :data:`BEFORE`."""
    found = installed(Path(arguments[0]) if arguments else Path())
    parts = ", ".join(f"{name} {lines:,}" for name, lines in sorted(found.items()))
    echo(f"lines installed: {found.total():,} ({found.total() - BEFORE:+,} since 7721efd); {parts}")


if __name__ == "__main__":
    main(sys.argv[1:])
