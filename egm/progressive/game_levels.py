"""Effects of one game on its progressive levels: contributions, hits, claims and payments.

If the level is the machine's own, a hit's amount is locked in the same transaction as the game's outcome. A hit
of a controller's level is claimed from the controller (:mod:`egm.progressive.link`). The game then waits in
state ``awaiting_award``, also through a power loss, until the controller has locked the amount, or until an
attendant settles it if the profile allows this.
"""

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Literal

from egm.errors import InvariantError, LocalError
from egm.kernel.events import Event, EventType
from egm.kernel.machine import PositionMachine
from egm.kernel.messages import Notice, ProgressiveWin
from egm.kernel.rules import refusal_code
from egm.play.events import OutcomeShown
from egm.play.records.game_record import GameRecord, LevelHitRecord, LevelsPlayed
from egm.play.records.games import find_open_game
from egm.progressive import held_prizes, posting
from egm.progressive.bet import AcceptedBet
from egm.progressive.display import LevelAmountSources, LevelStatus
from egm.progressive.entries import (
    AWARD_AWAITED,
    AWARD_DIFFERS,
    AWARD_LOCKED,
    BROADCAST_LEVEL_HIT,
    CLAIM_CLOSED,
    CLAIM_SETTLED_WITHOUT_CONTROLLER,
    GAME_ENDED_WITH_UNDECIDED_LEVELS,
    LEVEL_CHANGED,
    LEVEL_HIT,
    LEVEL_LINKED,
    LEVEL_OPENED,
    ClaimClosed,
    ClaimSettledWithoutController,
    GameEndedWithUndecidedLevels,
    LevelAward,
    LevelChanged,
    LevelHitRegistered,
    LevelLinked,
    LevelOpened,
    UnexpectedAward,
)
from egm.progressive.events import AwardLocked, ProgressiveClaimClosed
from egm.progressive.keys import ProgressiveKey
from egm.progressive.level import Level
from egm.progressive.level_changes import FormerPool, LevelAccess, LevelChanges, LinkProgress
from egm.progressive.level_views import list_levels_of_bet_in_force, read_displayed_amount, read_own_level
from egm.progressive.pools import LevelKeeper, ProgressivePool, ProgressivePools
from egm.progressive.records import BroadcastWin, ClaimRecord, HeldPrize
from egm.staff.desk import find_actor
from meters import Transfer


@dataclass(frozen=True, slots=True, kw_only=True)
class GameHit:
    """One hit of a progressive level by a game."""

    pool_id: str
    level_name: str
    claim_id: str | None
    """The id of the claim sent to the controller; None for a level without a controller."""
    amount_cents: int | None
    """The amount won in minor units; None until the controller has locked it."""
    is_settled_by_staff: bool = False
    """Whether staff settled the hit, because its controller did not reply or its report could not be verified."""


# ---------------------------------------------------------------------------------------------- start-up
def open_levels(machine: PositionMachine) -> None:
    """At start-up, open new progressive levels, record changed terms, and verify every level's sums.

    For a new level of a controller, a zero count of contributions is stored before the first wager. Changed terms take
    effect after the next hit that pays the whole level, not a share of it (NY 5321.18(b)(4)). The amount of a level
    that is no longer in the cabinet file stays stored in the journal. Raises :class:`LevelDefectiveError` if the sums
    of a level do not agree.
    """
    for pool in machine.component(ProgressivePools).pool_by_id.values():
        if not pool.is_own:
            _store_first_link_progress(machine, pool)
            continue
        key, terms = f"{ProgressiveKey.OWN_LEVEL}{pool.id}", pool.definition.terms
        stored_level = machine.journal.state(key)
        if stored_level is None:
            level = Level.open(terms)
            machine.post(
                LEVEL_OPENED,
                LevelOpened(
                    pool_id=pool.id,
                    game_id=pool.game_id,
                    level_name=pool.level_name,
                    stake_cents=pool.definition.stake_and_hit_rate.stake_cents,
                    terms=terms,
                ),
                transfers=posting.build_opening_transfers(pool.id, level),
                state={key: level},
            )
            continue
        level = Level.from_json(stored_level)
        changed_level = level.change_terms(terms)
        if changed_level != level:
            machine.post(
                LEVEL_CHANGED, LevelChanged(pool_id=pool.id, terms=terms), state={key: changed_level}
            )
    for key, stored_level in machine.journal.states(ProgressiveKey.OWN_LEVEL).items():
        level = Level.from_json(stored_level)
        posting.check_pool_balances(
            key.removeprefix(ProgressiveKey.OWN_LEVEL), level, machine.journal.balance_cents
        )


