"""The cabinet file: written with the meaning of its keys, and checked with line and key in each message."""

import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import jsonschema
import pytest
from click.testing import CliRunner

from egm.app.preflight import iter_preflight_mistakes
from egm.config.cabinet_file import CabinetFile, load_cabinet
from egm.config.computer_checks import find_missing_ports
from egm.config.mistakes import Consequence, TomlLineNumbers, parse_key_path, read_toml
from egm.config.schema import build_schema, iter_cabinet_file_tables
from egm.errors import OperatorError
from egm.profiles import list_profile_ids
from paytables import load_game
from tools.cli import main

MACHINE = """\
[machine]
serial = "ABC-1"
operator_number = "7"
profile = "generic"
site = "Chez Lise"
"""
GOOD = f"""{MACHINE}
[[games]]
game = "maple-classic"

[devices.bill]
protocol = "id003"
"""


#: A board at the device's position with an attendant's key, which hand-pays require.
KEYS = '[devices.io]\nprotocol = "ioboard"\n'


def mistakes(text):
    return [str(mistake) for mistake in read_toml(text, CabinetFile)[1]]


#: Change of a valid file -> line, key and meaning of the message.
MISTAKES = [
    ('site = "', 'sitee = "', "line 5: machine.sitee: there is no such key; did you mean site?"),
    ("[devices.bill]", "[device.bill]", "line 10: device: there is no such key; did you mean devices?"),
    ("game = ", "gane = ", r"line 8: games\[1\].gane: there is no such key; did you mean game?"),
    ('serial = "ABC-1"', 'serial = "abc"', r"line 2: machine.serial: 'abc' does not fit the pattern \^\[A-Z0-9-\]\{1,24\}\$: The man"),
    ('"id003"', '"id03"', r"line 11: devices.bill.protocol: 'id03' is not a known device protocol; did you mean id003\? \(allowed: id003, "),
    ('"id003"', '"id003"\nposition = 2', "line 12: devices.bill.position: there is no position 2: machine.positions is 1"),
    ('"id003"', '"id003"\nposition = "1"', "line 12: devices.bill.position: must be a whole number, not '1'"),
    ('"id003"', '"tcl"\nvalues_cents = [500]', "line 12: devices.bill.values_cents: a ticket_printer accepts no money: remove this key"),
    ('site = "Chez Lise"', 'site = "Chez\\u0007 Lise"', r"line 5: machine.site: has the control character U\+0007 as character 5"),
    ('site = "Chez Lise"', 'site = "Chez"\naddress = """12\nGasp"""', "line 6: machine.address: has the control character"),
    ('site = "Chez Lise"', 'site = "Chez\\u202eesiL"', r"line 5: machine.site: has the control character U\+202E as character 5"),
    ('"id003"', '"id003"\n[inventory]\nmodel = "x\\u001b[2J"', "line 13: inventory.model: has the control character"),
    ('"id003"', '"id003"\n[metrics]\nhosts = ["a", "b\\u0000"]', r"line 13: metrics.hosts\[2\]: has the control character"),
    ('"id003"', '"id003"\nvalues_cents = [0, 0]', "line 12: devices.bill.values_cents: every channel is empty"),
    ('"id003"', '"id003"\nvalues_cents = [500, 0, 500]', "line 12: devices.bill.values_cents: a value is listed twice"),
    ('"id003"', '"id003"\nvalues_cents = [1, 2, 3, 4, 5, 6, 7, 8, 9]', "line 12: devices.bill.values_cents: lists 9 channels, but the device has 8"),
    ('"id003"', '"id003"\nport = "/dev/a"\n[devices.io]\nprotocol = "ioboard"\nport = "/dev/a"', "line 15: devices.io.port: /dev/a is already used by devices.bill"),
    ('"id003"', '"id003"\nport = "/dev/a"\n[sas.main]\nport = "/dev/../dev/a"', "line 14: sas.main.port: /dev/../dev/a is already used by devices.bill"),
    ('"id003"', '"id003"\nport = "/dev/a"\n[gat]\nport = "/dev/a"', "line 14: gat.port: /dev/a is already used by devices.bill"),
    ('"id003"', '"cctalk_bill"\nport = "/dev/a"\n[devices.io]\nprotocol = "ioboard"\nport = "/dev/a"', "line 15: devices.io.port: /dev/a is already used by devices.bill"),
    ('"id003"', '"id003"\n[devices.second]\nprotocol = "ebds"', "line 12: devices.second: position 1 already has a bill acceptor, devices.bill; it can have one"),
    ('"id003"', '"id003"\n[inventory]\nlocation = "flor"', r"line 13: inventory.location: 'flor' is not allowed; did you mean floor\? \(allowed: floor, store, workshop\)"),
    ('"id003"', '"id003"\n[sas.main]\naddress = 200', "line 13: sas.main.address: must be less than or equal to 127, not 200"),
    ('"id003"', '"id003"\n[host]\ntransfers = true', "line 12: host.line: a host handles money, so the name of its SAS line must be given"),
    ('"id003"', '"id003"\n[sas.one]\n[host]\ntransfers = true\nline = "on"', "line 15: host.line: there is no SAS line 'on' in this file; did you mean one?"),
    ('site = "Chez Lise"', 'site = "x"\ntime_zone = "Quebec"', "line 6: machine.time_zone: 'Quebec' is not a time zone of this computer"),
    ('site = "Chez Lise"\n', "", "line 1: machine.site: must be given: The venue's name, as printed on its tickets"),
    ("[[games]]", "[[games]", "line 7: not TOML: "),
    ('game = "maple-classic"', 'denominations_cents = [\n 5,\n "x",\n]', r"line 8: games\[1\].denominations_cents\[2\]: must be a whole number, not 'x'"),
]  # fmt: skip


