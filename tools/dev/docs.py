"""``make docs``: write the parts of documents that are generated from the code.

A document holds a generated part between ``<!-- begin:NAME -->`` and ``<!-- end:NAME -->``; everything
outside the marks is written by hand. :data:`GENERATED_PART_BY_NAME` names the parts. The long tables are pages
of their own in ``build/docs/reference/``, which are not committed (:data:`REFERENCE_PAGE_TEMPLATES`).
"""

import ast
import re
import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

import click

from egm.errors import OperatorError
from paytables import FAMILY_MODULE_BY_NAME
from tools.dev.conformance.requirements import ROOT
from tools.dev.freshness import write_or_check_pages
from tools.lab.documents import FORMATTER_BY_DOCUMENT
from tools.lab.entry_reference import format_meaning
from tools.lab.markdown import format_table

#: the documents with generated parts, from the root of the checkout
DOCUMENTS: Final = (
    "README.md",
    "ARCHITECTURE.md",
    "paytables/DEFINITIONS.md",
    "egm/profiles/PROFILES.md",
    "egm/CABINET-FILE.md",
    "egm/devices/WIRING.md",
)

#: The folder of the reference pages, from the root of the checkout; not committed.
REFERENCE_FOLDER: Final = "build/docs/reference"
#: The reference pages by file name, with empty generated parts.
REFERENCE_PAGE_TEMPLATES: Final[Mapping[str, str]] = {
    "state-table.md": """# The state table

Each row is a rule of one feature; the features are listed in `egm/app/features.py`. For each event, the machine tries
the rules in this order and applies the first one whose conditions all hold. If none applies, the column "Else" says
what happens: *told* means that the person who made the request is shown the condition that failed, and *recorded*
means that the journal records the event as unexpected. Nothing else happens.

The engine itself raises two events: `after_event` after each event, to end what the event has made ready to end, and
`at_rest` when no event is waiting.

In the column "Then", *derived* means that the next state follows from the memory. *Derived once tested* means the
same, except that the state stays `self_test` while a self-test is running. An empty cell means that the state does not
change.

Timers raise these events: `shown` (the screen has not reported the end of the animation), `number_refused`,
`ticket_declined` and `lock_ended` (a host does not reply), `promotion_expired`, `reminder_due`, `pause_over`,
`session_over`, `menu_closed` (nobody has touched the service menu) and `chance_failed` (the generator failed between
games).

## States that interrupt others

<!-- begin:interruptions -->
<!-- end:interruptions -->

## Named sets of states

<!-- begin:state-sets -->
<!-- end:state-sets -->

## Rules

<!-- begin:rules -->
<!-- end:rules -->
""",
    "journal-entries.md": """# Journal entries

Every kind of entry that the machine writes, by the feature that writes it: what has happened, how value moves, the
occurrence meters that advance, the keys of the machine's memory that change, and the record. The list is written from
the declarations against which the machine checks each entry before it is durable, and `egm audit verify` again from
the bytes of the journal. `*` stands for any part of a name.

A kind with several forms is listed once for each. The amount that an entry moves, and how its fields depend on each
other and on the memory before it, are the audit's rules (`tools/audit/rules`).

<!-- begin:entries -->
<!-- end:entries -->
""",
    "dependencies.md": """# Dependencies

The packages that the project depends on, and the reason for each, from `pyproject.toml`.

<!-- begin:dependencies -->
<!-- end:dependencies -->
""",
}

_GENERATED_PART_PATTERN: Final = re.compile(
    r"<!-- begin:(?P<name>[\w-]+) -->\n(?P<body>.*?)<!-- end:(?P=name) -->", re.DOTALL
)
_PART_MARK_PATTERN: Final = re.compile(r"<!-- (?:begin|end):[\w-]+ -->")
_PINNED_PACKAGE_PATTERN: Final = re.compile(
    r'^\s*"(?P<name>[A-Za-z0-9_-]+)[^"]*",?[ \t]*(?:#[ \t]*(?P<why>.*?))?[ \t]*$', re.MULTILINE
)


class DocumentError(Exception):
    """A document or its source is not valid; the message says where and why."""


def format_dependency_table(pyproject: Path = ROOT / "pyproject.toml") -> str:
    """Return a table of the packages that the project depends on, with the reason for each.

    Raises :class:`DocumentError` naming every package without a reason.
    """
    text = pyproject.read_text(encoding="utf-8")
    project = tomllib.loads(text)["project"]
    extras = project.get("optional-dependencies", {})
    packages_by_use = {"cabinet": project["dependencies"], **extras}
    reasons = {match["name"]: match["why"] for match in _PINNED_PACKAGE_PATTERN.finditer(text)}
    rows = [
        [f"`{name}`", where, reasons.get(name) or ""]
        for where, packages in packages_by_use.items()
        for name in (re.split(r"[^A-Za-z0-9_-]", package)[0] for package in packages)
        if name != project["name"]
    ]
    bare = [name for name, _, why in rows if not why]
    if bare:
        raise DocumentError(f"{pyproject.name}: no reason is written beside {', '.join(bare)}")
    return format_table(["Package", "Needed by", "What it does here, and why this one"], rows)


