"""Mystery prizes of a progressive controller: recorded, added to the game that won them, and paid.

The controller finds the winner while it counts the contributions of the wagers. So the result of a wager is known
only when its contribution has been counted. By then the game is on the screen; it does not end before. The prize's
amount is a secret to which the controller committed beforehand. The prize is added to the game that won it and paid
with that game's win.
If the controller does not reply, the game waits, or an attendant ends it if the profile allows this. If the prize is
reported later, it locks the machine and is paid by hand to the player of that game (I-09).

The id of a linked level is also the id of the pool under which the accounts hold its money.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Literal, NamedTuple

from egm.kernel.events import Event
from egm.kernel.machine import PositionMachine
from egm.money.keys import MoneyKey
from egm.money.records.money import HandpayRecord
from egm.play import game_messages
from egm.play.entries import GAME_VOID
from egm.play.records.game_record import GameRecord, LevelHitRecord, MysteryPrizeWon
from egm.play.records.games import GameInProgress, find_open_game
from egm.progressive import game_levels, held_prizes
from egm.progressive.entries import PRIZE_NOT_OF_THIS_MACHINE, PRIZE_PAID_BY_HAND, PRIZE_RETURNED, PRIZE_WON
from egm.progressive.events import AwardLocked, MysteryPrizeWonReport
from egm.progressive.keys import ProgressiveKey
from egm.progressive.messages import WonPrize
from egm.progressive.records import ClaimRecord, HeldPrize
from egm.record_codec import from_json
from meters import Transfer
from meters.recall import PLAY_START_KIND, PLAY_START_KINDS


def record_mystery_prize(machine: PositionMachine, event: Event) -> None:
    """Record a mystery prize that the controller reports, and add it to the game that won it.

    If that game has ended, the prize is paid by hand; while a game is open or another payment is in progress, the
    report is ignored, because the controller repeats it. If that game was declared void, the prize returns to its
    level. A report of a settled prize changes nothing. A prize that belongs to no wager of this machine is recorded
    once and not paid; if the controller corrects the report, the prize is paid. A prize that cannot be verified is held
    until staff have ruled on it (:mod:`egm.progressive.held_prizes`), even if a later report can be verified.
    """
    report = event.read_payload(MysteryPrizeWonReport)
    level_id, prize = report.level_id, report.won_prize
    if held_prizes.is_prize_report_closed(machine, prize):
        return
    held_prize = machine.memory.read(HeldPrize, f"{ProgressiveKey.HELD_PRIZE}{prize.claim_id}")
    if held_prize is not None:
        held_prizes.hold_prize(machine, prize.claim_id, held_prize)
        return
    open_game_record = find_open_game(machine)
    game_record = (
        open_game_record
        if open_game_record is not None
        and _has_contributed_to_level(open_game_record, level_id, prize.contribution_number)
        else None
    )
    game_record = game_record or _find_contributing_game(machine, level_id, prize.contribution_number)
    if game_record is None:
        machine.post(
            PRIZE_NOT_OF_THIS_MACHINE,
            _build_prize_record(machine, None, level_id, prize),
            entry_id=held_prizes.build_foreign_prize_entry_id(prize),
        )
    elif _is_game_void(machine, game_record):
        _return_prize_to_level(machine, game_record, level_id, prize, "void")
    elif reason := held_prizes.find_reason_to_doubt_prize(machine, level_id, prize):
        held_prize = HeldPrize(
            pool_id=level_id,
            play_id=game_record.play_id,
            amount_cents=prize.amount_cents,
            reason=reason,
            ruling=None,
            prize_report=prize.model_dump(mode="json", by_alias=True),
        )
        held_prizes.hold_prize(machine, prize.claim_id, held_prize)
    elif open_game_record is not None and game_record.play_id == open_game_record.play_id:
        _add_prize_to_game(machine, game_record, level_id, prize)
    elif _can_open_handpay(machine, open_game_record):
        _reserve_prize_for_handpay(machine, game_record, level_id, prize)


def ruled_mystery_prize_can_be_settled(machine: PositionMachine, _: Event) -> bool:
    """Return whether staff have ruled on a held mystery prize and the ruling can be carried out now."""
    return any(True for _ in _iter_ruled_prizes(machine))


def settle_ruled_mystery_prizes(machine: PositionMachine, _: Event) -> None:
    """Carry out the rulings on held mystery prizes: pay the prize by hand, or return it to its level."""
    for key, ruling, game_record, level_id, prize in _iter_ruled_prizes(machine):
        if ruling == held_prizes.DECISION_PAY:
            _reserve_prize_for_handpay(machine, game_record, level_id, prize, {key: None})
        else:
            _return_prize_to_level(machine, game_record, level_id, prize, "declined", {key: None})


class _RuledPrize(NamedTuple):
    """A held mystery prize on which staff have ruled, with its storage key and the game that won it."""

    key: str
    ruling: str
    game_record: GameRecord
    level_id: str
    prize: WonPrize


def _iter_ruled_prizes(machine: PositionMachine) -> Iterator[_RuledPrize]:
    """Yield each held mystery prize whose ruling can be carried out now."""
    for claim_id, held_prize in machine.memory.read_all(HeldPrize, ProgressiveKey.HELD_PRIZE).items():
        if held_prize.ruling is None or not _can_open_handpay(machine, find_open_game(machine)):
            continue
        level_id, prize = held_prize.pool_id, WonPrize.model_validate(held_prize.prize_report)
        game_record = _find_contributing_game(machine, level_id, prize.contribution_number)
        if game_record is not None:
            key = f"{ProgressiveKey.HELD_PRIZE}{claim_id}"
            yield _RuledPrize(key, held_prize.ruling, game_record, level_id, prize)


def send_award_to_screen(machine: PositionMachine, event: Event) -> None:
    """Send the open game to the screen again if its progressive hit now has a locked award (AR 29.1(b))."""
    game_record = find_open_game(machine)
    if game_record is not None and any(
        hit.claim_id == event.read_payload(AwardLocked).claim_id
        for hit in game_levels.list_game_hits(machine, game_record)
    ):
        _send_open_game_to_screen(machine)


def _send_open_game_to_screen(machine: PositionMachine) -> None:
    """Send the open game's current message to the screen, if it has one."""
    message = game_messages.build_message(machine, is_resumed=False)
    if message is not None:
        machine.screen_outbox.send_message(message)


