"""The inventory entry and the technical sheet: their content, every change, and a permanent base number."""

import asyncio
import hashlib
import json
import re
import shutil
from dataclasses import FrozenInstanceError, replace
from datetime import date
from fractions import Fraction

import pytest
from click.testing import CliRunner

from egm.app.features import SERVICE_MENU
from egm.app.process import MachineProcess
from egm.config.cabinet_file import DeviceTable, GameTable, InventoryTable, StateFolder, load_cabinet
from egm.errors import LocalError, OperatorError
from egm.kernel.events import EventError, EventType
from egm.kernel.games import InstalledGames
from egm.people import Role
from egm.play.installed_games import CertificateRules, admit_games
from egm.profiles import load_profile
from egm.screen.text import Texts
from egm.staff.form import FieldKind
from egm.staff.inventory import INVENTORY_ENTRY_KIND, read_technical_sheet, record_inventory_change
from egm.staff.keys import StaffKey
from egm.testing.machine import DEFAULT_GAME_ID, MachineRig, StoppedClock
from egm.testing.service_menu import STAFF_NUMBER_BY_ROLE, MenuUser, translate_text
from egm.verify.certificate import Certificate
from meters import Journal, JournalDamaged
from paytables.definition import read_source
from tools.cli import main
from tools.lab.certification import bundle

#: Another game that is certified in seconds: with three bets.
OTHER = "maple-classic-92"


def inventory(tmp_path, **changes):
    photograph = tmp_path / "machine.jpg"
    photograph.write_bytes(b"a picture")
    facts = {
        "kind": "upright",
        "manufacturer": "Works",
        "model": "One",
        "made": date(2026, 1, 2),
        "base_number": "B-12",
        "photograph": photograph,
        "certified_on": {DEFAULT_GAME_ID: date(2026, 2, 3)},
    }
    return InventoryTable(**{**facts, **changes})


@pytest.fixture
def rig(tmp_path):
    rig = MachineRig(tmp_path / "state").boot()
    rig.machine.component(InstalledGames).lowest_return_by_game = {DEFAULT_GAME_ID: Fraction(8737, 10000)}
    record_inventory_change(rig.machine, inventory(tmp_path))
    yield rig
    rig.close()


@pytest.mark.requirement("Q-08", "J-15", "R-01")
def test_the_inventory_entry_has_every_field_of_the_order(rig):
    now = read_technical_sheet(rig.journal).current_values
    assert (now["kind"], now["serial"], now["operator_number"], now["base_number"]) == (
        "upright",
        "TEST-1",
        "7",
        "B-12",
    )
    assert (now["site"], now["location"]) == ("test", "floor")
    assert now["photograph"] == f"machine.jpg {hashlib.sha256(b'a picture').hexdigest()}"
    (game,) = now["games"]
    assert (game["game"], game["return"], game["certified_on"]) == (DEFAULT_GAME_ID, "87.3700", "2026-02-03")


@pytest.mark.requirement("O-02", "Q-08", "Q-10:b")
def test_a_game_between_players_states_its_levy_instead_of_its_return(tmp_path):
    chemin = "monaco-chemin-de-fer"
    rig = MachineRig(tmp_path / "state", games=(chemin,), profile="monaco").boot()
    rig.machine.component(InstalledGames).lowest_return_by_game = {chemin: Fraction(9876, 10000)}
    record_inventory_change(rig.machine, inventory(tmp_path))
    sheet = read_technical_sheet(rig.journal)
    (game,) = sheet.current_values["games"]
    assert (game["return"], game["levy"]) == ("", "5.0000")
    (row,) = sheet.build_tables()[1].rows
    assert translate_text(row.cells[1], "en") == "levy of 5.0000% on stakes (game certified -)"
    assert (
        translate_text(row.cells[1], "fr") == "prélèvement de 5,0000\u00a0% sur les mises (jeu certifié le -)"
    )
    version = rig.machine.games[chemin].version
    assert f"{chemin}: {version}, levy 5.0000 %, -" in [change for _, change in sheet.changes]
    rig.close()
    house = CliRunner().invoke(main, ["inventory", "house", str(tmp_path / "state"), "--json"])
    (machine,) = json.loads(house.output)
    assert machine["games"] == [f"{chemin} levy 5.0000 % (-)"]