@pytest.mark.parametrize(("old", "new", "expected_pattern"), MISTAKES)
def test_file_errors_name_line_key_suggestion_and_allowed_values(old, new, expected_pattern, tmp_path):
    assert mistakes(GOOD) == []
    assert GOOD.count(old) >= 1
    text = GOOD.replace(old, new, 1)
    mistake_lines = mistakes(text)
    assert [line for line in mistake_lines if re.match(expected_pattern, line)], mistake_lines
    file = tmp_path / "cabinet.toml"
    file.write_text(text)
    with pytest.raises(OperatorError, match=re.escape(f"cabinet file {file}: ")):
        load_cabinet(file)
    checked = CliRunner().invoke(main, ["cabinet", "check", str(file)])
    assert checked.exit_code == 1
    run = CliRunner().invoke(main, ["run", "--cabinet", str(file), "--state", str(tmp_path / "state")])
    assert run.exit_code == 1
    assert re.search(expected_pattern, run.output)


def test_all_mistakes_are_reported_at_once_in_the_order_of_the_lines():
    text = GOOD.replace("site =", "sitee =").replace("[devices.bill]", "[device.bill]").replace("ABC-1", "?")
    lines = [int(re.match(r"line (\d+)", line)[1]) for line in mistakes(text)]
    assert lines == [2, 5, 10]


def test_line_numbers_are_right_in_every_toml_notation():
    text = """\
top = 1
[a."b c"]
long = \"\"\"
x = 5
\"\"\"
list = [
  1,   # one
  { inner = 2 },
]
d.e = 3
[[t]]
k = 1
[[t]]
k = 2
[t.sub]
m = 1
[[t.u]]
n = 1
[[t.u]]
n = 2
"""
    assert tomllib.loads(text)["t"][1]["u"][1]["n"] == 2
    lines = TomlLineNumbers(text)
    places = {
        ("top",): 1, ("a", "b c", "long"): 3, ("a", "b c", "list"): 6, ("a", "b c", "d", "e"): 10,
        ("t", 0, "k"): 12, ("t", 1, "k"): 14, ("t", 1, "sub", "m"): 16, ("t", 1, "u", 1, "n"): 20,
        ("t", 1, "u", 0, "n"): 18, ("a", "b c", "absent"): 2, ("nowhere",): None, ("t", 1, "absent"): 13,
    }  # fmt: skip
    assert {key_path: lines.find_line(key_path) for key_path in places} == places
    assert parse_key_path("games[2].game") == ("games", 1, "game")


