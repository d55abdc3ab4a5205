"""Every invalid entry of a hostile export is reported, and the verifier continues safely.

Goal: a hostile export, however short and well signed, ends the verifier only with a report, and prints only text on
the terminal. Journal heads that were printed elsewhere are compared with the export.
"""

import hashlib
import json

import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

from meters.entry import GENESIS_HASH, decode
from meters.export import EXPORT_FORMAT
from meters.machine_key import MachineKey
from tests.rigs.examples import scale_examples
from tools.audit.games import GameFiles
from tools.audit.verify import Auditor
from tools.cli import main
from tools.cli.terminal import escape_markup, make_printable

KEY = MachineKey(bytes(range(32)))
TIME = "2026-05-01T00:00:00.000000+00:00"
DEEP = "[" * 100_000 + "]" * 100_000

#: The JSON that replaces the second entry, by what is wrong with it.
HOSTILE = {
    "sequence of another type": '{"id":"a","kind":"bill.in","previous":"P","sequence":"2","time":"T"}',
    "sequence a list": '{"id":"a","kind":"bill.in","previous":"P","sequence":[2],"time":"T"}',
    "no time": '{"id":"a","kind":"bill.in","previous":"P","sequence":2}',
    "time of no zone": '{"id":"a","kind":"bill.in","previous":"P","sequence":2,"time":"2026-05-01T00:00:00"}',
    "dims a list": '{"dims":["x"],"id":"a","kind":"bill.in","previous":"P","sequence":2,"time":"T"}',
    "dims with a list": '{"dims":{"x":[1]},"id":"a","kind":"bill.in","previous":"P","sequence":2,"time":"T"}',
    "counts a text": '{"counts":"x","id":"a","kind":"bill.in","previous":"P","sequence":2,"time":"T"}',
    "counts below zero": '{"counts":{"x":-1},"id":"a","kind":"bill.in","previous":"P","sequence":2,"time":"T"}',
    "state a list": '{"id":"a","kind":"bill.in","previous":"P","sequence":2,"state":[1],"time":"T"}',
    "state of another kind": (
        '{"id":"bill.confirmed-2-M","kind":"bill.confirmed","previous":"P","sequence":2,'
        '"state":{"paper":7,"handpay":{"kind":[]}},"time":"T"}'
    ),
    "ref a number": (
        '{"id":"a","kind":"bill.in","phase":"settle","previous":"P","ref":7,"sequence":2,"time":"T"}'
    ),
    "account a number": (
        '{"id":"a","kind":"bill.in","previous":"P","sequence":2,"time":"T","transfers":[[1,2,3]]}'
    ),
    "no such account": (
        '{"id":"a","kind":"bill.in","previous":"P","sequence":2,"time":"T",'
        '"transfers":[["world:gold","credit:1:cashable",5]]}'
    ),
    "transfer a text": '{"id":"a","kind":"bill.in","previous":"P","sequence":2,"time":"T","transfers":["abc"]}',
    "phase unknown": '{"id":"a","kind":"bill.in","phase":"later","previous":"P","sequence":2,"time":"T"}',
    "mark unknown": '{"id":"a","kind":"bill.in","marks":[{}],"previous":"P","sequence":2,"time":"T"}',
    "deep": '{"id":"a","kind":"bill.in","previous":"P","record":' + DEEP + ',"sequence":2,"time":"T"}',
    "lone surrogate": r'{"id":"\ud800","kind":"bill.in","previous":"P","sequence":2,"time":"T"}',
    "markup": '{"id":"[/red][bold]","kind":"bill.in","previous":"P","sequence":2,"time":"T"}',
    "steers the terminal": r'{"id":"\u001b[2K\u001b[8m\u009b2J","kind":"x.y","previous":"P","sequence":2,"time":"T"}',
    "turns text round": r'{"id":"\u202enothing wrong","kind":"x.y","previous":"P","sequence":2,"time":"T"}',
    "unknown field": '{"id":"a","kind":"bill.in","previous":"P","sequence":2,"time":"T","verdict":"right"}',
    "a game of strange parts": (
        '{"id":"play-2.start","kind":"game.start","previous":"P","sequence":2,"time":"T",'
        '"record":{"play_id":["x"],"game":7,"steps":{},"outcome":[]}}'
    ),
    "a checkpoint of strange parts": (
        '{"id":"checkpoint:2","kind":"checkpoint","previous":"P","sequence":2,"time":"T",'
        '"record":{"ledger":[],"ledger_sha256":7,"signature":"zz"}}'
    ),
    "a level of strange parts": (
        '{"id":"progressive.opened-2-M","kind":"progressive.opened","previous":"P","sequence":2,"time":"T",'
        '"record":{"pool":"x","terms":{"base_cents":"1","increment":"1/0"}}}'
    ),
    "no JSON": "{",
    "an array": "[]",
    "a float": '{"id":"a","kind":"bill.in","previous":"P","record":1.5,"sequence":2,"time":"T"}',
}


