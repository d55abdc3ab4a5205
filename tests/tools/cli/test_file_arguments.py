"""A device, a pipe or a folder given as a file argument is refused and not changed."""

import json
import os
import stat

import pytest
from click.testing import CliRunner

from egm.clock import SystemClock
from meters import Journal
from tools.cli import find_first_sentence, main


def egm(*words):
    return CliRunner().invoke(main, [str(word) for word in words])


def run_refused(*words):
    output = egm(*words)
    assert output.exit_code in {1, 2}, output.output
    assert output.exception is None or isinstance(output.exception, SystemExit), repr(output.exception)
    return output.output


@pytest.fixture
def state(tmp_path):
    with Journal.open(tmp_path / "state", now=SystemClock().now):
        pass
    return tmp_path / "state"


@pytest.mark.parametrize("command", [("export",), ("verify", "--point")])
def test_a_file_that_is_not_regular_is_not_replaced(command, state, tmp_path):
    pipe, link = tmp_path / "pipe", tmp_path / "link"
    os.mkfifo(pipe)
    link.symlink_to(pipe)
    for name in (pipe, link):
        assert "is not a regular file" in run_refused("audit", *command, name, "--state", state)
        assert stat.S_ISFIFO(pipe.stat().st_mode)
        assert link.is_symlink()


def test_an_export_follows_a_link_and_ignores_a_pipe_at_its_temporary_name(state, tmp_path):
    target, link = tmp_path / "kept", tmp_path / "link"
    target.write_text("old")
    link.symlink_to(target)
    os.mkfifo(tmp_path / "kept.partial")
    assert egm("audit", "export", link, "--state", state).exit_code == 0
    assert link.is_symlink()
    assert target.read_bytes().startswith(b'{"')
    assert sorted(path.name for path in tmp_path.iterdir()) == ["kept", "link", "state"]


READERS = (
    ("cabinet", "check"),
    ("game", "check"),
    ("audit", "verify"),
    ("audit", "readout"),
    ("register", "statement", "--file"),
)
WHOLE = ("backup", "show")


@pytest.mark.parametrize("command", [*READERS, WHOLE], ids=" ".join)
@pytest.mark.parametrize("file", ["pipe.toml", "zero.toml"])
def test_only_a_regular_file_is_read(command, file, tmp_path):
    os.mkfifo(tmp_path / "pipe.toml")
    (tmp_path / "zero.toml").symlink_to("/dev/zero")
    assert "is not a regular file" in run_refused(*command, tmp_path / file)


def test_a_pipe_as_a_picture_is_refused(tmp_path):
    game = tmp_path / "mine.toml"
    assert egm("game", "new", game).exit_code == 0
    os.mkfifo(tmp_path / "seven.svg")
    game.write_text(game.read_text() + '\n[art.pictures]\nseven = "seven.svg"\n')
    assert "seven.svg: is not a regular file" in run_refused("game", "check", game)


@pytest.mark.parametrize("command", READERS[:2], ids=" ".join)
@pytest.mark.parametrize(
    ("text", "expected_text"),
    [
        ("a = " + "[" * 5000 + "]" * 5000, "deep"),
        ("b = 1\na = " + "9" * 5000, "line 2: a whole number has more than 64 bits"),
        ("[machine]\npositions = 0x" + "f" * 5000, "machine.positions: a whole number has more than 64 bits"),
        ("[[pay]]\npays = [1, 9223372036854775808]", "pay.0.pays.1: a whole number has more than 64 bits"),
        ("a = " + "[" * 30 + "]" * 30, "deep"),
    ],
)
def test_input_too_large_for_a_parser_is_reported_as_one_error(command, text, expected_text, tmp_path):
    file = tmp_path / "file.toml"
    file.write_text(text)
    output = run_refused(*command, file)
    assert expected_text in output
    assert len(output) < 2000


@pytest.mark.parametrize(
    "command",
    [("audit", "readout"), ("backup", "show"), ("rng", "outcomes", "--count", "1", "--weights")],
    ids=" ".join,
)
def test_deeply_nested_json_is_reported_as_one_error(command, tmp_path):
    file = tmp_path / "file.json"
    file.write_text("[" * 5000)
    assert str(file) in run_refused(*command, file)