def test_devices_on_one_bus_share_its_port():
    shared = '[devices.{}]\nprotocol = "cctalk_{}"\nport = "/dev/a"\n'
    text = GOOD.replace('protocol = "id003"', 'protocol = "cctalk_bill"\nport = "/dev/a"')
    text += shared.format("coin", "coin") + shared.format("hopper", "hopper")
    assert mistakes(text) == []
    (elsewhere,) = mistakes(text.replace('site = "', 'positions = 2\nsite = "') + "position = 2\n")
    assert elsewhere.startswith("line 19: devices.hopper.port: /dev/a is already used by devices.bill")


def test_finding_line_numbers_takes_linear_time():
    """Regression: a value of many lines was parsed again for each line, which would have taken an hour."""
    text = "values = [\n" + "  1, # one ]\n" * 100_000 + "]\nafter = '''\n[\n'''\nlast = 1\n"
    lines = TomlLineNumbers(text)
    assert [lines.find_line((key,)) for key in ("values", "after", "last")] == [1, 100_003, 100_006]


@pytest.mark.parametrize(
    "value",
    ['"""a"b\\"""c"""""', "'''it''s'''''", '"# no [comment"', "'C:\\['", "[ # ]\n 1, [2],\n]", '{ a = "}" }', '"""\\\n  x"""', "[[1,2],\n['''\n]''']]"],
)  # fmt: skip
def test_a_value_ends_where_toml_ends_it(value):
    text = f"first = 1\nvalue = {value}\n\n# [a comment\n[t]\nlast = 2\n"
    lines = text.count("\n")
    assert set(tomllib.loads(text)) == {"first", "value", "t"}
    for form in (text, text.replace("\n", "\r\n")):
        assert [TomlLineNumbers(form).find_line(path) for path in (("value",), ("t",), ("t", "last"))] == [
            2,
            lines - 1,
            lines,
        ]


def test_copies_sharing_a_folder_are_reported_and_refused(tmp_path):
    state = tmp_path / "state"
    state.mkdir()
    (tmp_path / "link").symlink_to(state)
    file = tmp_path / "cabinet.toml"
    memory = '[memory]\nsecond_copy = "link"\narchive = "old"\nsecond_archive = "state/../old"\n'
    file.write_text(GOOD + memory + KEYS)
    result = CliRunner().invoke(main, ["cabinet", "check", str(file), "--state", str(state), "--json"])
    output = {
        row["key"]: (row["line"], row["what"].partition(" is ")[2]) for row in json.loads(result.output)
    }
    assert output == {
        "memory.second_copy": (
            13,
            "already the first copy's folder: name another one, on a medium of its own",
        ),
        "memory.second_archive": (
            15,
            "already memory.archive's folder: name another one, on a medium of its own",
        ),
    }
    assert result.exit_code == 1
    machine = [sys.executable, "-I", "-m", "egm.app", "--cabinet", str(file), "--state", str(state)]
    started = subprocess.run(machine, capture_output=True, text=True, timeout=60, check=False)
    assert started.returncode == 2, started.stderr
    assert "memory.second_copy: " in started.stderr
    assert not [*state.glob("journal*")]


@pytest.mark.parametrize("port", ["/dev/null", __file__, "/dev"])
def test_a_port_that_is_not_a_serial_port_is_reported(port):
    (mistake,) = find_missing_ports(read_toml(GOOD + f'port = "{port}"\n', CabinetFile)[0])
    assert (mistake.key, mistake.problem, mistake.consequence) == (
        "devices.bill.port",
        f"{port} is not a serial port",
        Consequence.PART_IS_LEFT_OUT,
    )


def test_a_terminal_is_accepted_as_a_port():
    leader, follower = os.openpty()
    try:
        assert not [
            *find_missing_ports(read_toml(GOOD + f'port = "{os.ttyname(follower)}"\n', CabinetFile)[0])
        ]
    finally:
        os.close(leader)
        os.close(follower)