def build_genesis():
    record = {"format": 1, "machine_id": "M-1", "public_key": KEY.public_key.hex()}
    raw = {
        "id": f"genesis:{KEY.fingerprint}",
        "kind": "machine.genesis",
        "previous": GENESIS_HASH,
        "record": record,
        "sequence": 1,
        "time": TIME,
    }
    return json.dumps(raw, sort_keys=True, separators=(",", ":")).encode()


def build_next_entry(body, sequence=3):
    """Return a valid entry that follows ``body``, to show that the verifier continued."""
    raw = {
        "id": f"service.call-{sequence}-{hashlib.sha256(build_genesis()).hexdigest()[:8]}",
        "kind": "service.call",
        "previous": hashlib.sha256(body).hexdigest(),
        "record": {"on": True},
        "sequence": sequence,
        "state": {"service_call": True},
        "time": TIME,
    }
    return json.dumps(raw, sort_keys=True, separators=(",", ":")).encode()


def write_export(bodies, file):
    """Write an export of the entries, signed with its maker's own key."""
    head = hashlib.sha256(bodies[-1]).hexdigest()
    header = {
        "format": EXPORT_FORMAT,
        "public_key": KEY.public_key.hex(),
        "sequence": len(bodies),
        "head": head,
        "time": TIME,
    }
    text = b"".join(line + b"\n" for line in (json.dumps(header).encode(), *bodies))
    sha256 = hashlib.sha256(text).hexdigest()
    signature = KEY.sign(b"open-egm export\0" + sha256.encode()).hex()
    file.write_bytes(text + json.dumps({"sha256": sha256, "signature": signature}).encode() + b"\n")
    return file


@pytest.mark.parametrize(
    ("line", "old", "new", "expected_text"),
    [
        (0, f'"{KEY.public_key.hex()}"', "null", "public_key is None, not lower-case hexadecimal"),
        (0, f'"{KEY.public_key.hex()}"', '"xy"', "public_key is 'xy', not lower-case hexadecimal"),
        (0, '"sequence": 1', '"sequence": ' + "9" * 5000, "sequence is a number of more than 64 bits"),
        (0, '"sequence": 1', '"sequence": "1"', "sequence is '1', not the number of an entry"),
        (0, '"sequence": 1', '"sequence": -1', "sequence is -1, not the number of an entry"),
        (0, f'"{TIME}"', "7", "time is 7, not a time with its offset"),
        (0, '"head"', '"tail"', "head is missing"),
        (0, f'"{EXPORT_FORMAT}"', "[]", f"format is [], not '{EXPORT_FORMAT}'"),
        (2, '"signature": "', '"signature": "!', "not lower-case hexadecimal"),
    ],
)
def test_an_invalid_field_is_reported_with_what_it_should_be(tmp_path, line, old, new, expected_text):
    file = write_export([build_genesis()], tmp_path / "export.jsonl")
    lines = file.read_text().splitlines()
    assert old in lines[line]
    lines[line] = lines[line].replace(old, new, 1)
    file.write_text("\n".join(lines) + "\n")
    run = CliRunner().invoke(main, ["audit", "verify", str(file)])
    assert run.exit_code == 1, run.output
    assert expected_text in run.output
    assert "fromhex" not in run.output