def _store_first_link_progress(machine: PositionMachine, pool: ProgressivePool) -> None:
    """Store a zero count of contributions for a controller's level that is in the cabinet file for the first time."""
    key = f"{ProgressiveKey.LINK_PROGRESS}{pool.id}"
    if pool.keeper is LevelKeeper.CONTROLLER and machine.journal.state(key) is None:
        machine.post(LEVEL_LINKED, LevelLinked(pool_id=pool.id), state={key: LinkProgress()})


# ---------------------------------------------------------------------------------------------- one game
def build_changes_for_start(machine: PositionMachine, bet: AcceptedBet, play_id: str) -> LevelChanges:
    """Return a new collector of changes to progressive levels, for a game that is about to start with ``bet``.

    The sums of the machine's own levels that the bet plays for are verified first (A-03). Raises
    :class:`LevelDefectiveError` if they do not agree: the machine must then stop.
    """
    for pool in bet.progressive_pools:
        if pool.is_own:
            posting.check_pool_balances(pool.id, _read_level(machine, pool.id), machine.journal.balance_cents)
    pool_by_level = {pool.level_name: pool for pool in bet.progressive_pools}
    return _build_level_changes(
        machine, LevelsPlayed(), pool_by_level, bet.qualifying_stake_cents_by_level, f"{play_id}.0"
    )


def build_changes_for_step(machine: PositionMachine, game_record: GameRecord) -> LevelChanges:
    """Return a new collector of changes to progressive levels, for the next step of an open game.

    The levels receive no further contribution.
    """
    pool_by_level = {
        level_name: _find_pool(machine, game_record.levels, pool_id)
        for level_name, pool_id in game_record.levels.pool_id_by_level.items()
    }
    return _build_level_changes(
        machine, game_record.levels, pool_by_level, {}, f"{game_record.play_id}.{len(game_record.steps)}"
    )


def _find_pool(
    machine: PositionMachine, levels_played: LevelsPlayed, pool_id: str
) -> ProgressivePool | FormerPool:
    """Return an open game's progressive level by its id: as configured now, or else as the game recorded it."""
    configured_pool = machine.component(ProgressivePools).pool_by_id.get(pool_id)
    if configured_pool is not None:
        return configured_pool
    contribution = next(
        (contribution for contribution in levels_played.contributions if contribution.pool_id == pool_id),
        None,
    )
    if contribution is None:
        return FormerPool(id=pool_id, keeper=LevelKeeper.BROADCAST)
    return FormerPool(
        id=pool_id,
        keeper=LevelKeeper.CONTROLLER
        if contribution.contribution_number is not None
        else LevelKeeper.MACHINE,
    )


def _find_shown_cents(machine: PositionMachine, levels_played: LevelsPlayed, pool_id: str) -> int:
    """Return the amount that a level shows to an open game, in minor units.

    It is the last known amount if none is being received; a received amount of 0 counts as none.
    """
    configured_pool = machine.component(ProgressivePools).pool_by_id.get(pool_id)
    received_cents = (
        0 if configured_pool is None else read_displayed_amount(machine, configured_pool).amount_cents
    )
    last_cents_by_pool_id = levels_played.broadcast_cents
    return received_cents or (
        last_cents_by_pool_id[pool_id]
        if pool_id in last_cents_by_pool_id
        else find_link_progress(machine, pool_id).shown_cents
    )


def _build_level_changes(
    machine: PositionMachine,
    levels_played: LevelsPlayed,
    pool_by_level: Mapping[str, ProgressivePool | FormerPool],
    qualifying_stake_cents_by_level: Mapping[str, int],
    step_id: str,
) -> LevelChanges:
    """Return a new collector of the changes that one step of a game makes to its progressive levels.

    ``qualifying_stake_cents_by_level`` is the stake that qualifies for each level's increment, in minor units by the
    level's name.
    """
    level_access = LevelAccess(
        read_level=lambda pool_id: _read_level(machine, pool_id),
        find_link_progress=lambda pool_id: find_link_progress(machine, pool_id),
        find_shown_cents=lambda pool_id: _find_shown_cents(machine, levels_played, pool_id),
    )
    return LevelChanges(
        pool_by_level,
        qualifying_stake_cents_by_level,
        level_access,
        claim_prefix=f"{_build_claim_prefix(machine)}.{step_id}",
        earlier_levels_played=levels_played,
    )


