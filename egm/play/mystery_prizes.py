"""Mystery prizes of a progressive controller: recorded, added to the game that won them, and paid.

The controller finds the winner while it counts the contributions of the wagers. Whether a wager has won is therefore
known only once the controller has counted its contribution. Until then the game stays open on the screen. The prize's
amount is a secret to which the controller committed beforehand. The prize is added to the game that won it and paid
with that game's win.

If the controller does not reply, the game waits, or an attendant ends it if the profile allows this. If the prize is
reported later, it locks the machine and is paid by hand to the player of that game (I-09).

The accounts hold the money of a linked level under its id: ``pool_id`` is the id of the level and of this pool.
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
from egm.play.records.game_record import GameRecord, LevelHitRecord, MysteryPrizeRecord
from egm.play.records.games import GameInProgress, find_open_game
from egm.progressive import game_levels, held_prizes
from egm.progressive.entries import PRIZE_NOT_OF_THIS_MACHINE, PRIZE_PAID_BY_HAND, PRIZE_RETURNED, PRIZE_WON
from egm.progressive.events import AwardLocked, MysteryPrizeReport
from egm.progressive.keys import ProgressiveKey
from egm.progressive.messages import MysteryPrizeMessage
from egm.progressive.records import ClaimRecord, HeldPrize
from egm.record_codec import from_json
from meters import Transfer
from meters.recall import PLAY_START_KIND, PLAY_START_KINDS


def handle_mystery_prize_report(machine: PositionMachine, event: Event) -> None:
    """Process a controller's report of a mystery prize. The first of these cases that applies decides what happens.

    * The prize is settled, or this report is already recorded as another machine's: nothing changes.
    * It is held: it stays held until staff have ruled on it, even if this report can be verified.
    * No wager of this machine won it: it is recorded once and not paid. If the controller corrects the report, the
      prize is paid.
    * The game that won it was declared void: the prize returns to its level.
    * It cannot be verified: it is held until staff have ruled on it (:mod:`egm.progressive.held_prizes`).
    * The game that won it is open: the prize is added to that game.
    * That game has ended: the prize is paid by hand. While a game is open or another payment is in progress, the
      report is ignored, because the controller repeats it.
    """
    report = event.read_payload(MysteryPrizeReport)
    pool_id, prize = report.level_id, report.won_prize
    if held_prizes.is_prize_report_closed(machine, prize):
        return
    held_prize = machine.memory.read(HeldPrize, f"{ProgressiveKey.HELD_PRIZE}{prize.claim_id}")
    if held_prize is not None:
        held_prizes.hold_prize(machine, prize.claim_id, held_prize)
        return
    open_game_record = find_open_game(machine)
    if open_game_record is not None and _has_contributed_to_level(
        open_game_record, pool_id, prize.contribution_number
    ):
        game_record: GameRecord | None = open_game_record
    else:
        game_record = _find_contributing_game(machine, pool_id, prize.contribution_number)
    if game_record is None:
        machine.post(
            PRIZE_NOT_OF_THIS_MACHINE,
            _build_prize_record(machine, None, pool_id, prize),
            entry_id=held_prizes.build_foreign_prize_entry_id(prize),
        )
    elif _is_game_void(machine, game_record):
        _return_prize_to_level(machine, game_record, pool_id, prize, "void")
    elif reason := held_prizes.find_reason_to_doubt_prize(machine, pool_id, prize):
        held_prize = HeldPrize(
            pool_id=pool_id,
            play_id=game_record.play_id,
            amount_cents=prize.amount_cents,
            reason=reason,
            ruling=None,
            prize_report=prize.model_dump(mode="json", by_alias=True),
        )
        held_prizes.hold_prize(machine, prize.claim_id, held_prize)
    elif open_game_record is not None and game_record.play_id == open_game_record.play_id:
        _add_prize_to_game(machine, game_record, pool_id, prize)
    elif _can_open_handpay(machine, open_game_record):
        _reserve_prize_for_handpay(machine, game_record, pool_id, prize)


def ruled_mystery_prize_can_be_settled(machine: PositionMachine, _: Event) -> bool:
    """Return whether staff have ruled on a held mystery prize and the ruling can be carried out now."""
    return any(True for _ in _iter_ruled_prizes(machine))


def settle_ruled_mystery_prizes(machine: PositionMachine, _: Event) -> None:
    """Carry out the rulings on held mystery prizes: pay the prize by hand, or return it to its level."""
    for key, ruling, game_record, pool_id, prize in _iter_ruled_prizes(machine):
        if ruling == held_prizes.DECISION_PAY:
            _reserve_prize_for_handpay(machine, game_record, pool_id, prize, {key: None})
        else:
            _return_prize_to_level(machine, game_record, pool_id, prize, "declined", {key: None})


class _RuledPrize(NamedTuple):
    """A held mystery prize on which staff have ruled, with its storage key and the game that won it."""

    key: str
    ruling: str
    game_record: GameRecord
    pool_id: str
    prize: MysteryPrizeMessage


def _iter_ruled_prizes(machine: PositionMachine) -> Iterator[_RuledPrize]:
    """Yield each held mystery prize whose ruling can be carried out now."""
    for claim_id, held_prize in machine.memory.read_all(HeldPrize, ProgressiveKey.HELD_PRIZE).items():
        if held_prize.ruling is None or not _can_open_handpay(machine, find_open_game(machine)):
            continue
        pool_id, prize = held_prize.pool_id, MysteryPrizeMessage.model_validate(held_prize.prize_report)
        game_record = _find_contributing_game(machine, pool_id, prize.contribution_number)
        if game_record is not None:
            key = f"{ProgressiveKey.HELD_PRIZE}{claim_id}"
            yield _RuledPrize(key, held_prize.ruling, game_record, pool_id, prize)


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
def _has_contributed_to_level(game_record: GameRecord, pool_id: str, contribution_number: int) -> bool:
    """Return whether the game's wager made the contribution number ``contribution_number`` to the level."""
    return any(
        contribution.pool_id == pool_id and contribution.contribution_number == contribution_number
        for contribution in game_record.levels.contributions
    )