@pytest.mark.requirement("E-13")
@pytest.mark.parametrize("case", HOSTILE)
def test_a_hostile_entry_is_reported_and_the_next_one_is_read(tmp_path, case):
    first = build_genesis()
    text = HOSTILE[case].replace('"P"', f'"{hashlib.sha256(first).hexdigest()}"').replace('"T"', f'"{TIME}"')
    bad = text.encode()
    file = write_export([first, bad, build_next_entry(bad)], tmp_path / "hostile.jsonl")
    for words in ((), ("--json",)):
        run = CliRunner().invoke(main, ["audit", "verify", str(file), *words])
        assert run.exit_code == 1, run.output
        assert run.exception is None or isinstance(run.exception, SystemExit), run.exception
    run = CliRunner().invoke(main, ["audit", "verify", str(file)])
    assert "entry 2" in run.output
    assert not set(run.output) & {"\x1b", "\x9b", "\u202e"}, "nothing steers the terminal"
    report = Auditor(GameFiles()).audit_entries([first, bad, build_next_entry(bad)])
    assert report.entry_count == 3
    assert 2 in {finding.sequence for finding in report.findings}


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
_FIELD = st.sampled_from(
    [
        "id",
        "kind",
        "transfers",
        "phase",
        "ref",
        "dims",
        "counts",
        "marks",
        "state",
        "record",
        "sequence",
        "time",
    ]
)
_KIND = st.sampled_from(
    [
        "bill.in",
        "game.start",
        "game.end",
        "checkpoint",
        "progressive.won",
        "handpay.paid",
        "staff.added",
        "aft.complete",
    ]
)


@settings(max_examples=scale_examples(200))
@given(st.dictionaries(_FIELD, _JSON, max_size=8), _KIND)
def test_an_entry_with_any_content_ends_in_a_report(fields, kind):
    first = build_genesis()
    raw = {
        "kind": kind,
        "id": "a",
        "sequence": 2,
        "time": TIME,
        "previous": hashlib.sha256(first).hexdigest(),
    }
    bad = json.dumps(raw | fields).encode()
    report = Auditor(GameFiles()).audit_entries([first, bad, build_next_entry(bad)])
    assert report.entry_count == 3
    assert report.finding_count
    json.dumps(report.to_json())


def test_control_characters_and_markup_are_printed_escaped():
    assert make_printable("Château 5 €") == "Château 5 €"
    assert make_printable("a\x1b[2K\x9b\u202e\ud800\n") == "a\\x1b[2K\\x9b\\u202e\\ud800\\n"
    assert escape_markup("[red]x[/red]") == "\\[red]x\\[/red]"


@pytest.mark.requirement("E-13")
def test_a_journal_head_printed_elsewhere_is_compared_with_the_export(tmp_path):
    first = build_genesis()
    second = build_next_entry(first, 2)
    file = write_export([first, second], tmp_path / "honest.jsonl")
    head = decode(second).hash_hex
    verify = ["audit", "verify", str(file)]
    run = CliRunner().invoke(main, [*verify, "--witness", f"2:{head[:16]}"])
    assert run.exit_code == 0, run.output
    assert "machine M-1" in run.output
    assert "key not compared" in run.output.replace("\n", " ")
    slips = tmp_path / "slips.txt"
    slips.write_text(f"1:{hashlib.sha256(first).hexdigest()}\n2:{head[:12].upper()}\n")
    run = CliRunner().invoke(
        main, [*verify, "--witness", str(slips), "--fingerprint", KEY.fingerprint, "--json"]
    )
    (report,) = json.loads(run.output).values()
    assert (report["ok"], report["witnessed"], report["key_compared"]) == (True, 2, True)
    run = CliRunner().invoke(main, [*verify, "--witness", "2:" + "ab" * 8])
    assert run.exit_code == 1
    assert "but a witness has" in run.output.replace("\n", " ")
    run = CliRunner().invoke(main, [*verify, "--witness", "9:" + "ab" * 8])
    assert "a witness reached entry 9" in run.output
    for wrong in ("2", "2:xyz", "x:abcdefabcdef", "2:abc"):
        run = CliRunner().invoke(main, [*verify, "--witness", wrong])
        assert run.exit_code == 1
        assert "is not a witness" in run.output