@pytest.mark.requirement("Q-16", "Q-17")
def test_every_move_and_change_of_return_stays_on_the_sheet(rig, tmp_path):
    before = rig.journal.sequence
    record_inventory_change(rig.machine, inventory(tmp_path))
    assert rig.journal.sequence == before  # nothing new, nothing written
    record_inventory_change(rig.machine, inventory(tmp_path, location="workshop"))
    moved_entry = rig.records("inventory.changed")[-1]["after"]  # a move by itself
    assert [moved_entry[name] for name in ("location", "serial", "operator_number", "base_number")] == [
        "workshop", "TEST-1", "7", "B-12",
    ]  # fmt: skip
    moved = inventory(tmp_path, location="workshop", certified_on={DEFAULT_GAME_ID: date(2026, 5, 6)})
    record_inventory_change(rig.machine, moved)
    sheet = read_technical_sheet(rig.journal)
    sheet_changes = sheet.changes
    assert len(sheet.build_tables()[2].rows) == len(sheet_changes) > 3
    changes = [change for _, change in sheet_changes]
    move = changes.index("location: floor -> workshop")
    assert sheet_changes[move][0] == rig.clock.now().isoformat()
    assert (
        f"{DEFAULT_GAME_ID}: {rig.machine.games[DEFAULT_GAME_ID].version}, 87.3700 %, 2026-05-06" in changes
    )


@pytest.mark.requirement("Q-17")
def test_added_and_removed_games_stay_on_the_technical_sheet(rig, tmp_path):
    rig.close()
    later = MachineRig(tmp_path / "state", games=(OTHER,)).boot()
    later.machine.component(InstalledGames).lowest_return_by_game = {OTHER: Fraction(9214, 10000)}
    record_inventory_change(later.machine, inventory(tmp_path))
    changes = [change for _, change in read_technical_sheet(later.journal).changes]
    version = later.machine.games[OTHER].version
    assert changes[-2:] == [f"{OTHER}: {version}, 92.1400 %, -", f"{DEFAULT_GAME_ID}: -"]
    later.close()


@pytest.mark.requirement("K-01", "Q-09")
def test_a_base_number_is_fixed_for_good(rig, tmp_path):
    with pytest.raises(OperatorError, match=r"inventory\.base_number: 'B-13'; this machine's base .*'B-12'"):
        record_inventory_change(rig.machine, inventory(tmp_path, base_number="B-13"))
    assert len(rig.records("inventory.changed")) == 1


