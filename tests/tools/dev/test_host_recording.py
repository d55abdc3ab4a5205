"""Recordings: written as the line passes, read back, explained, and refused with line and reason."""

import io
import json

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from egm.links.sas.crc import append_crc
from tools.dev.__main__ import main
from tools.dev.commands.host import command
from tools.dev.host.explain import explain
from tools.dev.host.trace import Portion, Recorder, Side, TraceError, parse_trace

HOST, MACHINE = Side.HOST, Side.MACHINE
CREDITS = append_crc(bytes.fromhex("011A00000500"))


def told(*portions):
    """What is said of portions (ms, side, bytes)."""
    return list(
        explain(Portion(int(ms * 1000), side, data, wake=side is HOST) for ms, side, data in portions)
    )


def test_a_recording_is_read_as_it_was_written():
    now = iter(range(1_000_000, 10_000_000, 1_500_000))
    file = io.StringIO()
    recorder = Recorder(file, lambda: next(now), started="2026-11-21T06:30:00Z")
    recorder.record(HOST, b"\x81", wake=True)
    recorder.record(MACHINE, b"\x00")
    assert list(parse_trace(file.getvalue().splitlines(), "x")) == [
        Portion(1500, HOST, b"\x81", wake=True),
        Portion(3000, MACHINE, b"\x00"),
    ]


def test_every_byte_of_an_answer_is_named():
    poll, answer = told((0, HOST, b"\x01\x1a"), (4, MACHINE, CREDITS))
    assert poll.title == "current credits (R)"
    assert [(p.at, p.data, p.name, p.text) for p in answer.pieces] == [
        (0, b"\x01", "address", "1"),
        (1, b"\x1a", "poll", "1A current credits [A]"),
        (2, bytes.fromhex("00000500"), "value", "500 credits"),
        (6, CREDITS[-2:], "CRC", "right"),
    ]
    assert not poll.trouble
    assert not answer.trouble


def test_an_answer_in_portions_is_one_message():
    _, answer = told((0, HOST, b"\x01\x1a"), (4, MACHINE, CREDITS[:3]), (6, MACHINE, CREDITS[3:]))
    assert answer.data == CREDITS
    assert not answer.notes


@pytest.mark.parametrize(
    ("portions", "note"),
    [
        ([(0, HOST, b"\x81"), (20.5, MACHINE, b"\x00")], "began 20.5 ms after the poll"),
        ([(0, HOST, b"\x81"), (1, MACHINE, b"\x00"), (200.2, HOST, b"\x81")], "silent for 200.2 ms"),
        ([(0, HOST, b"\x01\x1a"), (1, MACHINE, CREDITS[:4]), (6.1, MACHINE, CREDITS[4:])], "before byte 4"),
        ([(0, HOST, b"\x81")], "no answer"),
        ([(0, HOST, b"\x01\x1a"), (1, MACHINE, CREDITS[:-1] + b"\x00")], "CRC: wrong: should be"),
        ([(0, HOST, b"\x01\x1a"), (1, MACHINE, CREDITS[:-3])], "CRC: wrong: should be"),
    ],
)
def test_what_is_wrong_is_marked(portions, note):
    messages = told(*portions)
    assert any(note in said for message in messages for said in message.notes)


def test_timing_within_the_limits_is_not_marked():
    messages = told(
        (0, HOST, b"\x81"),
        (20, MACHINE, b"\x00"),
        (200, HOST, b"\x80"),
        (206, HOST, b"\x01\x1a"),
        (210, MACHINE, CREDITS),
    )
    assert [message.notes for message in messages] == [[], [], [], [], []]


def test_exceptions_polls_and_unasked_bytes_are_said_by_name():
    messages = told(
        (0, MACHINE, b"\x01"),
        (50, HOST, b"\x81"),
        (55, MACHINE, b"\x11"),
        (60, HOST, b"\x80"),
        (70, HOST, append_crc(b"\x01\xfd")),
        (75, MACHINE, append_crc(b"\x01\xfd\x05")),
        (80, HOST, append_crc(b"\x01\x01")),
        (85, MACHINE, b"\x01"),
        (95, MACHINE, b"\x77\x78"),
    )
    assert [message.title for message in messages] == [
        "unasked: machine 1 sees no polls (loop break)",
        "general poll to machine 1",
        "exception 11 slot door opened",
        "general poll to address 0: synchronises, nobody answers",
        "unknown poll FD",
        "answer to unknown poll FD",
        "shutdown (lock out play) (S)",
        "acknowledged: poll 01",
        "unasked bytes",
    ]


def test_a_poll_that_came_in_portions_is_put_together():
    whole = append_crc(b"\x01\x01")
    first, second = Portion(0, HOST, whole[:2], wake=True), Portion(3000, HOST, whole[2:])
    (message, *_rest) = explain([first, second, Portion(5000, MACHINE, b"\x01")])
    assert message.data == whole
    assert not message.trouble


