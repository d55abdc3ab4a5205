"""The texts of the screen: complete in both languages, with a text for every code and each jurisdiction's own forms."""

import re
import string
from datetime import UTC, timedelta, timezone
from pathlib import Path

import pytest

from egm.app.features import FEATURES
from egm.devices.ioboard.codec import DOORS
from egm.kernel.events import State
from egm.kernel.faults import SIGNIFICANCE_BY_FAULT, get_fault_definition
from egm.kernel.rules import RefusalHandling, get_refusal_code
from egm.kernel.significance import EventEffect
from egm.play.wager_texts import SETTLED_RESULT_NAMES
from egm.profiles import load_profile
from egm.screen.text import (
    CATALOGUE_FOLDER,
    CatalogueError,
    Texts,
    flatten_catalogue,
    format_fault,
    read_catalogue,
)
from egm.staff.page_texts import build_regulation_meter_name_text
from meters.names import METER_NAMES_BY_JURISDICTION
from meters.table import METER_BY_NAME, OCCURRENCE_METERS
from tools.audit.rules import RULES

SOURCES = Path(CATALOGUE_FOLDER).parent
NBSP = "\u00a0"


def list_placeholders(text):
    """Return the names in braces in a text."""
    return {name for _, name, _, _ in string.Formatter().parse(text) if name is not None}


@pytest.mark.requirement("C-18")
def test_both_catalogues_have_the_same_keys_and_placeholders():
    english, french = read_catalogue("en"), read_catalogue("fr")
    assert english.keys() == french.keys()
    assert {key: list_placeholders(text) for key, text in english.items()} == {
        key: list_placeholders(text) for key, text in french.items()
    }


@pytest.mark.requirement("C-18")
@pytest.mark.requirement("E-01")
def test_the_recall_page_and_the_screen_have_texts_for_the_same_settlements():
    texts = {key.removeprefix("felt.as_") for key in read_catalogue("en") if key.startswith("felt.as_")}
    assert texts == {name.replace(" ", "_") for name in SETTLED_RESULT_NAMES}


@pytest.mark.requirement("C-18")
def test_french_texts_have_typographic_apostrophes():
    assert [key for key, text in read_catalogue("fr").items() if "'" in text] == []


@pytest.mark.requirement("C-18")
def test_no_text_is_empty_and_french_is_not_english():
    english, french = read_catalogue("en"), read_catalogue("fr")
    assert all(text.strip() for text in (*english.values(), *french.values()))
    international = {
        "key.service",
        "decide.many",
        "felt.on",
        "felt.off",
        "felt.times",
        "felt.held_by",
        "key.volume",
        "tilt.code",
        "tilt.detail.cabinet_file_unusable",
        "meter.win",
        "service.column.participant",
        "service.column.points",
        "tournament.amount",
        "tournament.amount_one",
        "family.keno",
        "feature.multiplier",
        "feature.progressive",
        "help.kind",
        "door.other",
        "notice.other",
        "drawer.title",
        "help.page",
        "feature.bonus",
        "key.choose_less",
        "key.choose_more",
        "page.rows_back",
        "page.rows_on",
        "page.shift",
        "service.column.id",
        "service.sheet.signature",
        "reminder.minutes",
        "reminder.hours",
    }
    same = {key for key in english if english[key] == french[key]} - international
    assert same == set()


def test_every_text_that_the_source_asks_for_exists():
    texts = read_catalogue("en")
    requested_keys = set()
    for path in SOURCES.rglob("*.py"):
        requested_keys |= set(
            re.findall(r"""translate\(\s*["']([a-z_]+\.[a-z_0-9.]+)["']""", path.read_text("utf-8"))
        )
    assert len(requested_keys) > 40
    assert requested_keys - texts.keys() == set()


@pytest.mark.requirement("G-12:a", "E-08")
@pytest.mark.parametrize("language", ["en", "fr"])
def test_every_code_of_the_machine_has_a_text(language):
    texts = Texts(language)
    codes = [f"tilt.text.{code}" for code in SIGNIFICANCE_BY_FAULT if "*" not in code]
    codes += [f"notice.refused.{state}" for state in State]
    codes += [
        f"notice.refused.{get_refusal_code(guard)}"
        for rule in FEATURES.state_table
        if rule.refusal is RefusalHandling.REPORT
        for guard in rule.guards
    ]
    codes += [f"door.{door}" for door in DOORS]
    codes += [f"tilt.cleared_{clearer}" for clearer in ("self", "attendant", "technician", "memory_clear")]
    assert [code for code in codes if not texts.has_text(code)] == []