@pytest.mark.requirement("Q-08", "Q-09", "J-05")
def test_the_venue_has_one_list_of_all_its_bases_and_machines(tmp_path):
    def make_machine(name, base, serial="TEST-1", number="7"):
        folder = tmp_path / name
        rig = MachineRig(folder, profile="monaco").boot()
        rig.machine.identity = replace(rig.machine.identity, serial=serial, operator_number=number)
        record_inventory_change(rig.machine, inventory(tmp_path, base_number=base))
        return rig, folder

    first, first_part = make_machine("first", "B-12")
    second, two = make_machine("second", "B-13", serial="TEST-2", number="8")
    menu = MenuUser(second).sign_in(Role.SUPERVISOR).open_and_fill_form("collection", "weekly")
    opened = second.machine.memory.get(StaffKey.INTERVENTION)
    second.engine.handle(EventType.INTERVENTION_READ_BY_MONITORING, id=opened["id"])
    menu.home().open_and_fill_form("base_out", "B-13", "lock 41", "H. Main", "hinge bent").touch("leave")
    first.close()
    second.close()

    def egm(*words):
        return CliRunner().invoke(main, [str(word) for word in words])

    exported = tmp_path / "second.jsonl"
    assert egm("audit", "export", exported, "--state", two).exit_code == 0
    result = egm("inventory", "house", first_part, exported, "--json")
    assert result.exit_code == 0, result.output
    here, away = json.loads(result.output)
    assert (here["base_number"], here["base"], here["serial"], here["location"]) == (
        "B-12", "in place", "TEST-1", "floor",
    )  # fmt: skip
    assert (away["base_number"], away["serial"], away["operator_number"]) == ("B-13", "TEST-2", "8")
    assert away["base"].startswith("out of service since 2026-01-01")
    assert "H. Main" in away["base"]

    third, three = make_machine("third", "B-12", serial="TEST-3", number="9")
    third.close()
    twice = egm("inventory", "house", first_part, three)
    assert twice.exit_code == 1
    assert (
        f"base number B-12 is used by {first_part} and by {three}; expected a different one for each"
        in twice.output
    )
    nothing = tmp_path / "nothing"
    MachineRig(nothing).boot().close()
    assert "no inventory entry is recorded yet" in egm("inventory", "house", nothing).output


@pytest.mark.requirement("Q-09")
def test_a_returned_base_is_in_place_in_the_list_of_bases(tmp_path):
    rig = MachineRig(tmp_path / "state", profile="monaco").boot()
    record_inventory_change(rig.machine, inventory(tmp_path))
    menu = MenuUser(rig).sign_in(Role.SUPERVISOR).open_and_fill_form("collection", "weekly")
    opened = rig.machine.memory.get(StaffKey.INTERVENTION)
    rig.engine.handle(EventType.INTERVENTION_READ_BY_MONITORING, id=opened["id"])
    menu.home().open_and_fill_form("base_out", "B-12", "lock 41", "H. Main", "hinge bent")
    menu.home().open_and_fill_form("base_in", "B-12", "lock 42", "H. Main").touch("leave")
    rig.close()
    house = CliRunner().invoke(main, ["inventory", "house", str(tmp_path / "state"), "--json"])
    (machine,) = json.loads(house.output)
    assert (machine["base_number"], machine["base"]) == ("B-12", "in place")


def test_a_missing_photograph_is_named(rig, tmp_path):
    with pytest.raises(OperatorError, match=r"inventory\.photograph: .*gone\.jpg"):
        record_inventory_change(rig.machine, inventory(tmp_path, photograph=tmp_path / "gone.jpg"))


@pytest.mark.requirement("Q-10:a", "Q-10:b", "Q-10:c", "J-12")
def test_the_sheet_is_shown_and_exported_twice(rig, tmp_path):
    menu = MenuUser(rig).sign_in(Role.INSPECTOR).touch("inventory")
    characteristics = {
        "Kind": "upright",
        "Manufacturer": "Works",
        "Model": "One",
        "Made on": "2026-01-02",
        "Manufacturer’s serial": "TEST-1",
        "Operator’s number": "7",
        "Cabinet stand number": "B-12",
        "Venue": "test",
        "Location": "floor",
        "Photograph": f"machine.jpg {hashlib.sha256(b'a picture').hexdigest()}",
        "Jurisdiction rules": "generic",
    }
    assert characteristics.items() <= menu.read_rows().items()
    rig.close()

    def egm(*words):
        return CliRunner().invoke(main, ["inventory", *words, "--state", str(tmp_path / "state")])

    assert json.loads(egm("show", "--json").output)["now"]["base_number"] == "B-12"
    assert "Numéro du socle de l’appareil" in egm("show", "--language", "fr").output
    shown = egm("show").output
    returned = Texts("en").translate("service.inventory.return", percent="87.3700", date="2026-02-03")
    assert returned in shown  # beside the game, not only among the changes
    first, second = tmp_path / "direction.pdf", tmp_path / "secretariat.pdf"
    result = egm("export", "--out", str(first), "--copy", str(second))
    assert result.exit_code == 0, result.output
    assert first.read_bytes() == second.read_bytes()
    assert hashlib.sha256(first.read_bytes()).hexdigest() in result.output
    for fact in (
        "upright",
        "Works",
        "One",
        "2026-01-02",
        "TEST-1",
        "B-12",
        DEFAULT_GAME_ID,
        "87.3700",
        "2026-02-03",
    ):
        assert fact in shown
    assert egm("export", "--out", str(first), "--copy", str(tmp_path)).exit_code != 0