#: Change of a valid file -> what the machine reports at its start.
FOUND = [
    ('[[games]]\ngame = "maple-clasic"', "games[2].game", "not in the library", "maple-classic"),
    ('[[games]]\ngame = "own.toml"', "games[2].game", "write ./own.toml", ""),
    ('[[games]]\ngame = "maple-classic"', "games[2].game", "maple-classic is already listed, as games[1]: list each game once", ""),
    ('[[games]]\ngame = "lantern-harbour"\n[[progressives]]\ngame = "lantern-harbour"\nlevel = "harbor"',
     "progressives[1].level", "lantern-harbour has no level 'harbor'", "harbour"),
    ('[[progressives]]\ngame = "lantern-harbor"\nlevel = "harbour"', "progressives[1].game", "not among the games of this file", ""),
    ('[software]\nmanifest = "/nowhere/manifest"\nkey = "' + "0" * 64 + '"', "software.manifest", "there is no file /nowhere/manifest", ""),
]  # fmt: skip


@pytest.mark.parametrize(("added_text", "key", "problem", "meant"), FOUND)
def test_preflight_reports_what_the_machine_would_leave_out(added_text, key, problem, meant):
    mistakes_by_key = {
        mistake.key: mistake
        for mistake in iter_preflight_mistakes(read_toml(GOOD + added_text, CabinetFile)[0])
    }
    assert key in mistakes_by_key
    assert problem in mistakes_by_key[key].problem
    assert mistakes_by_key[key].suggestion == meant
    assert mistakes_by_key[key].consequence is Consequence.PART_IS_LEFT_OUT


def test_a_position_without_a_device_that_accepts_money_is_reported():
    two = GOOD.replace('site = "', 'positions = 2\nsite = "') + KEYS
    assert [str(mistake) for mistake in iter_preflight_mistakes(read_toml(two, CabinetFile)[0])] == [
        "machine.positions: no device of position 2 accepts money: give one of [devices] the key position = 2"
    ]
    assert not [
        *iter_preflight_mistakes(
            read_toml(f'{two}[devices.coin]\nprotocol = "cctalk_coin"\nposition = 2\n', CabinetFile)[0]
        )
    ]


@pytest.mark.requirement("F-09")
@pytest.mark.parametrize("position", [None, 1, 2])
def test_a_position_without_a_key_for_hand_pays_is_reported(position):
    """A board of position 1 serves all positions; a board of position 2 serves only position 2."""
    board = "" if position is None else f"{KEYS}position = {position}\n"
    coins = '[devices.coin]\nprotocol = "cctalk_coin"\nposition = 2\n'
    two = GOOD.replace('site = "', 'positions = 2\nsite = "') + coins + board
    missed = [
        mistake.problem
        for mistake in iter_preflight_mistakes(read_toml(two, CabinetFile)[0])
        if mistake.key == "devices"
    ]
    assert [missing.partition(":")[0].rpartition(" ")[2] for missing in missed] == {
        None: ["1", "2"],
        1: [],
        2: ["1"],
    }[position]


@pytest.mark.parametrize(
    ("old", "new", "key", "problem"),
    [
        ('"generic"', '"quebec"', "machine.profile", "not in the library"),
        ('"generic"', '"own.toml"', "machine.profile", "write ./own.toml"),
        ('"generic"', '"quebec-vlt"', "machine.licence_holder", "must be printed"),
        ('"maple-classic"', '"no-such-game"', "games", "none of the listed games can be offered"),
    ],
)
def test_preflight_reports_mistakes_that_prevent_a_start(old, new, key, problem):
    mistakes_by_key = {
        mistake.key: mistake
        for mistake in iter_preflight_mistakes(read_toml(GOOD.replace(old, new, 1), CabinetFile)[0])
    }
    assert problem in mistakes_by_key[key].problem
    assert mistakes_by_key[key].consequence is Consequence.START_IS_REFUSED


def test_a_missing_port_is_reported_and_does_not_fail_the_file(tmp_path):
    file = tmp_path / "cabinet.toml"
    file.write_text(GOOD.replace('"id003"', '"id003"\nport = "/nowhere/port"') + KEYS)
    (mistake,) = find_missing_ports(load_cabinet(file))
    assert "/nowhere/port" in str(mistake)
    result = CliRunner().invoke(main, ["cabinet", "check", str(file), "--json"])
    assert result.exit_code == 0
    (report,) = json.loads(result.output)
    assert (report["line"], report["key"], report["stops"]) == (12, "devices.bill.port", False)