# ---------------------------------------------------------------------------------------------- the game that won
def _has_contributed_to_level(game_record: GameRecord, level_id: str, contribution_number: int) -> bool:
    """Return whether the game's wager made the contribution number ``contribution_number`` to the level."""
    return any(
        contribution.pool_id == level_id and contribution.contribution_number == contribution_number
        for contribution in game_record.levels.contributions
    )


def _find_contributing_game(
    machine: PositionMachine, level_id: str, contribution_number: int
) -> GameRecord | None:
    """Return the game whose wager made contribution ``contribution_number`` to the level; None if no game did.

    Games are searched from the newest. A game whose contributions to the level are all older than the wanted one ends
    the search, unless a memory clear carried it over: such entries are not in the order of play.
    """
    for entry in machine.journal.entries(PLAY_START_KINDS, newest_first=True):
        game_record = from_json(GameRecord, entry.record, f"entry {entry.sequence}, {entry.kind}")
        contribution_numbers = [
            contribution.contribution_number
            for contribution in game_record.levels.contributions
            if contribution.pool_id == level_id and contribution.contribution_number is not None
        ]
        if contribution_number in contribution_numbers:
            return game_record
        if (
            entry.kind == PLAY_START_KIND
            and contribution_numbers
            and max(contribution_numbers) < contribution_number
        ):
            return None
    return None


def _is_game_void(machine: PositionMachine, game_record: GameRecord) -> bool:
    """Return whether the game was declared void."""
    void_entry_id = f"{game_record.play_id}.void"
    return game_record.end_entry_kind == GAME_VOID.kind or machine.journal.has_entry(void_entry_id)


def _can_open_handpay(machine: PositionMachine, open_game_record: GameRecord | None) -> bool:
    """Return whether a hand-pay can be opened now: no game is open, and nothing else is being paid."""
    return (
        open_game_record is None
        and machine.memory.get(MoneyKey.HANDPAY) is None
        and machine.memory.get(MoneyKey.PAY_OUT) is None
    )


# -------------------------------------------------------------------------------------------- records
def _build_prize_record(
    machine: PositionMachine, game_record: GameRecord | None, level_id: str, prize: WonPrize
) -> MysteryPrizeWon:
    """Return the record of a mystery prize: its published secret, and the commitment received earlier, if any."""
    commitment = held_prizes.find_received_commitment(machine, level_id, prize.trigger.prize_number)
    return MysteryPrizeWon(
        play_id=None if game_record is None else game_record.play_id,
        pool_id=level_id,
        claim_id=prize.claim_id,
        contribution_number=prize.contribution_number,
        amount_cents=prize.amount_cents,
        hit_number=prize.hit_number,
        opened_secret=prize.trigger.to_json(),
        commitment=commitment,
        is_proved=not held_prizes.find_reason_to_doubt_prize(machine, level_id, prize),
    )


