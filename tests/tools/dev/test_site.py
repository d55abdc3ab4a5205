"""The documentation site: every document is a page, links work, and commands and manuals are generated."""

import re

import click
import pytest

from tools.cli.reference import format_command_reference
from tools.dev import docs, site
from tools.dev.conformance.requirements import ROOT


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    folder = tmp_path_factory.mktemp("source")
    site.write_sources(folder)
    for name in docs.REFERENCE_PAGE_TEMPLATES:
        (folder / "reference" / name).write_text(f"# {name}\n", encoding="utf-8")
    return folder


def test_every_document_is_in_the_table_of_contents():
    listed = set(re.findall(r"^/(\S+)$", (ROOT / "docs/index.md").read_text(encoding="utf-8"), re.MULTILINE))
    pages = {str(page.with_suffix("")) for page in site.list_documents()}
    assert pages - {page for page in pages if page.startswith("docs/decisions/0")} <= listed
    assert "docs/decisions/0*" in listed


def test_the_command_reference_of_the_site_is_that_of_the_commands(source):
    assert format_command_reference() in (source / "reference/commands.md").read_text(encoding="utf-8")


def test_the_site_has_the_operator_and_service_manuals_in_french(source):
    for name in ("operator-fr", "service-fr"):
        assert "panne" in (source / f"reference/{name}.md").read_text(encoding="utf-8")


def test_a_link_to_code_becomes_plain_text_and_a_link_to_a_page_remains():
    page = ROOT.joinpath("README.md").relative_to(ROOT)
    text = "[a](GLOSSARY.md) [b](GLOSSARY.md#terms) [c](tests/conformance) ![d](docs/pictures/top.png)"
    linked = site.remove_links_outside_pages(text, page, site.list_documents())
    assert linked == "[a](GLOSSARY.md) [b](GLOSSARY.md#terms) c ![d](docs/pictures/top.png)"


@pytest.mark.slow
def test_the_site_builds_without_a_warning(source, tmp_path):
    site.build_site(source, tmp_path / "site")
    assert "Open EGM" in (tmp_path / "site/index.html").read_text(encoding="utf-8")
    assert "Manuel" in (tmp_path / "site/reference/operator-fr.html").read_text(encoding="utf-8")
    assert not [
        page.name
        for page in (tmp_path / "site").rglob("*.html")
        if re.search(r'(?:src|href)="https?://[^"]*\.(?:js|css)', page.read_text(encoding="utf-8"))
    ], "the site loads nothing from elsewhere"


def test_a_broken_link_fails_the_build_of_the_site(source, tmp_path):
    broken = tmp_path / "broken"
    (broken / "reference").mkdir(parents=True)
    (broken / "conf.py").write_text((source / "conf.py").read_text(encoding="utf-8"), encoding="utf-8")
    (broken / "index.md").write_text("# Start\n\n[lost](NOWHERE.md)\n", encoding="utf-8")
    with pytest.raises(click.ClickException, match="NOWHERE"):
        site.build_site(broken, tmp_path / "site")