def _build_claim_prefix(machine: PositionMachine) -> str:
    """Return the prefix of the ids of this machine's progressive claims, unique among machines."""
    return machine.journal.public_key.hex()[:12]


def _is_own_level(machine: PositionMachine, pool_id: str) -> bool:
    """Return whether a progressive level is or was this machine's own, not a controller's or a host's."""
    return machine.journal.state(f"{ProgressiveKey.OWN_LEVEL}{pool_id}") is not None


def _read_level(machine: PositionMachine, pool_id: str) -> Level:
    """Return the stored state of a progressive level of this machine."""
    level = read_own_level(machine, pool_id)
    if level is None:
        raise LocalError(f"level {pool_id} has no stored state, because it was never opened")
    return level


def find_link_progress(machine: PositionMachine, pool_id: str) -> LinkProgress:
    """Return this machine's contributions to a controller's level, how many are counted, and the amount shown.

    The number of contributions is the stored one. The others are the link's if it reports on the level, else as stored.
    """
    progress = machine.memory.read(LinkProgress, f"{ProgressiveKey.LINK_PROGRESS}{pool_id}") or LinkProgress()
    link = machine.component(LevelAmountSources).link
    status = None if link is None else link.find_contribution_status(pool_id)
    if link is None or status is None:
        return progress
    shown_cents = link.find_displayed_amount(pool_id).amount_cents
    return LinkProgress(
        contribution_number=progress.contribution_number, shown_cents=shown_cents, **asdict(status)
    )


def build_step_state(
    machine: PositionMachine, game_record: GameRecord, level_changes: LevelChanges
) -> dict[str, object]:
    """Return the state changes to store with a game's step, by storage key.

    They are the changed levels, contribution counts, new claims, and hits of broadcast levels for the host to
    read.
    """
    claim_by_key = {
        f"{ProgressiveKey.CLAIM}{claim_id}": ClaimRecord(
            pool_id=claimed_hit.pool_id,
            level_name=claimed_hit.level_name,
            contribution_number=claimed_hit.contribution_number,
            won_share=claimed_hit.won_share,
            shown_cents=claimed_hit.shown_cents,
            play_id=game_record.play_id,
            game_id=game_record.game_reference.id,
            at_utc=machine.clock.now().isoformat(),
            amount_cents=None,
            payment_method=None,
            is_settled_by_staff=False,
        )
        for claim_id, claimed_hit in level_changes.hit_by_claim_id.items()
    }
    broadcast_win_by_key = {
        f"{ProgressiveKey.UNREAD_BROADCAST_WIN}{level_changes.claim_prefix}.{n}": BroadcastWin(
            pool_id=pool_id, amount_cents=amount_cents, entry_sequence=machine.journal.sequence + 1
        )
        for n, (pool_id, amount_cents) in enumerate(level_changes.broadcast_hits)
    }
    return {
        **broadcast_win_by_key,
        **{
            f"{ProgressiveKey.OWN_LEVEL}{pool_id}": level.to_json()
            for pool_id, level in level_changes.level_by_pool_id.items()
        },
        **{
            f"{ProgressiveKey.LINK_PROGRESS}{pool_id}": progress
            for pool_id, progress in level_changes.link_progress_by_pool_id.items()
        },
        **claim_by_key,
    }


# -------------------------------------------------------------------------------------------- hits and awards
def list_hits_for_screen(machine: PositionMachine, game_record: GameRecord) -> tuple[ProgressiveWin, ...]:
    """Return a game's progressive wins with the level's names and the amount, for the screen."""
    return tuple(
        ProgressiveWin(
            id=hit.pool_id,
            level=hit.level_name,
            names=dict(pool.definition.names)
            if (pool := machine.component(ProgressivePools).pool_by_id.get(hit.pool_id)) is not None
            else {},
            amount_cents=hit.amount_cents,
        )
        for hit in list_game_hits(machine, game_record)
    )


def list_game_hits(machine: PositionMachine, game_record: GameRecord) -> tuple[GameHit, ...]:
    """Return every progressive hit of a game so far; its amount is None until the controller has locked it."""
    return tuple(_build_game_hit(machine, hit) for hit in game_record.levels.hits)


