"""Each form of the service menu: the roles to which it is offered, its fields, and that all others are refused.

The table is written from the texts: permissions (Monaco's order, arts 20 to 24; by-law, ss. 94 and 95), and what is
recorded with each act. The rows of a feature of ``egm/features`` are in ``forms.toml`` in its folder of tests. A form
that is in neither table fails the test.
"""

import tomllib
from pathlib import Path

import pytest

from egm.app.features import FEATURES, build_menu
from egm.people import Role
from egm.people.roles import find_permissions
from egm.staff.form import FieldKind
from egm.testing.machine import MachineRig
from egm.testing.service_menu import STAFF_NUMBER_BY_ROLE, MenuUser

MENU = build_menu(FEATURES)
A, S, X, T, M = Role.ATTENDANT, Role.SUPERVISOR, Role.MECHANIC, Role.TECHNICIAN, Role.MANAGER
FLOOR, COUNT, SET_UP = (S, X, T, M), (S, M), (S, T, M)

#: Form -> its requirements, the roles that are offered it, and its fields (`?`: optional).
TABLE = {
    "hold": ("Q-21 J-16", FLOOR, "reason"),
    "release": ("Q-21 J-16", FLOOR, ""),
    "settle_faults": ("J-16", (T, M), "finding"),
    "clock": ("J-16", (T, M), "date"),
    "verify": ("A-14 J-16", (S, X, T, M, Role.INSPECTOR), ""),
    "file_signed": ("A-22 J-16", SET_UP, "reason"),
    "counters": ("J-16", SET_UP, "reason readings"),
    "restart": ("J-16", (T, M), ""),
    "unlock": ("J-16", (M,), "number reason"),
    "intervention": ("J-06:a J-07 Q-12", (X, T), "reason"),
    "intervention_end": ("J-06 J-07 Q-12", (X, T), "work parts?"),
    "collection": ("J-04 Q-12", COUNT, "reason"),
    "collection_end": ("J-04 Q-12", COUNT, "work"),
    "hopper_fill": ("G-08 Q-12", COUNT, "amount_cents"),
    "box_count": ("D-21 Q-12", COUNT, "box counted_cents"),
    "base_out": ("J-05 Q-12", COUNT, "base lock cashier reason"),
    "base_in": ("J-05 Q-12", COUNT, "base lock cashier"),
    "dispute": ("Q-04 Q-12", COUNT, "claim mechanic decision play_id?"),
    "incident": ("Q-13 Q-12", (M,), "what judgement informed officer"),
    "exclusion": ("Q-07 Q-12", COUNT, "who reason"),
    "level_move": ("I-17 J-16", SET_UP, "source target"),
    "prize_ruling": ("I-17 J-16", COUNT, "decision reason"),
    "handpay": ("Q-01 Q-03 Q-12", (A, S, M), "method name? document? number?"),
    "complement": ("Q-05 F-17", COUNT, "amount_cents reason play_id? slip?"),
    "orphan_credits": ("Q-06 Q-07", COUNT, "place"),
    "orphan_handpay": ("Q-06 Q-07", COUNT, "place"),
    "orphan_ticket": ("Q-06 Q-07 H-13", COUNT, "number place"),
    "forfeit_prize": ("F-15", COUNT, "reason"),
    "forfeit_credits": ("F-15", COUNT, "amount_cents reason"),
    "prize_cash": ("Q-12", (A, S, M), ""),
    "machine_check": ("Q-02", COUNT, "remark?"),
    "forfeit_game": ("F-15 Q-14", COUNT, "reason"),
    "refund_game": ("F-14 Q-14", COUNT, "reason"),
}
FEATURE_FORMS = [*Path(__file__).parents[1].glob("features/*/forms.toml")]
for _file in FEATURE_FORMS:
    for _form, _row in tomllib.loads(_file.read_text(encoding="utf-8")).items():
        TABLE[_form] = (_row["requirements"], tuple(map(Role, _row["roles"])), _row["fields"])
#: Forms on a page that is offered instead of them: the page, and the roles to which it is offered.
ON_PAGES = {
    **dict.fromkeys(
        ("options_game", "options_denomination", "options_bet_limit", "options_bet_minimum"),
        ("options", SET_UP),
    ),
    **dict.fromkeys(("link_request", "link_answer", "link_enrol"), ("link", SET_UP)),
    **dict.fromkeys(("disputed", "disputed_ticket"), ("disputed", COUNT)),
}
#: Forms that take money or a prize from a player: two people, each with the permission.
BY_TWO = {"prize_ruling", "link_enrol", "forfeit_prize", "forfeit_credits", "forfeit_game", "refund_game"}
#: Forms for which the venue's register has the person; anybody may open the page.
RECORDED = {"dispute": "dispute.decided", "exclusion": "exclusion.noted"}