def test_a_machine_without_an_entry_says_so(tmp_path):
    MachineRig(tmp_path).boot().close()
    run = CliRunner().invoke(main, ["inventory", "show", "--state", str(tmp_path)])
    assert (run.exit_code, "no inventory entry yet" in run.output) == (1, True)


# ---------------------------------------------------------------------------------------------- certificates
@pytest.fixture(scope="module")
def maker(tmp_path_factory):
    """A manufacturer's folder: certificates of one game for Monaco and one for Québec, and the signing key."""
    folder = tmp_path_factory.mktemp("maker")
    for jurisdiction, game in (("monaco", DEFAULT_GAME_ID), ("quebec-casino", OTHER)):
        args = [
            "certify",
            game,
            "--jurisdiction",
            jurisdiction,
            "--games-played",
            "200",
            "--out",
            str(folder),
        ]
        result = CliRunner().invoke(main, args)
        assert result.exit_code == 0, result.output
    return folder


def key_of(folder):
    return (folder / DEFAULT_GAME_ID / "signer.pub").read_text().strip()


@pytest.mark.requirement("R-01", "O-03", "Q-08")
def test_the_inventory_has_return_and_date_from_the_makers_certificate(maker, rig, tmp_path):
    slot = GameTable(game=DEFAULT_GAME_ID, certificate=maker / DEFAULT_GAME_ID)
    admitted, refusals = admit_games(
        (slot,), load_profile("monaco"), certificate_rules=CertificateRules(key_of(maker), True)
    )
    assert not refusals
    resident = admitted[DEFAULT_GAME_ID]
    manifest = json.loads((maker / DEFAULT_GAME_ID / "manifest.json").read_text())
    assert resident.certificate.lowest_return == resident.lowest_return == Fraction(manifest["least_return"])
    record_inventory_change(
        rig.machine, inventory(tmp_path), {DEFAULT_GAME_ID: resident.certificate}, must_be_complete=True
    )
    (game,) = read_technical_sheet(rig.journal).current_values["games"]
    assert game["certified_on"] == manifest["made_utc"][:10]  # not the date typed into the cabinet file
    assert (game["certified_by"], game["digest"]) == (key_of(maker), manifest["digest_sha256"])


@pytest.mark.requirement("R-01", "O-03", "Q-08")
def test_the_inventory_has_the_date_and_the_signer_of_a_games_certificate(rig, tmp_path):
    digest, signed_on = rig.machine.games[DEFAULT_GAME_ID].digest, date(2026, 1, 9)
    certificate = Certificate(
        game=DEFAULT_GAME_ID,
        digest=digest,
        jurisdiction="monaco",
        lowest_return=Fraction(8737, 10000),
        certified_on=signed_on,
        signer_key_hex="ab" * 32,
    )
    record_inventory_change(rig.machine, inventory(tmp_path), {DEFAULT_GAME_ID: certificate})
    (game,) = read_technical_sheet(rig.journal).current_values["games"]
    assert (game["certified_on"], game["certified_by"]) == ("2026-01-09", "ab" * 32)
    assert game["digest"] == digest