def _build_game_hit(machine: PositionMachine, hit: LevelHitRecord) -> GameHit:
    """Return a recorded hit of a game as a :class:`GameHit`; its amount is None until the controller has locked it."""
    claim = (
        None
        if hit.claim_id is None
        else machine.memory.read(ClaimRecord, f"{ProgressiveKey.CLAIM}{hit.claim_id}")
    )
    return GameHit(
        pool_id=hit.pool_id,
        level_name=hit.level_name,
        claim_id=hit.claim_id,
        amount_cents=hit.amount_cents if claim is None else claim.amount_cents,
        is_settled_by_staff=claim is not None and claim.is_settled_by_staff,
    )


def sum_progressive_award_cents(machine: PositionMachine, game_record: GameRecord) -> int:
    """Return the total of a game's locked progressive awards, in minor units."""
    return sum(hit.amount_cents or 0 for hit in list_game_hits(machine, game_record))


def build_payment_transfers(
    machine: PositionMachine, game_record: GameRecord, target: str
) -> tuple[Transfer, ...]:
    """Return the transfers that pay a game's progressive hits from their levels' accounts to the account ``target``."""
    return tuple(
        Transfer(f"house:progressive:{hit.pool_id}", target, hit.amount_cents)
        for hit in list_game_hits(machine, game_record)
        if hit.amount_cents
    )


def build_closing_state(
    machine: PositionMachine, game_record: GameRecord, payment_method: str
) -> dict[str, object]:
    """Return the state changes when a game ends, by storage key.

    The claims are stored with ``payment_method``: ``credit``, ``hand`` or ``void``. The keys that say that the game
    waits are deleted.
    """
    state: dict[str, object] = {
        key: None
        for key in (ProgressiveKey.GAME_AWAITING_AWARD, ProgressiveKey.GAME_ENDED_UNDECIDED)
        if machine.memory.get(key) is not None
    }
    for hit in list_game_hits(machine, game_record):
        claim = machine.memory.read(ClaimRecord, f"{ProgressiveKey.CLAIM}{hit.claim_id}")
        if claim is not None:
            state[f"{ProgressiveKey.CLAIM}{hit.claim_id}"] = replace(claim, payment_method=payment_method)
    return state


def register_hits(
    machine: PositionMachine, game_record: GameRecord, payment_method: Literal["credit", "hand"]
) -> None:
    """Write each progressive hit of a game into the register of level wins (FR68-20).

    An entry states the machine, the game, the level, the amount and ``payment_method``.
    """
    for number, hit in enumerate(list_game_hits(machine, game_record), start=1):
        register_hit(
            machine,
            game_record,
            f"{game_record.play_id}.hit-{number}",
            pool_id=hit.pool_id,
            level_name=hit.level_name,
            amount_cents=hit.amount_cents,
            payment_method=payment_method,
            is_settled_by_staff=hit.is_settled_by_staff,
            is_broadcast=hit.claim_id is None and not _is_own_level(machine, hit.pool_id),
        )


def register_hit(
    machine: PositionMachine,
    game_record: GameRecord,
    entry_id: str,
    *,
    pool_id: str,
    level_name: str,
    amount_cents: int | None,
    payment_method: Literal["credit", "hand"],
    is_settled_by_staff: bool = False,
    is_broadcast: bool = False,
) -> None:
    """Write one progressive hit into the register of level wins; do nothing if ``entry_id`` is already there.

    ``is_settled_by_staff``: staff settled the hit, because its controller did not reply or its report could not be
    verified. ``is_broadcast``: the level's amount is broadcast by a SAS host.
    """
    if machine.journal.has_entry(entry_id):  # the power failed between this entry and the game's end
        return
    machine.post(
        BROADCAST_LEVEL_HIT if is_broadcast else LEVEL_HIT,
        LevelHitRegistered(
            machine=machine.identity.serial,
            play_id=game_record.play_id,
            game_id=game_record.game_reference.id,
            pool_id=pool_id,
            level_name=level_name,
            amount_cents=amount_cents,
            payment_method=payment_method,
            is_settled_by_staff=is_settled_by_staff,
        ),
        entry_id=entry_id,
    )


def format_paid_pools(machine: PositionMachine, game_record: GameRecord) -> str:
    """Return the ids of the progressive levels that a game's hand-pay pays, separated by commas; empty if none."""
    return ", ".join(hit.pool_id for hit in list_game_hits(machine, game_record) if hit.amount_cents)


