"""An exported journal gives the same meters, levels, returns, logs and technical sheet as the memory."""

import hashlib
import io
import json
import os
import shutil
import signal
import tempfile
from types import SimpleNamespace

import pytest
from click.testing import CliRunner
from rigs.moments import NOW

from egm.app.features import FEATURES
from egm.config.cabinet_file import InventoryTable
from egm.kernel.entries import Log
from egm.staff.inventory import record_inventory_change
from egm.testing.machine import MachineRig, ScriptedGenerator
from meters import JournalDamaged, export, open_view
from meters.entry import encode_canonical_json
from meters.export import open_exported_view
from meters.machine_key import MachineKey
from meters.storage import DiskStorage
from tools.cli import main
from tools.cli.journal_source import open_journal

COMMANDS = [
    ("meters",),
    ("meters", "--by", "game"),
    ("returns",),
    ("levels",),
    ("inventory", "show"),
    *(("audit", "log", name) for name in ("plays", *(log.value for log in Log))),
]


def run(*arguments):
    return CliRunner().invoke(main, [*map(str, arguments)])


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A machine's state, its exported journal, and an export of the later entries only."""
    folder = tmp_path_factory.mktemp("exported")
    rig = (
        MachineRig(folder / "state", generator=ScriptedGenerator(*(0, 5, 10) * 3, 4711), devices=("printer",))
        .boot()
        .insert(2000)
    )
    for _ in range(3):
        rig.play()
        rig.report_shown()
    rig.cash_out_ticket()
    record_inventory_change(rig.machine, InventoryTable(base_number="B-12"))
    rig.close()
    key = MachineKey.load(DiskStorage(), folder / "state")
    with open_view(folder / "state") as view:
        for name, after in (("whole.jsonl", 0), ("later.jsonl", 5)):
            with (folder / name).open("wb") as stream:
                export.write_export(view, key, stream, NOW, after_sequence=after)
    return folder


@pytest.mark.requirement("E-09", "D-17")
@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_memory_and_export_give_the_same_output(folder, command):
    from_memory = run(*command, "--state", folder / "state", "--json")
    from_export = run(*command, "--file", folder / "whole.jsonl", "--json")
    assert from_memory.exit_code == from_export.exit_code == 0, (from_memory.output, from_export.output)
    assert from_export.output == from_memory.output
    assert json.loads(from_export.output) is not None


def test_the_view_of_an_export_equals_the_view_of_the_memory(folder):
    with (
        open_view(folder / "state") as memory,
        (folder / "whole.jsonl").open("rb") as file,
        open_exported_view(file, "whole") as exported,
    ):
        assert [*exported.iter_bodies()] == [*memory.iter_bodies()]
        assert exported.states() == memory.states()
        assert exported.meters().values == memory.meters().values
        assert (exported.fingerprint, exported.head_hash) == (memory.fingerprint, memory.head_hash)
        assert [e.id for e in FEATURES.entry_declarations.read_log(exported, Log.BILLS)] == [
            e.id for e in FEATURES.entry_declarations.read_log(memory, Log.BILLS)
        ]
        exported.self_audit()


def _change_last_entry(data):
    """Change a digit of the last entry's time; no later entry contains its hash."""
    *lines, last, footer = data.splitlines(keepends=True)
    offset = last.rindex(b"00+00:00")
    return b"".join([*lines, last[:offset] + b"1" + last[offset + 1 :], footer])


def _change_byte(data):
    offset = data.index(b"bill.in") + 5
    return data[:offset] + b"x" + data[offset + 1 :]


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (_change_byte, "one is missing, moved or altered"),
        (_change_last_entry, "SHA-256"),
        (lambda data: data[: data.rindex(b'{"sha256"')], "footer is missing"),
        (lambda _: b"", "the file is empty"),
        (lambda data: data.replace(b"open-egm journal 1", b"open-egm journal 9"), "not an export"),
        (lambda data: data.replace(b'"kind"', b'"kinds"', 1), "line 2"),
        (
            lambda data: b"\n".join([*data.splitlines()[:3], *data.splitlines()[2:]]) + b"\n",
            "does not follow entry",
        ),
        (lambda data: data.replace(data.splitlines(keepends=True)[2], b""), "does not follow entry 1"),
    ],
)
def test_an_altered_export_is_refused_with_the_reason(folder, tmp_path, change, reason):
    file = tmp_path / "altered.jsonl"
    file.write_bytes(change((folder / "whole.jsonl").read_bytes()))
    for command in (("meters",), ("audit", "log", "plays"), ("returns",)):
        result = run(*command, "--file", file)
        assert result.exit_code == 1
        assert result.output.startswith(f"Error: {file}")
        assert reason in result.output


def test_an_export_without_the_first_entries_is_refused(folder):
    result = run("meters", "--file", folder / "later.jsonl")
    assert result.exit_code == 1
    assert "it begins after entry 5; a complete export is needed" in result.output
    result = run("meters", "--file", folder / "whole.jsonl", "--state", folder / "state")
    assert result.exit_code == 2
    assert "give one of the two" in result.output
    result = run("meters", "--file", folder / "whole.jsonl", "--json", "--sign")
    assert result.exit_code == 2
    assert "cannot be combined with --file" in result.output


