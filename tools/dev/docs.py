"""``make docs``: write the parts of documents that are generated from the code.

A document holds a generated part between ``<!-- begin:NAME -->`` and ``<!-- end:NAME -->``; everything
outside the marks is written by hand. :data:`BLOCKS` names the parts.
"""

import re
import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

import click

from egm.errors import OperatorError
from tools.dev.conformance.requirements import ROOT
from tools.dev.freshness import deliver
from tools.lab.documents import PARTS
from tools.lab.markdown import table

#: the documents with generated parts, from the root of the checkout
DOCUMENTS: Final = (
    "README.md",
    "ARCHITECTURE.md",
    "egm/profiles/PROFILES.md",
    "egm/CABINET-FILE.md",
    "egm/devices/WIRING.md",
)

_BLOCK: Final = re.compile(r"<!-- begin:(?P<name>[\w-]+) -->\n(?P<body>.*?)<!-- end:(?P=name) -->", re.DOTALL)
_MARK: Final = re.compile(r"<!-- (?:begin|end):[\w-]+ -->")
_REQUIREMENT: Final = re.compile(
    r'^\s*"(?P<name>[A-Za-z0-9_-]+)[^"]*",?[ \t]*(?:#[ \t]*(?P<why>.*?))?[ \t]*$', re.MULTILINE
)


class DocumentError(Exception):
    """A document or what it is made from is not as it must be; the message says where and why."""


def dependencies(pyproject: Path = ROOT / "pyproject.toml") -> str:
    """Each package the project depends on and the reason written beside it.

    Raises :class:`DocumentError` naming every package without a reason.
    """
    text = pyproject.read_text(encoding="utf-8")
    project = tomllib.loads(text)["project"]
    extras = project.get("optional-dependencies", {})
    wanted = {"cabinet": project["dependencies"], **extras}
    reasons = {match["name"]: match["why"] for match in _REQUIREMENT.finditer(text)}
    rows = [
        [f"`{name}`", where, reasons.get(name) or ""]
        for where, packages in wanted.items()
        for name in (re.split(r"[^A-Za-z0-9_-]", package)[0] for package in packages)
        if name != project["name"]
    ]
    bare = [name for name, _, why in rows if not why]
    if bare:
        raise DocumentError(f"{pyproject.name}: no reason is written beside {', '.join(bare)}")
    return table(["Package", "Needed by", "What it does here, and why this one"], rows)


#: the generated parts by name
BLOCKS: Final[Mapping[str, Callable[[], str]]] = {
    "dependencies": dependencies,
    **PARTS,
}


def fill(name: str, text: str, blocks: Mapping[str, Callable[[], str]] = BLOCKS) -> str:
    """Return the document ``text`` with every generated part rewritten; ``name`` is for messages.

    Raises :class:`DocumentError` for a mark without its partner or for an unknown part.
    """

    def write(match: re.Match[str]) -> str:
        if match["name"] not in blocks:
            raise DocumentError(f"{name}: nothing writes the part {match['name']!r}")
        return f"<!-- begin:{match['name']} -->\n{blocks[match['name']]()}\n<!-- end:{match['name']} -->"

    stray = _MARK.search(_BLOCK.sub("", text))
    if stray:
        raise DocumentError(f"{name}: {stray[0]} has no partner")
    return _BLOCK.sub(write, text)


def parts(text: str) -> set[str]:
    """Return the names of the generated parts of a document."""
    return {match["name"] for match in _BLOCK.finditer(text)}


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option(
    "--check", is_flag=True, help="Write nothing; exit 1 if a generated part is not what it should be."
)
def main(*, check: bool) -> None:
    """Write the generated parts of the documents."""
    texts = {ROOT / name: (ROOT / name).read_text(encoding="utf-8") for name in DOCUMENTS}
    unplaced = BLOCKS.keys() - set().union(*(parts(text) for text in texts.values()))
    try:
        if unplaced:
            raise DocumentError(f"no document has a place for {', '.join(sorted(unplaced))}")
        pages = {path: fill(path.name, text) for path, text in texts.items()}
    except (DocumentError, OperatorError) as error:
        raise click.ClickException(str(error)) from error
    deliver(pages, check=check, verb="make docs")


if __name__ == "__main__":
    main()