def build_hit_reversal(
    machine: PositionMachine, game_record: GameRecord
) -> tuple[tuple[Transfer, ...], dict[str, object]]:
    """Return the transfers and the state changes that reverse the progressive hits of a void game.

    The amounts of the machine's own levels return to them. Hits of broadcast levels that the host has not read
    are deleted, so that it never reads them. Claims to a controller are stored as void.
    """
    transfers: list[Transfer] = []
    level_by_pool_id: dict[str, Level] = {}
    for hit in list_game_hits(machine, game_record):
        if hit.claim_id is None and hit.amount_cents and _is_own_level(machine, hit.pool_id):
            level_before = level_by_pool_id.get(hit.pool_id) or _read_level(machine, hit.pool_id)
            level_by_pool_id[hit.pool_id] = level_before.return_award(hit.amount_cents)
            transfers += posting.build_change_transfers(
                hit.pool_id, level_before, level_by_pool_id[hit.pool_id]
            )
    state = {
        f"{ProgressiveKey.OWN_LEVEL}{pool_id}": level.to_json() for pool_id, level in level_by_pool_id.items()
    }
    unread_wins = machine.journal.states(
        f"{ProgressiveKey.UNREAD_BROADCAST_WIN}{_build_claim_prefix(machine)}.{game_record.play_id}."
    )
    return tuple(transfers), {
        **state,
        **dict.fromkeys(unread_wins),
        **build_closing_state(machine, game_record, "void"),
    }


def must_attendant_pay_award(machine: PositionMachine, game_record: GameRecord) -> bool:
    """Return whether an attendant must pay the game because of one of its progressive hits.

    That is so if the hit reaches the profile's limit for hand-pays, or if staff settled it.
    """
    limit_cents = machine.profile.progressives.handpay_min_cents
    return any(
        hit.is_settled_by_staff or (limit_cents is not None and (hit.amount_cents or 0) >= limit_cents)
        for hit in list_game_hits(machine, game_record)
    )


def list_undecided_levels(machine: PositionMachine, game_record: GameRecord) -> tuple[str, ...]:
    """Return the ids of the controller's mystery levels for which it is not known yet whether the game has won."""
    link = machine.component(LevelAmountSources).link
    return tuple(
        contribution.pool_id
        for contribution in game_record.levels.contributions
        if (pool := machine.component(ProgressivePools).pool_by_id.get(contribution.pool_id)) is not None
        and contribution.contribution_number is not None
        and pool.keeper is LevelKeeper.CONTROLLER
        and pool.definition.terms.is_mystery
        and (link is None or link.find_last_decided_number(pool.id) < contribution.contribution_number)
    )


# ---------------------------------------------------------------------------------------------- guards
@refusal_code("levels_are_up")
def levels_show_payable_amounts(machine: PositionMachine, _: Event) -> bool:
    """Return whether every level that the bet plays for has status UP, so that its shown amount would be paid."""
    return all(
        read_displayed_amount(machine, pool).status is LevelStatus.UP
        for pool in list_levels_of_bet_in_force(machine)
    )


@refusal_code("are_awards_locked")
def no_claim_or_mystery_is_pending(machine: PositionMachine, _: Event) -> bool:
    """Return whether the open game waits for neither the amount of a hit nor a mystery result; False without a game."""
    game_record = find_open_game(machine)
    if game_record is None or any(hit.amount_cents is None for hit in list_game_hits(machine, game_record)):
        return False
    return machine.memory.get(
        ProgressiveKey.GAME_ENDED_UNDECIDED
    ) == game_record.play_id or not list_undecided_levels(machine, game_record)


@refusal_code("attendant_may_settle")
def attendant_may_settle_without_controller(machine: PositionMachine, _: Event) -> bool:
    """Return whether the profile lets an attendant settle a hit at the displayed amount without the controller."""
    return machine.profile.progressives.unanswered_hit_treatment == "hand"


# ---------------------------------------------------------------------------------------------- effects
def build_game_end_event(machine: PositionMachine, _: Event) -> Event:
    """Return the event that ends the open game; called once the amounts of its progressive hits are locked."""
    return Event(
        EventType.OUTCOME_SHOWN, OutcomeShown(play_id=machine.memory.get(ProgressiveKey.GAME_AWAITING_AWARD))
    )


def start_awaiting_award(machine: PositionMachine, _: Event) -> None:
    """Record that the open game, whose outcome was shown, waits for the amount of a hit or for a mystery result."""
    game_record = find_open_game(machine)
    machine.post(
        AWARD_AWAITED,
        state={ProgressiveKey.GAME_AWAITING_AWARD: None if game_record is None else game_record.play_id},
    )


