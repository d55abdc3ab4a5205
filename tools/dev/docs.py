"""``make docs``: the parts of the documents that are written from the code itself.

A document holds a generated part between ``<!-- begin:NAME -->`` and ``<!-- end:NAME -->``; everything
outside the marks belongs to whoever writes the document. :data:`BLOCKS` names the parts.
"""

import inspect
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Final

import click

from egm.config.schema import parts as parts_of_cabinet
from egm.profiles.schema import keys
from tools.cli import main as egm
from tools.dev.conformance.page import table
from tools.dev.conformance.requirements import ROOT
from tools.dev.freshness import deliver
from tools.lab.rule_table import interruption_table, picture, rule_table, set_table

#: the documents with generated parts, from the root of the checkout
DOCUMENTS: Final = (
    "README.md",
    "ARCHITECTURE.md",
    "tools/REFERENCE.md",
    "egm/profiles/PROFILES.md",
    "egm/CABINET-FILE.md",
)

_BLOCK: Final = re.compile(r"<!-- begin:(?P<name>[\w-]+) -->\n(?P<body>.*?)<!-- end:(?P=name) -->", re.DOTALL)
_AS_IS: Final = "\b"
_MARK: Final = re.compile(r"<!-- (?:begin|end):[\w-]+ -->")
_REQUIREMENT: Final = re.compile(
    r'^\s*"(?P<name>[A-Za-z0-9_-]+)[^"]*",?[ \t]*(?:#[ \t]*(?P<why>.*?))?[ \t]*$', re.MULTILINE
)


class DocumentError(Exception):
    """A document or what it is made from is not as it must be; the message says where and why."""


def state_picture() -> str:
    """What a player sees of the state table, as a diagram."""
    return f"```mermaid\n{picture()}\n```"


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


def command_reference() -> str:
    """Every command of ``egm`` with its help, usage and options, as click itself states them."""
    with click.Context(egm, info_name="egm") as context:
        return "\n\n".join(_command(context, egm))


def _command(context: click.Context, command: click.Command) -> Iterator[str]:
    """One command and, for a group, everything below it."""
    usage = command.collect_usage_pieces(context)
    yield f"{'#' * (context.command_path.count(' ') + 2)} `{context.command_path}`"
    yield _help(command)
    yield f"```\n{' '.join([context.command_path, *usage])}\n```"
    records = [record for param in command.get_params(context) if (record := param.get_help_record(context))]
    # click lists an argument among the options; without a text of its own it stands in the usage already
    options = [[f"`{name}`", text] for name, text in records if text and "--help" not in name]
    if options:
        yield table(["Option", "Meaning"], options)
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            below = command.get_command(context, name)
            if below is None:
                raise DocumentError(f"{context.command_path} lists {name!r} and does not have it")
            if not below.hidden:
                yield from _command(click.Context(below, info_name=name, parent=context), below)


def _help(command: click.Command) -> str:
    """A command's help as a page has it: what click leaves as it is, its mark says, is an example."""
    paragraphs = inspect.cleandoc(command.help or "").split("\n\n")
    told = (inspect.cleandoc(each) for each in paragraphs)
    return "\n\n".join(
        f"```\n{text.removeprefix(_AS_IS).strip()}\n```" if text.startswith(_AS_IS) else text for text in told
    )


def profile_keys() -> str:
    """Every key of a jurisdiction profile. Raises :class:`DocumentError` naming those without a meaning."""
    found = list(keys())
    bare = [key.name for key in found if not key.meaning]
    if bare:
        raise DocumentError(f"egm/profiles/profile.py: no meaning is written beside {', '.join(bare)}")
    rows = [
        [
            f"`{key.name}`",
            key.kind,
            "must be given" if key.default is None else f"`{key.default}`",
            key.meaning,
        ]
        for key in found
    ]
    return table(["Key", "Kind", "Default", "Meaning"], rows)


def cabinet_keys() -> str:
    """Every key of a cabinet file, by table. Raises :class:`DocumentError` for one without a meaning."""
    text = []
    for part in parts_of_cabinet():
        bare = [key.name for key in part.keys if not key.meaning]
        if bare:
            raise DocumentError(
                f"egm/config/cabinet_file.py: no meaning is written beside {part.header} {', '.join(bare)}"
            )
        needed = " Must be there." if part.required else ""
        rows = [
            [
                f"`{key.name}`",
                key.kind,
                "must be given" if key.default is None else f"`{key.default}`",
                key.meaning,
                key.example and f"`{key.example}`",
            ]
            for key in part.keys
        ]
        heads = ["Key", "Kind", "Default", "Meaning", "Example"]
        text.append(f"### `{part.header}`\n\n{part.meaning}{needed}\n\n{table(heads, rows)}")
    return "\n\n".join(text)


#: the generated parts by name
BLOCKS: Final[Mapping[str, Callable[[], str]]] = {
    "cabinet-keys": cabinet_keys,
    "commands": command_reference,
    "dependencies": dependencies,
    "profile-keys": profile_keys,
    "states": state_picture,
    "interruptions": interruption_table,
    "state-sets": set_table,
    "rules": rule_table,
}


def fill(name: str, text: str, blocks: Mapping[str, Callable[[], str]] = BLOCKS) -> str:
    """The document ``text`` with every generated part written anew; ``name`` is for messages.

    Raises :class:`DocumentError` for a mark without its partner or a part nobody knows how to write.
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
    """The names of the generated parts of a document."""
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
    except DocumentError as error:
        raise click.ClickException(str(error)) from error
    deliver(pages, check=check, verb="make docs")


if __name__ == "__main__":
    main()
