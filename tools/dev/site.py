"""``make docs``: build the documentation site from the documents of the checkout.

The documents are copied to ``build/docs`` with their paths, so that the links between them work as they do in the
checkout. Pages written from the code are added: the command reference and the manuals in both languages. The pages
that :mod:`tools.dev.docs` writes are there already. Sphinx builds the site; a broken link fails the build.
"""

import re
import shutil
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Final

import click

from egm.screen.text import LOCALE_BY_LANGUAGE
from tools.cli.reference import format_command_reference
from tools.cli.terminal import echo
from tools.dev.conformance.requirements import ROOT
from tools.dev.docs import REFERENCE_FOLDER
from tools.lab.manual import AUDIENCES, format_manual

#: The folder of the pages that Sphinx reads, from the root of the checkout; not committed.
SOURCE_FOLDER: Final = "build/docs"
SITE_FOLDER: Final = "build/site"
#: Folders of a checkout whose Markdown files are not part of the site.
_FOLDERS_LEFT_OUT: Final = frozenset({"build", "tests", "node_modules"})
_INDEX_PAGE: Final = Path("docs/index.md")
_LINK_PATTERN: Final = re.compile(r"(?<!!)\[(?P<text>[^\]]*)\]\((?P<target>[^)\s#:]+)(?P<anchor>#[^)]*)?\)")


def list_documents(root: Path = ROOT) -> tuple[Path, ...]:
    """Return the Markdown documents of the checkout, relative to its root."""
    paths = (page.relative_to(root) for page in root.rglob("*.md"))
    return tuple(
        sorted(
            p
            for p in paths
            if p.parts[0] not in _FOLDERS_LEFT_OUT and not p.parts[0].startswith(".") and p != _INDEX_PAGE
        )
    )


def remove_links_outside_pages(text: str, page: Path, pages: Iterable[Path]) -> str:
    """Return ``text`` in which only links to pages of the site remain; other links become plain text."""
    page_names = {str(each) for each in pages}

    def keep_or_unlink(match: re.Match[str]) -> str:
        target = (ROOT / page.parent / match["target"]).resolve()
        is_page = target.is_relative_to(ROOT) and str(target.relative_to(ROOT)) in page_names
        return match[0] if is_page else match["text"]

    return _LINK_PATTERN.sub(keep_or_unlink, text)


def write_sources(folder: Path, root: Path = ROOT) -> tuple[Path, ...]:
    """Write every page and picture that Sphinx reads into ``folder``; return the paths of the documents among them."""
    pages = list_documents(root)
    for page in pages:
        target_path = folder / page
        target_path.parent.mkdir(parents=True, exist_ok=True)
        target_path.write_text(
            remove_links_outside_pages((root / page).read_text(encoding="utf-8"), page, pages),
            encoding="utf-8",
        )
    shutil.copytree(root / "docs/pictures", folder / "docs/pictures", dirs_exist_ok=True)
    for name in ("conf.py", "index.md"):
        shutil.copy(root / "docs" / name, folder / name)
    reference_folder = folder / "reference"
    reference_folder.mkdir(exist_ok=True)
    (reference_folder / "commands.md").write_text(
        f"# Commands\n\n{format_command_reference()}\n", encoding="utf-8"
    )
    for audience in AUDIENCES:
        for language in sorted(LOCALE_BY_LANGUAGE):
            (reference_folder / f"{audience}-{language}.md").write_text(
                format_manual(audience, language), encoding="utf-8"
            )
    return pages


def build_site(source_folder: Path, site_folder: Path) -> None:
    """Build the site with Sphinx.

    Raises :class:`click.ClickException` with Sphinx's messages if a page has an error.
    """
    completed_process = subprocess.run(
        [
            *(sys.executable, "-m", "sphinx", "--fail-on-warning", "--keep-going", "-q", "-j", "auto"),
            *(source_folder, site_folder),
        ],
        check=False, capture_output=True, text=True,
    )  # fmt: skip
    if completed_process.returncode:
        raise click.ClickException(
            completed_process.stderr.strip() or f"sphinx ended with status {completed_process.returncode}"
        )


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
def main() -> None:
    """Build the documentation site into build/site."""
    assert Path(REFERENCE_FOLDER).is_relative_to(SOURCE_FOLDER)
    write_sources(ROOT / SOURCE_FOLDER)
    build_site(ROOT / SOURCE_FOLDER, ROOT / SITE_FOLDER)
    echo(f"{SITE_FOLDER}/index.html written")


if __name__ == "__main__":
    main()