HEAD = json.dumps({"recording": "sas-line", "version": 1, "started": ""})


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ([], "x: empty"),
        (["hello"], "x, line 1: not JSON"),
        (["[]"], "x, line 1: not an object"),
        (["{}"], "x, line 1: not a recording of a SAS line"),
        ([HEAD, "{}"], "x, line 2: us must be"),
        ([HEAD, '{"us": -1, "from": "host", "bytes": "81"}'], "x, line 2: us must be"),
        ([HEAD, '{"us": 1, "from": "moon", "bytes": "81"}'], "x, line 2: from must be host or machine"),
        ([HEAD, '{"us": 1, "from": "host", "bytes": "8"}'], "x, line 2: bytes must be hexadecimal"),
        ([HEAD, '{"us": 1, "from": "host", "bytes": 81}'], "x, line 2: bytes must be hexadecimal"),
        ([HEAD, '{"us": 1, "from": "host", "bytes": ""}'], "x, line 2: no bytes"),
        (
            [HEAD, '{"us": 5, "from": "host", "bytes": "81"}', '{"us": 4, "from": "host", "bytes": "81"}'],
            "x, line 3: time goes back",
        ),
    ],
)
def test_what_is_no_recording_is_refused_with_line_and_reason(lines, said):
    with pytest.raises(TraceError, match=said.replace("(", r"\(")):
        list(parse_trace(lines, "x"))


@pytest.fixture
def recording(tmp_path):
    path = tmp_path / "line.jsonl"
    with path.open("w") as file:
        now = iter(range(0, 10**9, 4_000_000))
        recorder = Recorder(file, lambda: next(now))
        recorder.record(HOST, b"\x01\x1a", wake=True)
        recorder.record(MACHINE, CREDITS)
        recorder.record(HOST, b"\x81", wake=True)
        recorder.record(MACHINE, b"\x51")
    return path


def test_the_command_explains_a_recording(recording):
    done = CliRunner().invoke(command, ["trace", str(recording)])
    assert done.exit_code == 0
    assert "value: 500 credits" in done.output
    assert "exception 51 hand-pay pending" in done.output
    only = CliRunner().invoke(command, ["--json", "trace", "--poll", "1A", str(recording)])
    assert [json.loads(line)["from"] for line in only.output.splitlines()] == ["host", "machine"]


def test_the_command_says_by_its_status_that_something_is_wrong(recording):
    with recording.open("a") as file:
        file.write('{"us": 9000000, "from": "host", "bytes": "81"}\n')
    done = CliRunner().invoke(command, ["trace", "--troubles", str(recording)])
    assert done.exit_code == 1
    assert "no answer" in done.output
    assert "500 credits" not in done.output


def test_the_command_refuses_what_is_no_recording(tmp_path):
    path = tmp_path / "notes.txt"
    path.write_text("hello\n")
    done = CliRunner().invoke(command, ["trace", str(path)])
    assert done.exit_code == 1
    assert "line 1: not JSON" in done.output
    assert "cannot be read" in CliRunner().invoke(command, ["trace", str(tmp_path / "none")]).output


def test_the_command_is_in_the_table_of_contents():
    assert "explain a recording" in CliRunner().invoke(main, ["--help"]).output


def test_the_command_finds_the_line_of_the_machine_that_runs_here(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    lines = tmp_path / "open-egm" / "run" / "sas"
    lines.mkdir(parents=True)
    assert "no machine runs with one on" in CliRunner().invoke(command, ["meters"]).output
    (tmp_path / "run" / "sas").mkdir(parents=True)
    for name in ("main", "second"):
        (tmp_path / "run" / "sas" / name).touch()
    said = CliRunner().invoke(command, ["--state", str(tmp_path), "meters"]).output
    assert f"or: {tmp_path}/run/sas/main, {tmp_path}/run/sas/second" in said
    (lines / "first").write_text("not a line")
    assert f"{lines}/first: cannot be opened" in CliRunner().invoke(command, ["meters"]).output
    (lines / "second").write_text("")
    asked = CliRunner().invoke(command, ["meters"])
    assert asked.exit_code == 1
    assert f"{lines}/first, {lines}/second" in asked.output


@given(
    st.lists(
        st.tuples(
            st.integers(0, 30_000), st.sampled_from(Side), st.binary(min_size=1, max_size=12), st.booleans()
        ),
        max_size=12,
    )
)
def test_no_byte_of_a_recording_is_lost_whatever_is_in_it(parts):
    us = 0
    portions = []
    for pause, side, octets, wake in parts:
        us += pause
        portions.append(Portion(us, side, octets, wake=wake))
    messages = list(explain(portions))
    for side in Side:
        recorded = b"".join(portion.data for portion in portions if portion.side is side)
        assert b"".join(message.data for message in messages if message.side is side) == recorded
    for message in messages:
        json.dumps(message.document())