def _find_contributing_game(
    machine: PositionMachine, pool_id: str, contribution_number: int
) -> GameRecord | None:
    """Return the game whose wager made contribution ``contribution_number`` to the level; None if no game did.

    Games are searched from the newest. The search ends at a game whose contributions to the level are all older than
    the wanted one. Games that a memory clear carried over do not end it, because their entries are not in the order of
    play.
    """
    for entry in machine.journal.entries(PLAY_START_KINDS, newest_first=True):
        game_record = from_json(GameRecord, entry.record, f"entry {entry.sequence}, {entry.kind}")
        contribution_numbers = [
            contribution.contribution_number
            for contribution in game_record.levels.contributions
            if contribution.pool_id == pool_id and contribution.contribution_number is not None
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
    machine: PositionMachine, game_record: GameRecord | None, pool_id: str, prize: MysteryPrizeMessage
) -> MysteryPrizeRecord:
    """Return the journal record of a mystery prize, with its published secret and the commitment to that secret."""
    commitment = held_prizes.find_received_commitment(machine, pool_id, prize.trigger.prize_number)
    return MysteryPrizeRecord(
        play_id=None if game_record is None else game_record.play_id,
        pool_id=pool_id,
        claim_id=prize.claim_id,
        contribution_number=prize.contribution_number,
        amount_cents=prize.amount_cents,
        hit_number=prize.hit_number,
        opened_secret=prize.trigger.to_json(),
        commitment=commitment,
        is_verified=not held_prizes.find_reason_to_doubt_prize(machine, pool_id, prize),
    )


def _build_claim_state(
    machine: PositionMachine,
    game_record: GameRecord,
    pool_id: str,
    prize: MysteryPrizeMessage,
    payment_method: str | None,
) -> dict[str, object]:
    """Return the state change that stores the claim to a mystery prize, until the controller has closed the claim.

    The claim is the record of the win that machine and controller share until both have recorded the payment.
    """
    record = ClaimRecord(
        pool_id=pool_id,
        level_name=_find_level_name(game_record, pool_id),
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


def _find_level_name(game_record: GameRecord, pool_id: str) -> str:
    """Return the name that the game's definition gives to a progressive level."""
    return next(
        (
            name
            for name, level_pool_id in game_record.levels.pool_id_by_level.items()
            if level_pool_id == pool_id
        ),
        pool_id,
    )


def _add_prize_to_game(
    machine: PositionMachine, game_record: GameRecord, pool_id: str, prize: MysteryPrizeMessage
) -> None:
    """Record a mystery prize as a progressive hit of the open game, and show the game again."""
    hit = LevelHitRecord(
        pool_id=pool_id,
        level_name=_find_level_name(game_record, pool_id),
        is_mystery=True,
        claim_id=prize.claim_id,
        amount_cents=prize.amount_cents,
    )
    machine.post(
        PRIZE_WON,
        replace(_build_prize_record(machine, game_record, pool_id, prize), hits=(hit,)),
        entry_id=held_prizes.build_prize_entry_id(prize.claim_id),
        state=_build_claim_state(machine, game_record, pool_id, prize, None),
    )
    machine.component(GameInProgress).record = game_record.with_hits((hit,))
    _send_open_game_to_screen(machine)


def _return_prize_to_level(
    machine: PositionMachine,
    game_record: GameRecord,
    pool_id: str,
    prize: MysteryPrizeMessage,
    reason: Literal["void", "declined"],
    state_change: Mapping[str, object] | None = None,
) -> None:
    """Record that a mystery prize returns to its level, because its game was void or staff have declined it."""
    machine.post(
        PRIZE_RETURNED,
        replace(_build_prize_record(machine, game_record, pool_id, prize), late_decision=reason),
        entry_id=held_prizes.build_prize_entry_id(prize.claim_id),
        state={**_build_claim_state(machine, game_record, pool_id, prize, "void"), **(state_change or {})},
    )


def _reserve_prize_for_handpay(
    machine: PositionMachine,
    game_record: GameRecord,
    pool_id: str,
    prize: MysteryPrizeMessage,
    state_change: Mapping[str, object] | None = None,
) -> None:
    """Reserve a mystery prize for a hand-pay, because the game that won it is closed."""
    reservation_id = held_prizes.build_prize_entry_id(prize.claim_id)
    handpay = HandpayRecord(
        id=reservation_id,
        kind="progressive",
        amount_cents=prize.amount_cents,
        progressive_pools=pool_id,
        play_id=game_record.play_id,
    )
    game_levels.register_hit(
        machine,
        game_record,
        f"{prize.claim_id}.hit",
        pool_id=pool_id,
        level_name=_find_level_name(game_record, pool_id),
        amount_cents=prize.amount_cents,
        payment_method="hand",
    )
    machine.post(
        PRIZE_PAID_BY_HAND,
        replace(_build_prize_record(machine, game_record, pool_id, prize), late_decision="hand"),
        entry_id=reservation_id,
        transfers=(Transfer(f"house:progressive:{pool_id}", "out:handpay_progressive", prize.amount_cents),),
        dims=game_record.meter_dimensions,
        state={
            **_build_claim_state(machine, game_record, pool_id, prize, "hand"),
            MoneyKey.HANDPAY: handpay,
            **(state_change or {}),
        },
    )