def format_layer_table(root: Path = ROOT) -> str:
    """Return a table of the folders of ``egm``, from the top layer down, each with the first line of its docstring.

    A sentence below the table names the folders that share a layer. Raises :class:`DocumentError` naming each folder
    without a docstring.
    """
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))
    (layers_contract,) = (
        each for each in project["tool"]["importlinter"]["contracts"] if each["id"] == "egm-layers"
    )
    rows: list[list[str]] = []
    bare: list[str] = []
    neighbours: list[str] = []
    for layer in layers_contract["layers"]:
        modules = {name: root / "egm" / name / "__init__.py" for name in layer.split(" | ")}
        folders = {name: module for name, module in modules.items() if module.is_file()}
        if "features" in folders:
            inner = sorted(folders.pop("features").parent.glob("*/__init__.py"))
            folders |= {f"features/{module.parent.name}": module for module in inner}
        neighbours += (", ".join(f"`{name}/`" for name in folders),) if len(folders) > 1 else ()
        for name, module in folders.items():
            docstring = ast.get_docstring(ast.parse(module.read_text(encoding="utf-8"))) or ""
            bare += () if docstring else (f"egm/{name}/__init__.py",)
            rows.append([f"`{name}/`", format_meaning(docstring.partition("\n")[0])])
    if bare:
        raise DocumentError(f"the first line of its docstring must say what is in it: {', '.join(bare)}")
    table = format_table(["Folder", "Contents"], rows)
    return f"{table}\n\nFolders of one layer do not import each other: {'; '.join(neighbours)}."


def format_family_list() -> str:
    """Return the names of the families of games."""
    *first, last = (f"`{name}`" for name in sorted(FAMILY_MODULE_BY_NAME))
    return f"The families are {', '.join(first)} and {last}."


#: the generated parts by name
GENERATED_PART_BY_NAME: Final[Mapping[str, Callable[[], str]]] = {
    "dependencies": format_dependency_table,
    "families": format_family_list,
    "layers": format_layer_table,
    **FORMATTER_BY_DOCUMENT,
}


def fill_generated_parts(
    name: str, text: str, blocks: Mapping[str, Callable[[], str]] = GENERATED_PART_BY_NAME
) -> str:
    """Return the document ``text`` with every generated part rewritten; ``name`` is the document in error messages.

    Raises :class:`DocumentError` for a begin or end mark without its partner, or for an unknown part.
    """

    def write(match: re.Match[str]) -> str:
        if match["name"] not in blocks:
            raise DocumentError(f"{name}: nothing writes the part {match['name']!r}")
        return f"<!-- begin:{match['name']} -->\n{blocks[match['name']]()}\n<!-- end:{match['name']} -->"

    stray = _PART_MARK_PATTERN.search(_GENERATED_PART_PATTERN.sub("", text))
    if stray:
        raise DocumentError(f"{name}: {stray[0]} has no partner")
    return _GENERATED_PART_PATTERN.sub(write, text)


def list_part_names(text: str) -> set[str]:
    """Return the names of the generated parts of a document."""
    return {match["name"] for match in _GENERATED_PART_PATTERN.finditer(text)}


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--check", is_flag=True, help="Write nothing; exit 1 if a generated part is stale.")
def main(*, check: bool) -> None:
    """Write the generated parts of the documents."""
    texts = {ROOT / name: (ROOT / name).read_text(encoding="utf-8") for name in DOCUMENTS}
    reference = {ROOT / REFERENCE_FOLDER / name: text for name, text in REFERENCE_PAGE_TEMPLATES.items()}
    texts |= reference
    unplaced = GENERATED_PART_BY_NAME.keys() - set().union(
        *(list_part_names(text) for text in texts.values())
    )
    try:
        if unplaced:
            raise DocumentError(f"no document contains the parts {', '.join(sorted(unplaced))}")
        pages = {path: fill_generated_parts(path.name, text) for path, text in texts.items()}
    except (DocumentError, OperatorError) as error:
        raise click.ClickException(str(error)) from error
    if check:  # they are not committed, so they are never stale
        pages = {path: text for path, text in pages.items() if path not in reference}
    else:
        (ROOT / REFERENCE_FOLDER).mkdir(parents=True, exist_ok=True)
    write_or_check_pages(pages, check=check, command_name="make docs")


if __name__ == "__main__":
    main()
