"""The manuals contain every fault, event, page and form of the machine in both languages."""

import re
from itertools import islice

import pypdfium2
import pytest
from click.testing import CliRunner

from egm.app.features import FEATURES, SERVICE_MENU
from egm.devices.protocols import PROTOCOLS
from egm.kernel.faults import SIGNIFICANCE_BY_FAULT, get_fault_definition
from egm.kernel.rules import get_refusal_code
from egm.people import Permission
from egm.people.roles import Role, find_permissions
from egm.screen.text import Texts, read_catalogue
from egm.staff.service.manual import list_fault_codes
from meters.table import METERS
from tools.cli import main
from tools.lab.manual import iter_manual_chapters

AUDIENCES = ("operator", "service")
#: Faults with the text that states their effect.
EFFECTS = {
    "bill_acceptor.cheat": "stop",
    "memory_damaged": "stop",
    "memory_full": "closes",
    "ticket_printer.paper_out": "hampers",
    "ticket_printer.paper_low": "log",
}


def print_manual(audience, language):
    result = CliRunner().invoke(main, ["manual", audience, "--language", language])
    assert result.exit_code == 0, result.output
    return result.output


def find_chapter_rows(page, texts, chapter):
    """Return the rows of a chapter as cells, by their last and by their first cell."""
    chapter_text = page.partition(f"## {texts.translate(f'manual.chapter.{chapter}')}\n")[2].partition(
        "\n## "
    )[0]
    cells = [
        tuple(c.strip() for c in line.strip("|").split(" | "))
        for line in chapter_text.splitlines()
        if "|" in line
    ]
    assert cells, chapter
    return {row[-1]: row for row in cells} | {row[0]: row for row in cells}


def list_permitted_roles(texts, permission):
    """Return the permitted roles as the manual lists them."""
    roles = [role for role in Role if permission is None or permission in find_permissions(role)]
    return "; ".join(texts.translate(f"manual.role.{role.value}") for role in roles)


@pytest.mark.requirement("R-06")
@pytest.mark.parametrize("language", ["en", "fr"])
@pytest.mark.parametrize("audience", AUDIENCES)
def test_every_fault_page_and_form_is_in_the_manual(audience, language):
    texts, page = Texts(language), print_manual(audience, language)
    page_rows = find_chapter_rows(page, texts, "faults")
    for code in list_fault_codes():
        shown, remedy, _, clears, _ = page_rows[code]
        assert shown == texts.translate(f"tilt.text.{code}")
        assert remedy == texts.translate(f"manual.remedy.{code}")
        assert clears == texts.translate(f"manual.clears.{get_fault_definition(code).cleared_by}")
    for code, effect in EFFECTS.items():
        assert page_rows[code][2] == texts.translate(f"manual.effect.{effect}")
    page_rows = find_chapter_rows(page, texts, "menu")
    for entry in SERVICE_MENU.menu_items:
        row = page_rows[texts.translate(f"service.menu.{entry.id}")]
        assert row[2] == list_permitted_roles(texts, entry.permission)
    page_rows = find_chapter_rows(page, texts, "forms")
    for form in SERVICE_MENU.forms:
        row = page_rows[texts.translate(f"form.{form.id}.title")]
        assert row[5] == list_permitted_roles(texts, form.permission)
        assert all(texts.translate(f"form.{form.id}.{field.name}") in row[1] for field in form.fields)
        assert all(
            texts.translate(f"service.needs.{get_refusal_code(need)}") in row[2]
            for need in form.submission_guards
        )
    page_rows = find_chapter_rows(page, texts, "meters")
    for meter in METERS:
        assert page_rows[meter.name][0] == texts.format_code_text("meter_name", meter.name)
    page_rows = find_chapter_rows(page, texts, "roles")
    for permission in Permission:
        assert page_rows[texts.translate(f"manual.permission.{permission}")][1] == list_permitted_roles(
            texts, permission
        )


@pytest.mark.requirement("R-06")
def test_the_manual_lists_exactly_the_faults_with_texts_and_every_one_raised():
    known = {key.removeprefix("tilt.text.") for key in read_catalogue("en") if key.startswith("tilt.text.")}
    assert known - {"other"} == set(list_fault_codes())
    assert {code for code in SIGNIFICANCE_BY_FAULT if "*" not in code} <= set(list_fault_codes())
    remedies = {key for key in read_catalogue("fr") if key.startswith("manual.remedy.")}
    assert remedies == {f"manual.remedy.{code}" for code in list_fault_codes()}


