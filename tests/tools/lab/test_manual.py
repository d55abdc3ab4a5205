"""The manuals hold every fault, event, menu entry and form of the machine, in both languages."""

import pytest
from click.testing import CliRunner

from egm.app.features import MENU
from egm.kernel.faults import fault
from egm.people import Permission
from egm.people.roles import Role, permissions_of
from egm.screen.text import Texts
from meters.events import EVENTS
from tools.cli import main
from tools.lab.manual import codes


def printed(audience, language):
    said = CliRunner().invoke(main, ["manual", audience, "--language", language])
    assert said.exit_code == 0, said.output
    return said.output


def rows(page):
    """Every table row of the page, as cells."""
    return [
        tuple(c.strip() for c in line.strip("|").split(" | ")) for line in page.splitlines() if "|" in line
    ]


@pytest.mark.requirement("R-06")
@pytest.mark.parametrize("language", ["en", "fr"])
@pytest.mark.parametrize("audience", ["operator", "service"])
def test_every_fault_menu_entry_and_form_stands_in_the_manual(audience, language):
    texts, found = Texts(language), rows(printed(audience, language))
    chart = {row[0]: row for row in found if len(row) == 4}
    for line in EVENTS:
        if line.pattern.startswith("fault.raised:") and "*" not in line.pattern:
            assert line.pattern.removeprefix("fault.raised:") in chart
    for code in codes():
        assert chart[code][3] == texts.say(f"tilt.cleared_{fault(code).cleared_by}")
    entries = {row[1] for row in found if len(row) == 3}
    assert {texts.say(f"service.menu.{e.id}") for e in MENU.pages} <= entries
    for form in MENU.forms:
        row = chart[texts.say(f"form.{form.id}.title")]
        who = [role for role in Role if form.permission in permissions_of(role)]
        assert row[3] == ", ".join(texts.say(f"manual.role.{role.value}") for role in who)
        assert all(texts.say(f"form.{form.id}.{field.name}") in row[1] for field in form.fields)


@pytest.mark.requirement("R-06")
@pytest.mark.parametrize("language", ["en", "fr"])
def test_the_memory_clear_and_the_change_of_denomination_are_told_with_who_may(language):
    texts, page = Texts(language), printed("operator", language)
    clear = [role for role in Role if Permission.CLEAR_MEMORY in permissions_of(role)]
    assert f"({', '.join(texts.say(f'manual.role.{role.value}') for role in clear)}) " in page
    assert "`egm audit clear`" in page
    denomination = next(form for form in MENU.forms if form.id == "options_denomination")
    assert texts.say("form.options_denomination.title") in page
    for need in denomination.needs:
        assert texts.say(f"service.needs.{need.__name__}") in page


@pytest.mark.requirement("R-06")
@pytest.mark.parametrize("language", ["en", "fr"])
def test_the_service_manual_has_every_significant_event(language, tmp_path):
    found = {row[0]: row for row in rows(printed("service", language)) if len(row) == 4}
    for line in EVENTS:
        code = "-" if line.sas is None else f"{line.sas:02X}"
        assert found[line.pattern][3] == code
    out = tmp_path / "manual.md"
    assert CliRunner().invoke(main, ["manual", "service", "--out", str(out)]).exit_code == 0
    assert out.read_text(encoding="utf-8") == printed("service", "en")