@pytest.mark.parametrize("profile", list_profile_ids())
def test_a_new_file_for_any_profile_has_every_key_and_is_valid(profile, tmp_path):
    file = tmp_path / "cabinet.toml"
    options = [
        "--profile",
        profile,
        "--game",
        "maple-classic",
        "--device",
        "id003",
        "--device",
        "ioboard=/dev/ttyEGM",
    ]
    result = CliRunner().invoke(main, ["cabinet", "new", str(file), *options, "--serial", "XYZ-9"])
    assert result.exit_code == 0, result.output
    text = file.read_text()
    cabinet = load_cabinet(file)
    assert (cabinet.machine.serial, cabinet.machine.profile) == ("XYZ-9", profile)
    assert cabinet.devices["io"].port == "/dev/ttyEGM"
    written, _, named = text.partition("# Other tables: ")
    for part in iter_cabinet_file_tables():
        if part.header in written or part.header == "[devices.NAME]":
            assert part.header not in named
            for key in part.keys:
                assert re.search(rf"^#? ?{key.name} = ", text, re.MULTILINE), key.name
        else:
            assert part.header in named
    repeated = CliRunner().invoke(main, ["cabinet", "new", str(file), *options])
    assert (repeated.exit_code, "was not changed" in repeated.output) == (1, True)
    checked = CliRunner().invoke(main, ["cabinet", "check", str(file)])
    expected = (
        {"certificate"}
        if load_cabinet(file).hardware_port_descriptions and "certificate" in checked.output
        else set()
    )
    assert checked.exit_code == bool(expected), checked.output


def test_the_path_of_a_game_is_stored_so_that_the_file_works_from_any_directory(tmp_path, monkeypatch):
    (tmp_path / "games").mkdir()
    (tmp_path / "games" / "own.toml").write_bytes(load_game("maple-classic").source.path.read_bytes())
    (tmp_path / "cabinets").mkdir()
    monkeypatch.chdir(tmp_path)
    result = CliRunner().invoke(main, ["cabinet", "new", "cabinets/one.toml", "--game", "games/own.toml"])
    assert result.exit_code == 0, result.output
    monkeypatch.chdir("/")
    (slot,) = load_cabinet(tmp_path / "cabinets" / "one.toml").games
    assert Path(slot.game) == tmp_path / "games" / "own.toml"
    assert load_game(slot.game).id == "maple-classic"


def test_a_game_file_named_without_a_path_is_stored_with_it_and_an_invalid_one_refused(tmp_path, monkeypatch):
    (tmp_path / "own.toml").write_bytes(load_game("maple-classic").source.path.read_bytes())
    (tmp_path / "bad.toml").write_text("[game]\n")
    monkeypatch.chdir(tmp_path)
    result = CliRunner().invoke(main, ["cabinet", "new", "one.toml", "--game", "own.toml"])
    assert result.exit_code == 0, result.output
    monkeypatch.chdir("/")
    (slot,) = load_cabinet(tmp_path / "one.toml").games
    assert Path(slot.game) == tmp_path / "own.toml"
    bad = tmp_path / "bad.toml"
    result = CliRunner().invoke(main, ["cabinet", "new", str(tmp_path / "two.toml"), "--game", str(bad)])
    assert result.exit_code == 1
    assert f"Error: {bad}" in result.output
    assert "game.family" in result.output
    assert not (tmp_path / "two.toml").exists()


@pytest.mark.parametrize(
    ("denominations", "reason"), [("[5, 5]", "5 is listed twice"), ("[25, 5]", "5 is listed after 25")]
)
def test_denominations_must_be_different_and_ascending(denominations, reason, tmp_path):
    file = tmp_path / "one.toml"
    assert CliRunner().invoke(main, ["cabinet", "new", str(file), "--game", "maple-classic"]).exit_code == 0
    text = file.read_text()
    table_text = f'game = "maple-classic"\ndenominations_cents = {denominations}\n'
    file.write_text(text.replace('game = "maple-classic"\n', table_text, 1))
    with pytest.raises(
        OperatorError, match=rf"games\[1\]\.denominations_cents: {reason}: list different values in"
    ):
        load_cabinet(file)