@pytest.mark.requirement("R-01", "O-03", "C-26")
@pytest.mark.parametrize(
    ("wrong", "reason"),
    [
        ("none", f"{DEFAULT_GAME_ID}: has no certificate, but the profile monaco requires one"),
        ("key", "is not the laboratory's key"),
        ("no key", "machine.certifier names no key"),
        ("game", f"its certificate is of {OTHER}"),
        ("definition", f"its certificate is of {DEFAULT_GAME_ID} with digest"),
        ("place", "is certified for quebec-casino, not for monaco"),
        ("altered", "par.json: differs from what was signed"),
        ("forged", "manifest.sig: is not the signature of manifest.json"),
        ("return", "is certified with a return of 99.0000 %; this machine computes 87.3770 %"),
        ("lower return", "is certified with a return of 80.0000 %; this machine computes 87.3770 %"),
        ("failed", "not certified"),
    ],
)
def test_a_game_without_its_makers_certificate_is_not_offered(maker, tmp_path, wrong, reason):
    name = OTHER if wrong in {"game", "place"} else DEFAULT_GAME_ID
    folder = tmp_path / name
    shutil.copytree(maker / name, folder)
    if wrong == "altered":
        (folder / "par.json").write_text("{}")
    if wrong == "forged":  # by somebody who has not the maker's key
        signed = json.loads((folder / "manifest.json").read_text())
        (folder / "manifest.json").write_text(json.dumps(signed | {"made_utc": "2020-01-01T00:00:00+00:00"}))
    facts = {
        "return": {"least_return": "99/100"},
        "lower return": {"least_return": "4/5"},
        "failed": {"certified": False},
    }.get(wrong)
    if facts is not None:  # signed again, by the very key
        manifest = json.loads((folder / "manifest.json").read_text())
        files = {name: (folder / name).read_bytes() for name in manifest.pop("files")}
        bundle.write_bundle(
            folder,
            files,
            {**manifest, **facts},
            bundle.load_laboratory_key(bundle.find_key_path(None, maker)),
        )
    played = OTHER if wrong == "place" else DEFAULT_GAME_ID
    if wrong == "definition":  # the same game of the same version and return, of another day
        changed, text = tmp_path / "changed.toml", read_source(DEFAULT_GAME_ID).path.read_text("utf-8")
        changed.write_text(re.sub("(?m)^date = .*", "date = 2020-01-01", text, count=1), encoding="utf-8")
        played = str(changed)
    slot = GameTable(game=played, certificate=None if wrong == "none" else folder)
    key = {"key": "00" * 32, "no key": ""}.get(wrong, key_of(maker))
    admitted, (refusal,) = admit_games(
        (slot,),
        load_profile("monaco"),
        certificate_rules=CertificateRules(key, are_certificates_required=True),
    )
    assert not admitted
    assert reason in refusal.reason


@pytest.mark.requirement("Q-08", "Q-09")
@pytest.mark.parametrize("field", ["kind", "manufacturer", "model", "base_number", "photograph"])
def test_incomplete_inventory_is_rejected_where_the_profile_requires_all_fields(rig, tmp_path, field):
    lacking = inventory(tmp_path, **{field: None if field == "photograph" else ""})
    with pytest.raises(
        OperatorError, match=f"inventory: {field}: must be given, because the profile generic requires"
    ):
        record_inventory_change(
            MachineRig(tmp_path / "another").boot().machine, lacking, must_be_complete=True
        )


def start_machine(folder, **machine):
    """Start a machine in Monaco with one real device, as its process does."""
    default = load_cabinet()
    file = default.model_copy(
        update={
            "machine": default.machine.model_copy(update={"profile": "monaco", **machine}),
            "games": (GameTable(game=DEFAULT_GAME_ID),),
            "devices": {"printer": DeviceTable(protocol="tcl", port="/dev/not-there")},
        }
    )
    state = StateFolder(folder)
    state.create_private_folders()
    asyncio.run(MachineProcess(state, file, StoppedClock()).run())


