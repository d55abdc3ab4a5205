"""The generated parts of the documents are up to date and complete."""

import re

import click
import pytest

from tools.cli.commands import MODULE_AND_HELP_BY_COMMAND
from tools.cli.reference import format_command_reference
from tools.dev.conformance.requirements import ROOT
from tools.dev.docs import (
    DOCUMENTS,
    GENERATED_PART_BY_NAME,
    REFERENCE_PAGE_TEMPLATES,
    DocumentError,
    fill_generated_parts,
    format_dependency_table,
    format_layer_table,
    list_part_names,
)


@pytest.mark.parametrize("name", DOCUMENTS)
def test_generated_parts_are_fresh(name):
    text = (ROOT / name).read_text(encoding="utf-8")
    assert fill_generated_parts(name, text) == text, "run `make docs` and commit the result"


def test_every_generated_part_appears_once_in_the_documents():
    texts = [(ROOT / name).read_text(encoding="utf-8") for name in DOCUMENTS] + list(
        REFERENCE_PAGE_TEMPLATES.values()
    )
    placed = [part for text in texts for part in list_part_names(text)]
    assert sorted(placed) == sorted(GENERATED_PART_BY_NAME)


@pytest.mark.parametrize("name", REFERENCE_PAGE_TEMPLATES)
def test_a_reference_page_has_a_title_and_a_table(name):
    page = fill_generated_parts(name, REFERENCE_PAGE_TEMPLATES[name])
    assert page.startswith("# ")
    assert "| --- |" in page


def test_every_command_is_documented_with_a_help_text():
    reference = format_command_reference()
    sections = re.split(r"^#+ (?=`egm)", reference, flags=re.MULTILINE)[1:]
    documented = {section.partition("\n")[0].strip("`") for section in sections}
    assert {f"egm {name}" for name in MODULE_AND_HELP_BY_COMMAND} <= documented
    for section in sections:
        help_text = section.split("\n\n")[1]
        assert re.match(r"\w", help_text), f"no help text: {section.splitlines()[0]}"


def test_options_and_subcommands_reach_the_reference(monkeypatch):
    @click.group()
    def par():
        """Work on PAR sheets."""

    @par.command()
    @click.argument("game")
    @click.option("--json", "as_json", is_flag=True, help="Print JSON.")
    def show(*, game, as_json):
        """Show one sheet."""

    monkeypatch.setattr("tools.cli.reference.main", par)
    text = format_command_reference()
    assert "### `egm show`" in text
    assert "Show one sheet.\n\n```\negm show [OPTIONS] GAME\n```" in text
    assert "| `--json` | Print JSON. |" in text
    assert "| `GAME` |" not in text


def test_a_dependency_without_a_reason_is_reported(tmp_path):
    pyproject = tmp_path / "pyproject.toml"
    pyproject.write_text(
        '[project]\nname = "x"\ndependencies = [\n    "good>=1", # a reason\n    "bare>=2",\n]\n',
        encoding="utf-8",
    )
    with pytest.raises(DocumentError, match="no reason is written beside `bare`"):
        format_dependency_table(pyproject)
    pyproject.write_text(pyproject.read_text(encoding="utf-8").replace('"bare>=2",', '"bare[a]>=2" # why'))
    assert "| `bare` | cabinet | why |" in format_dependency_table(pyproject)


BLOCK = "a\n<!-- begin:one -->\nold\n<!-- end:one -->\nb\n"


def test_only_the_text_between_the_marks_is_replaced():
    assert fill_generated_parts("D.md", BLOCK, {"one": lambda: "new"}) == BLOCK.replace("old", "new")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (BLOCK.replace("end:one", "end:two"), "has no partner"),
        (BLOCK.replace("<!-- end:one -->", ""), "has no partner"),
        (BLOCK.replace("one", "other"), "nothing writes the part 'other'"),
    ],
)
def test_a_document_with_broken_marks_is_refused(text, reason):
    with pytest.raises(DocumentError, match=f"D.md: .*{reason}"):
        fill_generated_parts("D.md", text, {"one": lambda: "new"})


def test_the_table_of_layers_lists_every_folder_of_egm_and_requires_docstrings(tmp_path):
    modules = [*(ROOT / "egm").glob("*/__init__.py"), *(ROOT / "egm/features").glob("*/__init__.py")]
    folders = {str(file.parent.relative_to(ROOT / "egm")) for file in modules} - {"features"}
    assert set(re.findall(r"^\| `([\w/]+)/` \| \w", format_layer_table(), re.MULTILINE)) == folders
    (tmp_path / "pyproject.toml").write_text(
        '[[tool.importlinter.contracts]]\nid = "egm-layers"\nlayers = ["upper | other", "lower", "single"]\n'
    )
    for name, text in (("upper", '"""What is above."""\n'), ("other", ""), ("lower", '"""Below."""\n')):
        (tmp_path / "egm" / name).mkdir(parents=True)
        (tmp_path / "egm" / name / "__init__.py").write_text(text)
    with pytest.raises(DocumentError, match=r"what is in it: egm/other/__init__\.py$"):
        format_layer_table(tmp_path)
    (tmp_path / "egm" / "other" / "__init__.py").write_text('"""Beside it."""\n')
    assert format_layer_table(tmp_path).splitlines()[2:] == [
        "| `upper/` | What is above. |",
        "| `other/` | Beside it. |",
        "| `lower/` | Below. |",
        "",
        "Folders of one layer do not import each other: `upper/`, `other/`.",
    ]