def test_without_given_games_a_new_file_lists_those_the_profile_admits(tmp_path):
    file = tmp_path / "cabinet.toml"
    result = CliRunner().invoke(main, ["cabinet", "new", str(file), "--profile", "quebec-casino"])
    assert result.exit_code == 0, result.output
    assert len(load_cabinet(file).games) > 5
    assert not [*iter_preflight_mistakes(load_cabinet(file))]


def test_the_published_schema_accepts_the_demonstration_file():
    published = json.loads(CliRunner().invoke(main, ["cabinet", "schema"]).output)
    assert published == build_schema()
    jsonschema.Draft202012Validator.check_schema(published)
    default = tomllib.loads(Path("egm/config/default.toml").read_text())
    jsonschema.validate(default, published)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(default | {"device": {}}, published)


def test_every_key_of_the_cabinet_file_has_a_meaning():
    keys = [key for part in iter_cabinet_file_tables() for key in part.keys]
    assert len(keys) > 50
    assert not [key.name for key in keys if not key.meaning]


def test_cabinet_devices_lists_every_protocol_and_the_present_ports():
    report = json.loads(CliRunner().invoke(main, ["cabinet", "devices", "--json"]).output)
    assert report["protocols"]["id003"] == "bill_acceptor"
    assert isinstance(report["ports"], list)


def test_all_errors_of_a_cabinet_file_are_reported_at_once(tmp_path):
    file = tmp_path / "mine.toml"
    text = GOOD.replace("maple-classic", "maple-classc").replace('"id003"', '"foo"\nport = 3')
    file.write_text(text.replace("generic", "generc"))
    result = CliRunner().invoke(main, ["cabinet", "check", str(file), "--json"])
    assert result.exit_code == 1
    output = {row["key"]: (row["line"], row["meant"]) for row in json.loads(result.output)}
    assert output == {
        "machine.profile": (4, "generic"),
        "games[1].game": (8, "maple-classic"),
        "devices.bill.protocol": (11, ""),
        "devices.bill.port": (12, ""),
    }


def test_two_broken_rules_between_tables_are_both_reported():
    second = '[devices.second]\nprotocol = "ebds"\nposition = 3\n[host]\ntransfers = true\n'
    assert [mistake.key for mistake in read_toml(f"{GOOD}{second}", CabinetFile)[1]] == [
        "devices.second.position", "host.line",
    ]  # fmt: skip


def test_example_values_are_marked_and_remarked_on_until_they_are_replaced(tmp_path):
    """The check reads the example values from the schema, as the form does."""
    file = tmp_path / "new.toml"
    new = ["cabinet", "new", str(file), "--profile", "quebec-vlt", "--game", "maple-classic"]
    assert CliRunner().invoke(main, new).exit_code == 0
    marked = {line.split(" = ")[0] for line in file.read_text().splitlines() if line.endswith("  # example")}
    marked = {key for key in marked if not key.startswith("#")}
    assert marked == {"serial", "operator_number", "site", "licence_holder"}
    result = CliRunner().invoke(main, ["cabinet", "check", "--quick", "--json", str(file)])
    remarks = {mistake["key"] for mistake in json.loads(result.output) if mistake["stops"] is None}
    assert (result.exit_code, remarks) == (0, {f"machine.{key}" for key in marked})
    owner = ("--serial", "XYZ-9", "--number", "12", "--site", "Chez Lise", "--licence-holder", "Lise")
    file.unlink()
    assert CliRunner().invoke(main, [*new, *owner]).exit_code == 0
    assert 'operator_number = "12"\n' in file.read_text()
    assert "# positions = 1  # default" in file.read_text()
    assert '# time_zone = "America/Toronto"  # example; default "UTC"' in file.read_text()
    result = CliRunner().invoke(main, ["cabinet", "check", "--quick", str(file)])
    assert "remark" not in result.output