@pytest.fixture(scope="module")
def offered(tmp_path_factory):
    """The forms that the menu of a machine in Monaco offers to each role."""
    found = {}
    for role in Role:
        rig = MachineRig(tmp_path_factory.mktemp(role.value), profile="monaco").boot()
        found[role] = MenuUser(rig).sign_in(role).collect_all_actions()
        rig.close()
    return found


def test_every_form_is_in_the_table():
    forms, rows = {form.id for form in MENU.forms}, TABLE.keys() | ON_PAGES.keys()
    assert forms == rows, (
        f"write the requirements, roles and fields of {sorted(forms - rows)} into TABLE of this file or forms.toml of "
        f"the feature's folder of tests, or into ON_PAGES if a page opens the form; remove {sorted(rows - forms)}"
    )


def cases():
    for form, (rows, roles, fields) in TABLE.items():
        yield pytest.param(form, roles, fields, id=form, marks=pytest.mark.requirement(*rows.split()))


@pytest.mark.parametrize(("name", "roles", "fields"), [*cases()])
def test_a_form_is_offered_to_its_roles_with_the_fields_to_record(offered, name, roles, fields):
    assert {role for role in Role if f"form:{name}" in offered[role]} == set(roles)
    (form,) = (form for form in MENU.forms if form.id == name)
    field_text = " ".join(field.name if field.is_required else f"{field.name}?" for field in form.fields)
    assert field_text == fields
    assert form.person_count == (2 if name in BY_TWO else 1)


@pytest.mark.requirement("A-22", "J-16")
@pytest.mark.parametrize("name", ON_PAGES)
def test_a_page_with_forms_is_offered_to_its_roles(offered, name):
    page, roles = ON_PAGES[name]
    assert {role for role in Role if page in offered[role]} == set(roles)


@pytest.mark.requirement("J-15", "J-16", "K-14", "Q-12", "Q-04", "Q-07")
@pytest.mark.parametrize("role", Role)
@pytest.mark.parametrize(
    "name", ["dispute", "exclusion", "complement", "orphan_ticket", "base_out", "hopper_fill"]
)
def test_without_permission_a_form_is_refused_even_past_the_menu(tmp_path, name, role):
    rig = MachineRig(tmp_path, profile="monaco").boot().insert(500)
    MenuUser(rig).sign_in(role)
    (form,) = (form for form in MENU.forms if form.id == name)
    numbers = {FieldKind.NUMBER, FieldKind.AMOUNT}
    values = {field.name: 700 if field.kind in numbers else "x" for field in form.fields}
    before = rig.journal.meters().values
    number = STAFF_NUMBER_BY_ROLE[role]
    rig.engine.handle(form.event, form=name, person=number, persons=(number,), **values, **form.preset_values)
    if role in TABLE[name][1]:
        assert rig.notice != "refused.authorised"
        if name in RECORDED:
            (record,) = rig.records(RECORDED[name])
            assert record["persons"] == [number]
            assert record["machine"] == rig.machine.identity.serial
    else:
        assert rig.notice == "refused.authorised"
        assert rig.journal.meters().values == before
    rig.close()


@pytest.mark.requirement("K-14", "J-16")
def test_an_inspector_only_reads(offered, tmp_path):
    """The regulator's credentials open pages and request a software check; no other form is offered or opened."""
    assert all(permission.value.startswith("read_") for permission in find_permissions(Role.INSPECTOR))
    reading = offered[Role.INSPECTOR]
    assert {action for action in reading if action.startswith("form:")} == {"form:verify"}
    others = {action for role in Role for action in offered[role]} - reading
    assert {"form:hold", "form:clock", "form:handpay", "options", "link", "disputed", "devices"} <= others
    rig = MachineRig(tmp_path, profile="monaco").boot().insert(500)
    menu = MenuUser(rig).sign_in(Role.INSPECTOR)
    home, before = menu.page.title, rig.journal.meters().values
    for action in sorted(others):
        menu.touch(action, page=menu.page.id)
        assert menu.page.title == home, action
    assert (rig.journal.meters().values, rig.credit_cents) == (before, 500)
    rig.close()