def record_award(machine: PositionMachine, event: Event) -> None:
    """Record the amount that the controller has locked for a claim. A repeated message changes nothing.

    If the amount is not credible, it is held for a ruling by two people. If the claim is unknown, already
    settled at another amount, or held with another amount, the message is recorded and not paid.
    """
    award = event.read_payload(AwardLocked)
    claim_id, amount_cents = award.claim_id, award.amount_cents
    key = f"{ProgressiveKey.CLAIM}{claim_id}"
    claim = machine.memory.read(ClaimRecord, key)
    held_prize = held_prizes.list_held_prizes(machine).get(claim_id)
    if held_prize is not None and held_prize.amount_cents == amount_cents:
        # a repeated report: it only calls staff again
        held_prizes.hold_prize(machine, claim_id, held_prize)
    elif (
        claim is not None
        and claim.amount_cents is None
        and claim.payment_method is None
        and held_prize is None
    ):
        reason = held_prizes.find_reason_to_doubt_award(machine, claim, amount_cents)
        if reason:
            held_prizes.hold_prize(
                machine,
                claim_id,
                HeldPrize(
                    pool_id=claim.pool_id,
                    play_id=claim.play_id,
                    amount_cents=amount_cents,
                    reason=reason,
                    ruling=None,
                ),
            )
            return
        machine.post(
            AWARD_LOCKED,
            LevelAward(claim_id=claim_id, pool_id=claim.pool_id, amount_cents=amount_cents),
            entry_id=f"{claim_id}.award",
            state={key: replace(claim, amount_cents=amount_cents)},
        )
    elif claim is None or claim.amount_cents != amount_cents:
        machine.post(
            AWARD_DIFFERS,
            UnexpectedAward(claim_id=claim_id, amount_cents=amount_cents),
            entry_id=f"{claim_id}.differs-{amount_cents}",
        )


def close_claim(machine: PositionMachine, event: Event) -> None:
    """Close a progressive claim whose payment the controller has recorded."""
    claim_id = event.read_payload(ProgressiveClaimClosed).claim_id
    key = f"{ProgressiveKey.CLAIM}{claim_id}"
    claim = machine.memory.read(ClaimRecord, key)
    if claim is not None and claim.payment_method is not None:
        machine.post(CLAIM_CLOSED, ClaimClosed(claim_id=claim_id, **asdict(claim)), state={key: None})


def settle_hits_without_controller(machine: PositionMachine, event: Event) -> None:
    """Settle the open game's hits whose controller has not replied, at the amount that the machine displayed.

    A mystery result that is not known yet is no longer waited for. An attendant has decided this; the journal entries
    name the attendant.
    """
    game_record = find_open_game(machine)
    for hit in () if game_record is None else list_game_hits(machine, game_record):
        if hit.amount_cents is not None or hit.claim_id is None:
            continue
        key = f"{ProgressiveKey.CLAIM}{hit.claim_id}"
        claim = machine.memory.read(ClaimRecord, key)
        if claim is None:
            raise InvariantError(f"the hit has the claim {hit.claim_id}, which is not stored")
        machine.post(
            CLAIM_SETTLED_WITHOUT_CONTROLLER,
            ClaimSettledWithoutController(
                claim_id=hit.claim_id,
                pool_id=hit.pool_id,
                amount_cents=claim.shown_cents,
                person=find_actor(machine, event),
            ),
            entry_id=f"{hit.claim_id}.unanswered",
            state={key: replace(claim, amount_cents=claim.shown_cents, is_settled_by_staff=True)},
        )
        machine.notice = Notice(
            code="progressive_unanswered", severity="warning", values={"amount_cents": claim.shown_cents}
        )
    if game_record is not None and (undecided_levels := list_undecided_levels(machine, game_record)):
        machine.post(
            GAME_ENDED_WITH_UNDECIDED_LEVELS,
            GameEndedWithUndecidedLevels(
                play_id=game_record.play_id, pool_ids=undecided_levels, person=find_actor(machine, event)
            ),
            entry_id=f"{game_record.play_id}.undecided",
            state={ProgressiveKey.GAME_ENDED_UNDECIDED: game_record.play_id},
        )
        machine.notice = Notice(code="progressive_undecided", severity="warning")


def iter_notices(machine: PositionMachine) -> Iterator[Notice]:
    """Yield a notice if the open game waits for the amount of a progressive hit, or for a mystery result."""
    if machine.memory.get(ProgressiveKey.GAME_AWAITING_AWARD) is not None:
        game_record = find_open_game(machine)
        has_hits = game_record is not None and list_game_hits(machine, game_record)
        yield Notice(
            code="award_awaited" if has_hits else "mystery_awaited", severity="warning", is_lasting=True
        )