@pytest.mark.requirement("N-05")
@pytest.mark.parametrize(
    ("language", "cents", "form"),
    [
        ("en", 123450, "$1,234.50"),
        ("fr", 123450, f"1{NBSP}234,50{NBSP}$"),
        ("en", 5, "$0.05"),
        ("fr", 0, f"0,00{NBSP}$"),
        ("fr_CA", 99, f"0,99{NBSP}$"),
    ],
)
def test_money_is_formatted_for_each_language(language, cents, form):
    assert Texts(language).format_money(cents, "CAD") == form


def test_money_is_exact_far_beyond_what_a_float_holds():
    assert Texts("en").format_money(9_007_199_254_740_993_01, "CAD") == "$9,007,199,254,740,993.01"


@pytest.mark.requirement("N-01:b")
def test_the_clock_shows_the_venues_time_with_am_or_pm():
    montreal = timezone(timedelta(hours=-5))
    assert "8:05" in Texts("en", montreal).format_time_of_day("2026-11-21T01:05:00+00:00")
    assert "p.m." in Texts("en", montreal).format_time_of_day("2026-11-21T01:05:00Z")
    assert "a.m." in Texts("en", montreal).format_time_of_day("2026-11-21T13:05:00Z")
    assert Texts("fr", montreal).format_time_of_day("2026-11-21T13:05:00Z") == "08 h 05"
    assert Texts("fr", UTC).format_time_of_day("2026-11-21T13:05:00+00:00") == "13 h 05"


def test_a_missing_text_is_named():
    with pytest.raises(CatalogueError, match=r"texts of language en: no\.such: no such text"):
        Texts("en").translate("no.such")
    with pytest.raises(CatalogueError, match=r"status\.paying: cannot be filled"):
        Texts("en").translate("status.paying", other=1)
    with pytest.raises(CatalogueError, match="not ISO 8601"):
        Texts("en").format_time_of_day("noon")


def test_a_catalogue_that_cannot_be_read_is_named(tmp_path):
    (tmp_path / "en.toml").write_text("[broken", "utf-8")
    with pytest.raises(CatalogueError, match=r"en\.toml"):
        read_catalogue("en", tmp_path)
    assert flatten_catalogue({"a": {"b": "c"}}) == {"a.b": "c"}


def test_a_fault_without_a_text_names_its_device():
    assert format_fault(Texts("en"), "hopper.strange") == "Hopper failure"
    assert format_fault(Texts("en"), "strange") == "Fault"


@pytest.mark.requirement("Q-14")
@pytest.mark.parametrize("jurisdiction", ["quebec-casino", "quebec-vlt"])
def test_in_quebec_the_malfunction_clause_promises_the_refund(jurisdiction):
    """Ss. 94-95: no blanket "malfunction voids all"; the bet is returned, except to a player who causes the disruption."""
    defect = load_profile(jurisdiction).pay_out.defect_rule
    english, french = Texts("en"), Texts("fr")
    assert "your bet is returned" in english.translate(f"defect.{defect}")
    assert "Malfunction voids" not in english.translate(f"defect.{defect}")
    assert "disrupts" in english.translate(f"defect.rule_{defect}")
    assert "votre mise est remboursée" in french.translate(f"defect.{defect}")
    assert "la mise est remboursée" in french.translate(f"defect.rule_{defect}")
    assert "perturbe" in french.translate(f"defect.rule_{defect}")


@pytest.mark.requirement("G-12:a")
@pytest.mark.parametrize("language", ["en", "fr"])
def test_every_fault_that_stops_the_machine_says_what_where_and_who_clears_it(language):
    texts = Texts(language)
    codes = [
        code
        for code, event in SIGNIFICANCE_BY_FAULT.items()
        if event.effect in {EventEffect.STOP, EventEffect.HARD_STOP}
    ]
    named = [code for code in codes if "*" not in code]
    assert len(named) > 8
    texts_by_code = {code: format_fault(texts, code) for code in named}
    assert len(set(texts_by_code.values())) == len(texts_by_code)  # no two faults have the same text
    for code in named:
        assert texts_by_code[code] != texts.translate("tilt.text.other")
        assert texts.has_text(f"tilt.cleared_{get_fault_definition(code).cleared_by}")


@pytest.mark.requirement("E-08")
def test_every_journal_entry_and_every_meter_has_a_name():
    """No entry of the journal and no meter is shown by its key."""
    texts = Texts("fr")
    kinds = {rule.kind for rule in RULES if "{" not in rule.kind}
    assert len(kinds) > 150
    assert [kind for kind in sorted(kinds) if texts.format_code_text("entry", kind) == kind] == []
    assert [name for name in METER_BY_NAME if texts.format_code_text("meter_name", name) == name] == []
    assert [name for name in OCCURRENCE_METERS if texts.format_code_text("meter_name", name) == name] == []
    named = [build_regulation_meter_name_text(name, "us").value for name in METER_NAMES_BY_JURISDICTION["us"]]
    assert [name for name in named if texts.format_code_text("regulation_meter", name) == name] == []