@pytest.mark.requirement("R-06")
@pytest.mark.parametrize("language", ["en", "fr"])
def test_the_service_manual_has_every_step_of_every_procedure(language):
    page = print_manual("service", language)
    steps = {key: text for key, text in read_catalogue(language).items() if key.startswith("manual.steps.")}
    assert {key.split(".")[2] for key in steps} >= {"memory", "denomination"}
    assert [key for key, text in steps.items() if text not in page] == []


@pytest.mark.requirement("R-06")
@pytest.mark.parametrize("language", ["en", "fr"])
def test_the_operator_manual_states_who_may_clear_memory_and_change_denominations(language):
    texts, page = Texts(language), print_manual("operator", language)
    assert f"| {list_permitted_roles(texts, Permission.CLEAR_MEMORY)} |" in page
    assert "`egm audit clear`" in page
    denomination = next(form for form in SERVICE_MENU.forms if form.id == "options_denomination")
    chapter = page.partition(texts.translate("manual.chapter.denomination"))[2]
    for key in ("service.menu.options", "form.options_denomination.title", "form.restart.title"):
        assert texts.translate(key) in chapter
    label = texts.translate("manual.column.roles")
    permitted = list_permitted_roles(texts, denomination.permission)
    assert find_chapter_rows(page, texts, "denomination")[label] == (label, permitted)
    for need in denomination.submission_guards:
        assert texts.translate(f"service.needs.{get_refusal_code(need)}") in chapter


@pytest.mark.requirement("R-06")
@pytest.mark.parametrize("language", ["en", "fr"])
def test_the_service_manual_lists_every_significant_event_and_every_line(language, tmp_path):
    texts, page = Texts(language), print_manual("service", language)
    page_rows = find_chapter_rows(page, texts, "events")
    for subject, event in FEATURES.entry_declarations.iter_significant_kinds():
        words, *_, sas, pattern = page_rows[subject]
        assert sas == ("-" if event.sas_exception_code is None else f"{event.sas_exception_code:02X}")
        assert words
        assert pattern == subject
    page_rows = find_chapter_rows(page, texts, "lines")
    for protocol, entry in PROTOCOLS.items():
        wiring = page_rows[texts.translate(f"manual.wiring.{protocol}")]
        assert wiring[:2] == (texts.translate(f"device.{entry.device_kind}"), protocol)
    assert texts.translate("door.logic") in find_chapter_rows(page, texts, "inputs")
    manual_file = tmp_path / "manual.md"
    assert (
        CliRunner()
        .invoke(main, ["manual", "service", "--language", language, "--out", str(manual_file)])
        .exit_code
        == 0
    )
    assert manual_file.read_text(encoding="utf-8") == print_manual("service", language)


@pytest.mark.requirement("R-06")
@pytest.mark.parametrize("language", [pytest.param("en", marks=pytest.mark.slow), "fr"])
def test_the_pdf_has_every_word_of_the_manual_on_its_pages(language, tmp_path):
    """An independent reader finds every word; none is cut off at the end or the edge of a page."""
    manual_file = tmp_path / "manual.pdf"
    result = CliRunner().invoke(
        main, ["manual", "service", "--language", language, "--out", str(manual_file)]
    )
    assert result.exit_code == 0, result.output
    document = pypdfium2.PdfDocument(manual_file)
    assert len(document) > 10
    texts, words = Texts(language), []
    for page in document:
        read = page.get_textpage()
        words += read.get_text_range().split()
        for rect_index in range(read.count_rects()):  # each holds the characters of one line and font
            left, low, right, high = read.get_rect(rect_index)
            assert 0 <= left <= right <= 596
            assert 0 <= low <= high <= 843
    joined = "".join(words)
    for code in list_fault_codes():
        for key in (f"tilt.text.{code}", f"manual.remedy.{code}"):
            assert remove_separators(texts.translate(key)) in joined, key
        assert code in joined
    assert all(subject in joined for subject, _ in FEATURES.entry_declarations.iter_significant_kinds())
    document.close()


@pytest.mark.requirement("R-06")
@pytest.mark.parametrize("chapters", [1, pytest.param(None, marks=pytest.mark.slow)])
def test_the_same_software_writes_the_same_pdf(chapters, tmp_path, monkeypatch):
    monkeypatch.setattr(
        "tools.lab.manual_pdf.iter_manual_chapters",
        lambda *arguments: islice(iter_manual_chapters(*arguments), chapters),
    )
    outs = [tmp_path / "first.pdf", tmp_path / "second.pdf"]
    for manual_file in outs:
        assert CliRunner().invoke(main, ["manual", "service", "--out", str(manual_file)]).exit_code == 0
    assert outs[0].read_bytes() == outs[1].read_bytes()


def remove_separators(text):
    """Return a text without the characters that separate its words, for a comparison with a PDF's lines."""
    return re.sub(r"\s+", "", text.replace("`", ""))