def _build_claim_state(
    machine: PositionMachine,
    game_record: GameRecord,
    level_id: str,
    prize: WonPrize,
    payment_method: str | None,
) -> dict[str, object]:
    """Return the state change that stores the claim to a mystery prize, until the controller has closed the claim.

    The claim is the record of the win that machine and controller share until both have recorded the payment.
    """
    record = ClaimRecord(
        pool_id=level_id,
        level_name=_find_level_name(game_record, level_id),
        is_mystery=True,
        contribution_number=prize.contribution_number,
        shown_cents=prize.amount_cents,
        play_id=game_record.play_id,
        game_id=game_record.game_reference.id,
        at_utc=machine.clock.now().isoformat(),
        amount_cents=prize.amount_cents,
        payment_method=payment_method,
        is_settled_by_staff=False,
    )
    return {f"{ProgressiveKey.CLAIM}{prize.claim_id}": record}


def _find_level_name(game_record: GameRecord, level_id: str) -> str:
    """Return the name that the game's definition gives to a progressive level."""
    return next(
        (name for name, pool_id in game_record.levels.pool_id_by_level.items() if pool_id == level_id),
        level_id,
    )


def _add_prize_to_game(
    machine: PositionMachine, game_record: GameRecord, level_id: str, prize: WonPrize
) -> None:
    """Record a mystery prize as a progressive hit of the open game, and show the game again."""
    hit = LevelHitRecord(
        pool_id=level_id,
        level_name=_find_level_name(game_record, level_id),
        is_mystery=True,
        claim_id=prize.claim_id,
        amount_cents=prize.amount_cents,
    )
    machine.post(
        PRIZE_WON,
        replace(_build_prize_record(machine, game_record, level_id, prize), hits=(hit,)),
        entry_id=held_prizes.build_prize_entry_id(prize.claim_id),
        state=_build_claim_state(machine, game_record, level_id, prize, None),
    )
    machine.component(GameInProgress).record = game_record.with_hits((hit,))
    _send_open_game_to_screen(machine)


def _return_prize_to_level(
    machine: PositionMachine,
    game_record: GameRecord,
    level_id: str,
    prize: WonPrize,
    reason: Literal["void", "declined"],
    state_change: Mapping[str, object] | None = None,
) -> None:
    """Record that a mystery prize returns to its level, because its game was void or staff have declined it."""
    machine.post(
        PRIZE_RETURNED,
        replace(_build_prize_record(machine, game_record, level_id, prize), late_decision=reason),
        entry_id=held_prizes.build_prize_entry_id(prize.claim_id),
        state={**_build_claim_state(machine, game_record, level_id, prize, "void"), **(state_change or {})},
    )


def _reserve_prize_for_handpay(
    machine: PositionMachine,
    game_record: GameRecord,
    level_id: str,
    prize: WonPrize,
    state_change: Mapping[str, object] | None = None,
) -> None:
    """Reserve a mystery prize for a hand-pay, because the game that won it is closed."""
    reservation_id = held_prizes.build_prize_entry_id(prize.claim_id)
    handpay = HandpayRecord(
        id=reservation_id,
        kind="progressive",
        amount_cents=prize.amount_cents,
        progressive_pools=level_id,
        play_id=game_record.play_id,
    )
    game_levels.register_hit(
        machine,
        game_record,
        f"{prize.claim_id}.hit",
        pool_id=level_id,
        level_name=_find_level_name(game_record, level_id),
        amount_cents=prize.amount_cents,
        payment_method="hand",
    )
    machine.post(
        PRIZE_PAID_BY_HAND,
        replace(_build_prize_record(machine, game_record, level_id, prize), late_decision="hand"),
        entry_id=reservation_id,
        transfers=(Transfer(f"house:progressive:{level_id}", "out:handpay_progressive", prize.amount_cents),),
        dims=game_record.meter_dimensions,
        state={
            **_build_claim_state(machine, game_record, level_id, prize, "hand"),
            MoneyKey.HANDPAY: handpay,
            **(state_change or {}),
        },
    )