@pytest.mark.parametrize(
    "claimed", [{"public_key": MachineKey(b"7" * 32).public_key}, {"sequence": 9999}, {"head_hash": "0" * 64}]
)
def test_a_signed_header_that_does_not_fit_its_entries_is_refused(folder, claimed):
    key = (
        MachineKey(b"7" * 32) if "public_key" in claimed else MachineKey.load(DiskStorage(), folder / "state")
    )
    file = io.BytesIO()
    with open_view(folder / "state") as view:
        facts = {name: getattr(view, name) for name in ("public_key", "sequence", "head_hash", "iter_bodies")}
        export.write_export(SimpleNamespace(**facts | claimed), key, file, NOW)
    file.seek(0)
    with (
        pytest.raises(JournalDamaged, match="another machine key or another last entry"),
        open_exported_view(file, "forged"),
    ):
        pass


def write_forged_export(folder, file, *, skipped_entries=0, **changes):
    """Export the entries except the first ones, chained again with ``changes`` and signed with another key."""
    key, head_hex, bodies = MachineKey(b"7" * 32), "0" * 64, []
    with open_view(folder / "state") as view:
        entries = [json.loads(body) for body in view.iter_bodies()][skipped_entries:]
    for number, entry in enumerate(entries):
        if number == 0 and not skipped_entries:
            entry["record"]["public_key"] = key.public_key.hex()
        if entry["kind"] in changes.get("kinds", ()):
            entry.update(changes["content"])
        if not skipped_entries:
            entry["previous"] = head_hex
        bodies.append(encode_canonical_json(entry))
        head_hex = hashlib.sha256(bodies[-1]).hexdigest()
    facts = {"public_key": key.public_key, "sequence": entries[-1]["sequence"], "head_hash": head_hex}
    with file.open("wb") as stream:
        export.write_export(SimpleNamespace(iter_bodies=lambda _: bodies, **facts), key, stream, NOW)


def test_an_export_without_its_first_entries_is_not_taken_for_a_complete_one(folder, tmp_path):
    """Returns computed from it would silently omit the earlier games."""
    file = tmp_path / "tail.jsonl"
    write_forged_export(folder, file, skipped_entries=6)
    result = run("returns", "--file", file)
    assert result.exit_code == 1
    assert "does not follow entry 0" in result.output


@pytest.mark.parametrize(
    ("command", "state"),
    [
        (("levels",), {"link:a": 5}),
        (("levels", "--json"), {"level:a": {}}),
        (("returns",), {"definition:z": "H4sIAAAA"}),
        (("inventory", "show"), {"2/game": []}),
    ],
)
def test_a_content_that_no_machine_writes_is_an_error_that_names_the_file(folder, tmp_path, command, state):
    file = tmp_path / "forged.jsonl"
    write_forged_export(folder, file, kinds=("bill.confirmed",), content={"state": {**state, "paper": None}})
    answer = run(*command, "--file", file)
    assert answer.exception is None or isinstance(answer.exception, SystemExit), answer.exception
    assert answer.exit_code == 0 or answer.output.startswith(f"Error: {file}: ")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_the_command_and_removes_its_copy_of_the_journal(folder, tmp_path, monkeypatch, number):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))

    def read_until_a_signal():
        with open_journal(None, folder / "whole.jsonl"):
            assert list(tmp_path.iterdir()), "the copy is elsewhere"
            os.kill(os.getpid(), number)

    with pytest.raises(SystemExit) as ended:
        read_until_a_signal()
    assert ended.value.code == 128 + number
    assert not list(tmp_path.iterdir())
    assert signal.getsignal(number) is signal.SIG_DFL


def test_a_second_signal_does_not_interrupt_the_removal_of_the_copy(folder, tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    remove_folder = shutil.rmtree

    def remove_despite_a_signal(*args, **options):
        os.kill(os.getpid(), signal.SIGHUP)
        remove_folder(*args, **options)

    def read_until_a_signal():
        with open_journal(None, folder / "whole.jsonl"):
            monkeypatch.setattr(shutil, "rmtree", remove_despite_a_signal)
            os.kill(os.getpid(), signal.SIGTERM)

    with pytest.raises(SystemExit) as ended:
        read_until_a_signal()
    assert ended.value.code == 128 + signal.SIGTERM
    assert not list(tmp_path.iterdir())
    assert signal.getsignal(signal.SIGHUP) is signal.SIG_DFL


def test_a_command_that_ignores_the_end_of_its_terminal_goes_on(folder):
    handler = signal.signal(signal.SIGHUP, signal.SIG_IGN)  # as nohup does
    try:
        with open_journal(None, folder / "whole.jsonl") as view:
            os.kill(os.getpid(), signal.SIGHUP)
            assert list(view.entries())
    finally:
        signal.signal(signal.SIGHUP, handler)


def test_digits_of_meters_are_a_positive_number(folder):
    for digits in ("0", "-5"):
        result = run("meters", "--digits", digits, "--file", folder / "whole.jsonl")
        assert result.exit_code == 2
