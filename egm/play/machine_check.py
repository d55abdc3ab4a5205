"""The check of the machine before a large hand-pay: the game is replayed and the accounts are checked (Monaco 21.1)."""

import hashlib

from egm.integrity.keys import IntegrityKey
from egm.integrity.records import InstalledSoftware
from egm.kernel.events import Event
from egm.kernel.machine import PositionMachine
from egm.kernel.messages import Notice
from egm.money.keys import MoneyKey
from egm.money.records.money import HandpayRecord
from egm.play.definitions import find_definition
from egm.play.entries import MACHINE_CHECKED, MachineChecked
from egm.play.events import MachineCheckForm
from egm.play.records.game_record import GameRecord
from egm.play.records.games import find_last_game, find_open_game
from egm.play.stepped_game import REPLAY_ERRORS, replay_game
from egm.staff.form import list_event_persons
from meters import SelfAuditFailed


def record_machine_check(machine: PositionMachine, event: Event) -> None:
    """Check the accounts and the open game, or else the last one; record results, meters and journal head."""
    last_game_record, _ = find_last_game(machine) or (None, None)
    game_record = find_open_game(machine) or last_game_record
    handpay = machine.memory.read(HandpayRecord, MoneyKey.HANDPAY)
    values = machine.journal.meters().values
    check = MachineChecked(
        replay_result="none" if game_record is None else _compute_replay_result(machine, game_record),
        journal_result=_compute_journal_result(machine),
        play_id=None if game_record is None else game_record.play_id,
        game_digest=None if game_record is None else game_record.game_reference.digest,
        signed_software=_describe_software(machine),
        open_handpay_id=None if handpay is None else handpay.id,
        meters={name: value for name, value in values.items() if value},
        head_hash=machine.journal.head_hash,
        persons=tuple(list_event_persons(machine, event)),
        remark=event.read_payload(MachineCheckForm).remark or "",
    )
    machine.post(MACHINE_CHECKED, check)
    is_right = all(result in {"right", "none"} for result in (check.replay_result, check.journal_result))
    machine.notice = Notice(
        code="machine_checked" if is_right else "machine_check_failed",
        severity="info" if is_right else "alarm",
    )


def _compute_replay_result(machine: PositionMachine, game_record: GameRecord) -> str:
    """Return ``right`` if replaying the game's draws gives its recorded outcome, otherwise the error as text."""
    try:
        replay_game(find_definition(machine, game_record.game_reference), game_record)
    except REPLAY_ERRORS as error:
        return str(error)
    return "right"


def _describe_software(machine: PositionMachine) -> dict[str, str] | None:
    """Return the version, signer and digest of the signed software, or None if the software is not signed."""
    installed_software = machine.memory.read(InstalledSoftware, IntegrityKey.INSTALLED_SOFTWARE)
    if installed_software is None:
        return None
    lines = "\n".join(f"{name} {digest}" for name, digest in sorted(installed_software.components.items()))
    return {
        "version": installed_software.version,
        "signer": installed_software.signer,
        "sha256": hashlib.sha256(lines.encode()).hexdigest(),
    }


def _compute_journal_result(machine: PositionMachine) -> str:
    """Return ``right`` if the journal's sums and hash chain are correct, otherwise the error as text."""
    try:
        machine.journal.self_audit()
    except SelfAuditFailed as error:
        return str(error)
    return "right"