@pytest.mark.requirement("R-01", "O-03", "Q-08")
def test_a_machine_in_monaco_requires_the_whole_entry_and_every_certificate(tmp_path, monkeypatch):

    async def not_yet(_):
        """Its devices and people are another test's."""

    monkeypatch.setattr(MachineProcess, "_run_until_stopped", not_yet)
    with pytest.raises(OperatorError, match="inventory: kind, manufacturer, model, base_number, photo"):
        start_machine(tmp_path / "first")
    with Journal.open(tmp_path / "first", now=StoppedClock().now) as journal:
        assert not list(journal.entries(INVENTORY_ENTRY_KIND))
    monkeypatch.setattr("egm.app.process.record_inventory_change", lambda *_, **__: None)
    start_machine(tmp_path / "second")
    with Journal.open(tmp_path / "second", now=StoppedClock().now) as journal:
        (refusal,) = [entry.record for entry in journal.entries("game.refused")]
    assert refusal["game"] == DEFAULT_GAME_ID
    assert f"{DEFAULT_GAME_ID}: has no certificate" in refusal["reason"]


# ---------------------------------------------------------------------------------------------- identity
@pytest.mark.requirement("K-01")
def test_no_menu_option_or_host_changes_the_machines_identity(rig, tmp_path):
    identity, before = rig.machine.identity, read_technical_sheet(rig.journal).current_values
    with pytest.raises(FrozenInstanceError):
        identity.serial = "ANOTHER"
    field_names = {field.name for row in SERVICE_MENU.forms for field in row.fields}
    assert not field_names & {"serial", "operator_number", "site", "machine_id"}
    forged = {"serial": "ANOTHER", "operator_number": "8", "machine": "ANOTHER", "identity": "ANOTHER"}
    with pytest.raises(EventError, match=r"disabled: (serial|operator_number|machine|identity) is"):
        rig.engine.handle(EventType.MACHINE_DISABLED, source="host:main", reason="x", **forged)
    rig.engine.handle(EventType.MACHINE_DISABLED, source="host:main", reason="x")
    menu = MenuUser(rig).sign_in(Role.MANAGER)
    menu.open_and_fill_form("release")
    number = STAFF_NUMBER_BY_ROLE[Role.MANAGER]
    both = {"person": number, "persons": (number, STAFF_NUMBER_BY_ROLE[Role.SUPERVISOR])}
    for row in SERVICE_MENU.forms:  # a form's event carries its own fields and no others
        if row.event is not EventType.RESTART:
            numbers = {FieldKind.NUMBER, FieldKind.AMOUNT}
            texts = {f.name: 1 if f.kind in numbers else (*f.choices, "1")[0] for f in row.fields}
            filled = {"form": row.id, **texts, **both, **row.preset_values}
            with pytest.raises(EventError, match="a field that is not known"):
                rig.engine.handle(row.event, **filled, **forged)
            rig.engine.handle(row.event, **filled)
    record_inventory_change(rig.machine, inventory(tmp_path))
    assert rig.machine.identity == identity
    assert read_technical_sheet(rig.journal).current_values == before


@pytest.mark.requirement("K-01", "A-23")
@pytest.mark.parametrize("labelled", [True, False])
def test_another_machines_journal_is_not_continued(tmp_path, monkeypatch, labelled):
    monkeypatch.setattr(
        MachineProcess, "_run_until_stopped", lambda _: asyncio.sleep(0)
    )  # it starts, but cannot be used any more
    state = StateFolder(tmp_path)
    state.create_private_folders()
    Journal.open(tmp_path, now=StoppedClock().now, machine_id="EGM-1").close()
    for label in [] if labelled else [*tmp_path.rglob("medium.json")]:  # the journal names its machine too
        label.unlink()
    default = load_cabinet()
    file = default.model_copy(update={"machine": default.machine.model_copy(update={"serial": "EGM-2"})})
    with pytest.raises((OperatorError, JournalDamaged, LocalError), match="EGM-1"):
        asyncio.run(MachineProcess(state, file, StoppedClock()).run())