BACKUP = {"format": 1, "machine": "B-1", "at": "", "sequence": 1, "head": "", "public_key": "", "files": {}}


@pytest.mark.parametrize(
    ("text", "expected_text"),
    [
        (
            json.dumps(BACKUP | {"signature": ""}).replace('"sequence": 1', '"sequence": 1e999'),
            "sequence is inf",
        ),
        (json.dumps(BACKUP | {"signature": "", "sequence": 1 << 63}), "is not a valid journal sequence"),
        (json.dumps(BACKUP | {"signature": "", "files": {"cabinet.toml": 7}}), "files.cabinet.toml is 7"),
        (json.dumps(BACKUP), "signature is missing"),
        (
            json.dumps(BACKUP | {"signature": ""}),
            "signature does not match its content, so the backup was changed",
        ),
        ("[]", "not a backup"),
        ("\xff" * 100_000, "not a backup"),
    ],
)
def test_a_file_that_is_not_a_backup_is_reported_in_one_line(text, expected_text, tmp_path):
    file = tmp_path / "file.json"
    file.write_bytes(text.encode("latin-1"))
    output = run_refused(*WHOLE, file)
    assert expected_text in output
    assert len(output) < 400 + len(str(file))


def test_a_file_that_is_too_large_is_not_read(tmp_path):
    file = tmp_path / "file.toml"
    with file.open("wb") as stream:
        stream.truncate(1 << 32)
    for command in (*READERS[:2], WHOLE):
        assert "is too large" in run_refused(*command, file)


def create_sparse_file(file, *heads):
    """Create a file with these lines, followed by a sparse line of 4 GB."""
    with file.open("wb") as stream:
        stream.writelines(head + b"\n" for head in heads)
        stream.truncate(1 << 32)
    return file


@pytest.mark.parametrize("command", READERS[2:], ids=" ".join)
def test_a_line_without_end_is_read_up_to_a_limit(command, state, tmp_path, monkeypatch):
    monkeypatch.setattr("meters.export.BODY_BYTES_MAX", 1 << 20)  # 64 MiB: the limit of each entry
    assert egm("audit", "export", tmp_path / "good", "--state", state).exit_code == 0
    heads = (tmp_path / "good").read_bytes().splitlines()[:2]
    for known in (0, 2) if command != ("audit", "readout") else (0,):
        output = run_refused(*command, create_sparse_file(tmp_path / "file", *heads[:known]))
        assert "are read" in output or "is too large" in output
        assert f"line {known + 1}" in output or "is too large" in output


@pytest.mark.parametrize("zone", ["America", "../etc", "", "America/Nowhere", "a\0b"])
def test_an_invalid_time_zone_is_reported_with_its_line(zone, tmp_path):
    file = tmp_path / "cabinet.toml"
    assert egm("cabinet", "new", file).exit_code in {0, 1}
    lines = [line for line in file.read_text().splitlines() if not line.strip("# ").startswith("time_zone =")]
    line_index = lines.index("[machine]") + 1
    lines.insert(line_index, f"time_zone = {zone!r}" if "\0" not in zone else 'time_zone = "a\\u0000b"')
    file.write_text("\n".join(lines))
    output = run_refused("cabinet", "check", "--quick", "--csv", file)
    assert f"{line_index + 1},machine.time_zone,yes" in output
    assert "machine.time_zone" in run_refused("run", "--cabinet", file, "--state", tmp_path / "run")


HUGE = "99999999999999999999"


@pytest.mark.parametrize(
    "command",
    [
        ("audit", "log", "plays", "--last", HUGE),
        ("audit", "entry", HUGE),
        ("audit", "entry", "9" * 5000),
        ("audit", "export", "out", "--since", HUGE),
        ("ticket", "list", "--last", HUGE),
    ],
    ids=lambda words: " ".join(words)[:30],
)
def test_a_number_beyond_the_storage_limit_is_refused(command, state):
    assert egm(*command, "--state", state).exit_code == 2
    run_refused(*command, "--state", state)


@pytest.mark.parametrize("share", ["1e400", "1e-999999999", "1e999999999", "9" * 5000, "0.5/0", "", "."])
def test_a_share_with_an_extreme_exponent_is_refused(share, tmp_path):
    game = tmp_path / "mine.toml"
    assert egm("game", "new", game).exit_code == 0
    assert "is not a share" in run_refused("game", "tune", game, "--return", share)


@pytest.mark.parametrize("witness", ["9" * 200 + ":" + "a" * 12, "7=1e999999999"])
def test_a_witness_with_a_number_beyond_the_storage_limit_is_refused(witness, state):
    assert "is not a witness" in run_refused("audit", "verify", "--state", state, "--witness", witness)


@pytest.mark.parametrize(
    ("head", "body", "expected_text"),
    [
        ("", '<path d="M0 0L9 9" stroke-dasharray="0.0001 0.0001"/>', "stroke-dasharray"),
        ("", '<path d="M0 0L9 9" style="stroke-dasharray: .1"/>', "stroke-dasharray"),
        ("", "<style>path { stroke-dasharray: .1 }</style><path d='M0 0L9 9'/>", "stroke-dasharray"),
        ("", f'<path d="M0 0{"L9 9" * 20_000}"/>', "more than 20,000 numbers"),
        ('width="-5" height="5"', '<path d="M0 0L9 9"/>', "above 0"),
        ("", "", "no shape"),
    ],
)
def test_a_picture_that_would_take_too_long_to_draw_is_refused(head, body, expected_text, tmp_path):
    game = tmp_path / "mine.toml"
    assert egm("game", "new", game).exit_code == 0
    picture = tmp_path / "seven.svg"
    game.write_text(game.read_text() + '\n[art.pictures]\nseven = "seven.svg"\n')
    picture.write_text(f'<svg xmlns="http://www.w3.org/2000/svg" {head}>{body}</svg>')
    assert expected_text in run_refused("game", "check", game)


WRITERS = (
    ("par", "maple-classic", "--csv", "--out"),
    ("manual", "service", "--out"),
    ("ticket", "render", "--output"),
    ("rng", "bytes", "--count", "16", "--output"),
    ("rng", "outcomes", "--range", "6", "--count", "3", "--output"),
)


@pytest.mark.parametrize("command", WRITERS, ids=" ".join)
def test_a_command_names_the_file_it_wrote_or_why_it_could_not(command, tmp_path):
    file = tmp_path / "result.png"
    assert egm(*command, file).output.startswith(f"{file}: ")
    assert file.stat().st_size
    nowhere = tmp_path / "none" / "result.png"
    assert run_refused(*command, nowhere) == f"Error: {nowhere}: the folder {nowhere.parent} does not exist\n"


@pytest.mark.parametrize("command", ["game", "cabinet", "tournament"])
def test_a_missing_folder_of_a_new_file_is_named(command, tmp_path):
    output = run_refused(command, "new", tmp_path / "missing" / "new.toml")
    assert f"the folder {tmp_path / 'missing'} does not exist" in " ".join(output.split())


def test_a_new_game_file_must_end_in_toml(tmp_path):
    output = run_refused("game", "new", tmp_path / "maple-classic")
    assert "the name of a definition file must end in .toml; nothing was written" in output
    assert not (tmp_path / "maple-classic").exists()


@pytest.mark.parametrize("day", ["2026-02-30", "30.2.2026", "today"])
def test_an_invalid_day_is_refused_with_the_expected_form(day, tmp_path):
    output = run_refused("intervention", "day", day, "--out", tmp_path / "day.pdf")
    assert "YYYY-MM-DD" in output
    assert f"'{day}' is not a day of the calendar, written as YYYY-MM-DD" in output


def test_an_abbreviation_does_not_end_the_first_sentence_of_a_help_text():
    first = "Write every sheet of one day (Monaco art. 20.3)."
    assert find_first_sentence(f"{first} A sheet belongs to\n    one day.\n\nMore.") == first
    assert "see ss. 91-92" in find_first_sentence("Manage levels;\n    see ss. 91-92\n\nMore.")
