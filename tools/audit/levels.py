"""The recomputation of every progressive level: its value at each wager, mystery draws, hits and their payment.

No amount recorded by the machine is trusted: the terms come from the entry that opened the level, the share and
the odds from the game's definition, the wager and the draws from the game's entry. The machine's transfers,
state and awards must be the ones that follow from them. If a controller reports a mystery prize won, its secret
must match the commitment that this machine received earlier.

A pool is the account group that holds the money of one level. A linked level belongs to a progressive
controller and is shared by several machines. A claim is a hit of a linked level that the controller must award.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Final

from egm.play.entries import GAME_VOID, GameEndWithHandpay, GameVoid
from egm.play.records.game_record import (
    DrawRecord,
    GameChoice,
    GameRecord,
    LevelContribution,
    LevelHitRecord,
    LevelsPlayed,
    MysteryPrizeRecord,
)
from egm.progressive import posting
from egm.progressive.bet import compute_qualifying_credits
from egm.progressive.entries import (
    AWARD_LOCKED,
    BROADCAST_LEVEL_HIT,
    CLAIM_SETTLED_WITHOUT_CONTROLLER,
    CONTROLLER_COUNT_AHEAD,
    GAME_ENDED_WITH_UNDECIDED_LEVELS,
    LEVEL_CHANGED,
    LEVEL_HIT,
    LEVEL_MOVED,
    LEVEL_OPENED,
    PRIZE_COMMITTED,
    PRIZE_RULED,
    PRIZE_WON,
    ClaimSettledWithoutController,
    ContributionCountDiffers,
    GameEndedWithUndecidedLevels,
    LevelAward,
    LevelChanged,
    LevelHitRegistered,
    LevelMoved,
    LevelOpened,
    LevelRuling,
)
from egm.progressive.level import WHOLE_LEVEL_SHARE, Level, LevelDefectiveError
from egm.progressive.level_changes import MYSTERY_DRAW_PURPOSE, LinkProgress
from egm.progressive.records import ClaimRecord, CommittedPrize, ReceivedCommitment
from egm.progressive.trigger import MysteryTrigger, TriggerError
from egm.record_codec import RecordError, from_json
from meters import Phase, StoredEntry, Transfer
from meters.recall import CARRIED_GAME_KIND, PLAY_END_KINDS, PLAY_START_KIND, PLAY_STEP_KINDS, read_details
from paytables import Game, LevelParticipation, Outcome, PartialLevelHit, PaytableError
from tools.audit.clears import belongs_to_memory_clear
from tools.audit.plain_games import GameSource
from tools.audit.records import (
    LevelCarried,
    read_record,
)

#: Kinds of entries that are lines of the register of progressive wins.
_WIN_REGISTER_KINDS: Final = (LEVEL_HIT.kind, BROADCAST_LEVEL_HIT.kind)
#: What a game records about levels if it plays for none.
_NO_LEVELS_PLAYED: Final = LevelsPlayed()
#: The account of progressive wins paid by hand.
_HANDPAY_ACCOUNT: Final = "out:handpay_progressive"
#: Prefix of the accounts that pay the operator's part of a level.
_OPERATOR_ACCOUNT_PREFIX: Final = "house:progressive:"


@dataclass(slots=True)
class _Play:
    """An open game as the level audit needs it: the pools (accounts) of its progressive levels, and its hits so far."""

    pool_id_by_level: Mapping[str, str] = field(default_factory=dict)
    """The pool of each progressive level of the game, by level name."""
    hits: list[tuple[str, int | str]] = field(default_factory=list)
    """The hits so far, as (pool, locked amount in minor units); for a linked level, (pool, claim id)."""
    game_id: str = ""


class LevelAudit:
    """The recomputation of all amounts of progressive levels from the journal, compared with the recorded amounts.

    ``report_finding`` is called for each entry with a wrong amount or record.
    """

    def __init__(self, games: GameSource, report_finding: Callable[[StoredEntry, str], None]) -> None:
        self._games = games
        self._report_finding = report_finding
        self._open_play_by_id: dict[str, _Play] = {}
        self._contribution_number_by_pool_id: dict[str, int] = {}
        """The number of the last contribution to each linked level, by pool."""
        self._awarded_cents_by_claim_id: dict[str, int] = {}
        """The amount awarded for each claim in minor units, by claim id.

        It was awarded by the controller, by a ruling, or by staff because no answer of the controller arrived.
        """
        self._commitment_by_prize: dict[tuple[str, int], str] = {}
        """The first commitment received for each mystery prize of a linked level, by (pool, prize number)."""
        self._register_lines_by_play_id: dict[str, list[tuple[StoredEntry, LevelHitRegistered]]] = {}
        """The lines of the register of wins about progressive hits, as entry and record, by play id."""
        self._late_register_line_by_entry_id: dict[str, LevelHitRegistered] = {}
        """The lines of the register of progressive wins that were written after the game of the hit, by entry id."""
        self._claims_with_ruling: set[str] = set()
        """The ids of progressive claims on which two people have ruled."""
        self._play_id_by_contribution: dict[tuple[str, int], str] = {}
        """The id of the game that made each contribution to a linked mystery level, by (pool, contribution number)."""
        self._mystery_terms_by_pool_id: dict[str, tuple[Fraction, int]] = {}
        """The terms of each linked mystery level, by pool: contribution per wager, and ceiling, both in minor units."""
        self.level_by_pool_id: dict[str, Level] = {}
        self._opening_terms_by_pool_id: dict[str, tuple[str, str, int]] = {}
        """The game, the level and the stake in minor units for which each pool was opened, by pool."""

    def check_entry(self, entry: StoredEntry, start_record: GameRecord | None = None) -> None:
        """Check one journal entry about games or levels.

        ``start_record`` is the record of the game that the entry starts; None if it starts none or is not
        valid.
        """
        kind = entry.transaction.kind
        try:
            if kind == PLAY_START_KIND:
                if start_record is not None:
                    self._check_game_start(entry, start_record)
            elif kind in PLAY_END_KINDS:
                if self._open_play_by_id or self._register_lines_by_play_id or kind == GAME_VOID.kind:
                    self._check_game_end(entry)
                elif any(t.source.startswith(_OPERATOR_ACCOUNT_PREFIX) for t in entry.transaction.transfers):
                    self._report_finding(entry, "transfers pay a progressive level, but the game hit none")
            else:
                self._check_other_entry(entry, kind, start_record)
        except RecordError as error:
            self._report_finding(entry, f"the record of progressive levels cannot be read: {error}")
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            self._report_finding(
                entry, f"the progressive levels cannot be derived from this entry: {error!r}"
            )
        except LevelDefectiveError as error:
            self._report_finding(entry, f"the progressive levels after this entry are not possible: {error}")

    def is_plain_run_allowed(self) -> bool:
        """Return whether a run of plain games may follow: no game is open and no registered hit is unpaid.

        Plain games are ordinary games that play for no progressive level; their entries are checked together.
        """
        return not (self._open_play_by_id or self._register_lines_by_play_id)

    def iter_balance_errors(self, balance_cents: Callable[[str], int]) -> Iterable[str]:
        """Yield an error text for each level whose recomputed amount differs from the balance of its account.

        ``balance_cents`` returns the balance of an account in minor units.
        """
        for pool_id, level in sorted(self.level_by_pool_id.items()):
            try:
                posting.check_pool_balances(pool_id, level, balance_cents)
            except LevelDefectiveError as error:
                yield str(error)

    # ------------------------------------------------------------------ entry by entry
    def _check_other_entry(self, entry: StoredEntry, kind: str, start_record: GameRecord | None) -> None:
        """Check an entry that neither starts nor ends a game.

        It may be a player's choice that hits levels, an entry about a level itself, or an entry that a memory
        clear carried over.
        """
        if kind in PLAY_STEP_KINDS:
            if (
                self._open_play_by_id
                and (step := read_record(entry, GameChoice)).play_id in self._open_play_by_id
            ):
                level_changes = _LevelChanges(self.level_by_pool_id)
                play = self._open_play_by_id[step.play_id]
                self._check_hits(entry, play, step.outcome, step.hits, level_changes)
                self._check_level_changes(entry, level_changes)
            elif read_details(entry).get("hits"):
                self._report_finding(
                    entry, "record.hits: expected none, because the game has no progressive levels"
                )
        elif kind.startswith("progressive."):
            self._check_level_entry(entry, kind)
        elif belongs_to_memory_clear(kind):
            self._add_carried_levels(entry, kind, start_record)

    def _add_carried_levels(self, entry: StoredEntry, kind: str, game_record: GameRecord | None) -> None:
        """Store the levels, contributions, claims, commitments and open games that a memory clear carried over."""
        for name, value in entry.state.items():
            prefix, _, suffix = name.partition(":")
            if prefix == "level":
                self._add_carried_level(entry, suffix, from_json(Level, value, name))
            elif prefix == "link":
                self._contribution_number_by_pool_id[suffix] = from_json(
                    LinkProgress, value, name
                ).contribution_number
            elif (
                prefix == "claim" and (claim := from_json(ClaimRecord, value, name)).amount_cents is not None
            ):
                self._awarded_cents_by_claim_id[suffix] = claim.amount_cents
            elif prefix == "sealed":
                sealed_prize = from_json(CommittedPrize, value, name)
                self._commitment_by_prize[suffix, sealed_prize.prize_number] = sealed_prize.commitment
        if kind == CARRIED_GAME_KIND and game_record is not None and game_record.levels.pool_id_by_level:
            for contribution in game_record.levels.contributions:
                if contribution.contribution_number is not None:
                    key = contribution.pool_id, contribution.contribution_number
                    self._play_id_by_contribution[key] = game_record.play_id
            if not game_record.end_entry_kind:
                hits = [(hit.pool_id, _find_claim_or_amount(hit)) for hit in game_record.levels.hits]
                self._open_play_by_id[game_record.play_id] = _Play(game_record.levels.pool_id_by_level, hits)

    def _add_carried_level(self, entry: StoredEntry, pool_id: str, level: Level) -> None:
        """Store a level that a memory clear carried over; the entry must transfer the amounts that the level has."""
        opening = read_record(entry, LevelCarried).opened_level
        if opening is not None:
            self._opening_terms_by_pool_id[pool_id] = opening.game_id, opening.level_name, opening.stake_cents
        self.level_by_pool_id[pool_id] = level
        posting.check_pool_balances(pool_id, level, lambda name: _sum_transfers_into(entry, name))

    def _check_level_entry(self, entry: StoredEntry, kind: str) -> None:
        """Check an entry that is only about levels: their opening, change, transfer, prizes, wins and claims."""
        if kind == LEVEL_OPENED.kind:
            self._check_level_opening(entry, read_record(entry, LevelOpened))
        elif kind == LEVEL_CHANGED.kind:
            change_record = read_record(entry, LevelChanged)
            self.level_by_pool_id[change_record.pool_id] = self.level_by_pool_id[
                change_record.pool_id
            ].change_terms(change_record.terms)
            self._check_stored_levels(entry, [change_record.pool_id])
        elif kind == LEVEL_MOVED.kind:
            move_record = read_record(entry, LevelMoved)
            self._check_level_transfer(entry, move_record.source, move_record.target)
        else:
            self._process_other_level_entry(entry, kind)

    def _process_other_level_entry(self, entry: StoredEntry, kind: str) -> None:
        """Check or store an entry about the prizes, wins, claims or counted contributions of levels.

        Most of them record a message from a progressive controller.
        """
        if kind == PRIZE_COMMITTED.kind:
            commitment = read_record(entry, ReceivedCommitment)
            self._commitment_by_prize.setdefault(
                (commitment.pool_id, commitment.prize_number), commitment.commitment
            )
        elif kind == PRIZE_WON.kind:
            self._check_mystery_prize(entry, read_record(entry, MysteryPrizeRecord))
        elif kind in _WIN_REGISTER_KINDS:
            self._store_register_line(entry, read_record(entry, LevelHitRegistered))
        elif kind == GAME_ENDED_WITH_UNDECIDED_LEVELS.kind:
            ended_game = read_record(entry, GameEndedWithUndecidedLevels)
            play = self._open_play_by_id.get(ended_game.play_id)
            if play is None or set(ended_game.pool_ids) - set(play.pool_id_by_level.values()):
                open_pool_ids = [] if play is None else sorted(set(play.pool_id_by_level.values()))
                self._report_finding(
                    entry,
                    f"record.pools: expected levels of the open game, {open_pool_ids}; "
                    f"found"
                    f" {list(ended_game.pool_ids)}",
                )
        elif kind == PRIZE_RULED.kind:
            self._process_ruling(entry, read_record(entry, LevelRuling))
        elif kind in {AWARD_LOCKED.kind, CLAIM_SETTLED_WITHOUT_CONTROLLER.kind}:
            award: LevelAward | ClaimSettledWithoutController
            award = (
                read_record(entry, LevelAward)
                if kind == AWARD_LOCKED.kind
                else read_record(entry, ClaimSettledWithoutController)
            )
            self._awarded_cents_by_claim_id.setdefault(award.claim_id, award.amount_cents)
        elif kind == CONTROLLER_COUNT_AHEAD.kind:
            counted_record = read_record(entry, ContributionCountDiffers)
            self._contribution_number_by_pool_id[counted_record.pool_id] = counted_record.last_counted_number

    def _process_ruling(self, entry: StoredEntry, record: LevelRuling) -> None:
        """Check that two people ruled on a claim and stated a reason; store the amount that they awarded."""
        if len(set(record.persons)) < 2 or not record.reason.strip():
            persons = list(record.persons)
            self._report_finding(
                entry,
                f"record.persons and record.reason: a ruling on claim {record.claim_id} needs two people and a reason, "
                f"found {persons} and {record.reason!r}",
            )
        self._claims_with_ruling.add(record.claim_id)
        if record.awarded_cents is not None:
            self._awarded_cents_by_claim_id.setdefault(record.claim_id, record.awarded_cents)

    def _check_level_opening(self, entry: StoredEntry, record: LevelOpened) -> None:
        """Check that the entry opens a new progressive level, with the base amount and state that its terms require."""
        pool_id = record.pool_id
        if pool_id in self.level_by_pool_id:
            self._report_finding(entry, f"record.pool: level {pool_id} was already open before this entry")
        self._opening_terms_by_pool_id[pool_id] = record.game_id, record.level_name, record.stake_cents
        level = self.level_by_pool_id[pool_id] = Level.open(record.terms)
        self._compare_pool_transfers(entry, posting.build_opening_transfers(pool_id, level))
        self._check_stored_levels(entry, [pool_id])

    def _check_level_transfer(self, entry: StoredEntry, source_pool_id: str, target_pool_id: str) -> None:
        """Check that the entry transfers the whole amount of one progressive level to another.

        ``source_pool_id`` and ``target_pool_id`` are the pools of the two levels.
        """
        source_level, target_level = (
            self.level_by_pool_id[source_pool_id],
            self.level_by_pool_id[target_pool_id],
        )
        released_amount, self.level_by_pool_id[source_pool_id] = source_level.release_whole_amount()
        self.level_by_pool_id[target_pool_id] = target_level.add_received_amount(released_amount)
        self._compare_pool_transfers(
            entry,
            posting.build_moving_transfers(
                source_pool_id,
                source_level,
                target_pool_id,
                target_level,
                self.level_by_pool_id[target_pool_id],
            ),
        )
        self._check_stored_levels(entry, (source_pool_id, target_pool_id))

    def _check_game_start(self, entry: StoredEntry, start_record: GameRecord) -> None:
        """Check the progressive contributions, draws and hits that the entry starting a game records."""
        game_reference, level_record = start_record.game_reference, start_record.levels
        game = self._games.find(game_reference.id, game_reference.digest)
        participations = () if game is None else self._check_levels_played(entry, game, start_record)
        if game is None or not participations:  # the audit of games reports a missing definition
            return
        play = self._open_play_by_id[start_record.play_id] = _Play(
            level_record.pool_id_by_level, game_id=game.id
        )
        level_changes, denomination_cents = (
            _LevelChanges(self.level_by_pool_id),
            start_record.denomination_cents,
        )
        won_mystery_levels: list[tuple[str, str]] = []  # as (level, pool)
        draws = list(level_record.mystery_draws)
        contributions: dict[str, list[LevelContribution]] = {}
        for contribution in level_record.contributions:
            contributions.setdefault(contribution.pool_id, []).append(contribution)
        for pool_id in contributions.keys() - {
            play.pool_id_by_level[participation.level] for participation in participations
        }:
            self._report_finding(entry, f"record.fed: the wager does not play for level {pool_id!r}")
        for participation in participations:
            pool_id = play.pool_id_by_level[participation.level]
            wager_cents = compute_qualifying_credits(participation, start_record.wager) * denomination_cents
            due_cents = 0 if pool_id in level_record.broadcast_cents else wager_cents
            found_cents = sum(contribution.wager_cents for contribution in contributions.get(pool_id, ()))
            if found_cents != due_cents:
                self._report_finding(
                    entry,
                    f"record.fed: wager_cents for level {pool_id}: expected {due_cents}, found {found_cents}",
                )
            if pool_id not in self.level_by_pool_id:
                self._check_controller_contributions(
                    entry, start_record, participation, contributions.get(pool_id, ())
                )
                continue
            level = self.level_by_pool_id[pool_id]
            self._check_pool_terms(entry, pool_id, participation, game.id, denomination_cents)
            level_changes.apply_level_change(pool_id, level.add_contribution(wager_cents))
            if _take_mystery_draw(pool_id, level.compute_mystery_hit_chance(wager_cents), draws):
                won_mystery_levels.append((participation.level, pool_id))
        if draws:
            self._report_finding(entry, f"record.mystery: {len(draws)} draws belong to no level of this game")
        self._check_hits(
            entry, play, start_record.outcome, level_record.hits, level_changes, won_mystery_levels
        )
        self._check_level_changes(entry, level_changes)

    def _check_controller_contributions(
        self,
        entry: StoredEntry,
        start_record: GameRecord,
        participation: LevelParticipation,
        contributions: Iterable[LevelContribution],
    ) -> None:
        """Check each recorded contribution of a game to a linked level.

        For a mystery level, also store the contribution's game and the level's terms, for the check of a later prize.
        """
        stake_credits = (
            start_record.bet_credits
            if participation.qualifying_credits is None
            else participation.stake_credits
        )
        stake_cents = stake_credits * start_record.denomination_cents
        for contribution in contributions:
            pool_id = contribution.pool_id
            contribution_number = self._check_linked_contribution(
                entry, participation, contribution, stake_cents
            )
            if participation.ceiling_credits is not None:
                self._play_id_by_contribution[pool_id, contribution_number] = start_record.play_id
                ceiling_cents = participation.ceiling_credits * start_record.denomination_cents
                self._mystery_terms_by_pool_id[pool_id] = stake_cents * participation.increment, ceiling_cents

    def _check_levels_played(
        self, entry: StoredEntry, game: Game, start_record: GameRecord
    ) -> tuple[LevelParticipation, ...]:
        """Check that the entry records exactly the progressive levels that the wager plays for.

        Return the participation in each of these levels that the entry does record.
        """
        try:
            participations = game.list_levels(start_record.wager)
        except PaytableError as error:
            self._report_finding(entry, f"record.wager is not valid: {error}")
            return ()
        recorded_levels = start_record.levels.pool_id_by_level.keys()
        if not participations and not recorded_levels:
            if start_record.levels != _NO_LEVELS_PLAYED:
                self._report_finding(
                    entry, "record: expected no progressive levels, because the wager plays for no level"
                )
            return ()
        expected_levels = {participation.level for participation in participations}
        if expected_levels != recorded_levels:
            self._report_finding(
                entry,
                f"record.pools: expected {sorted(expected_levels)}, for which the wager plays; "
                f"found {sorted(recorded_levels)}",
            )
        return tuple(
            participation for participation in participations if participation.level in recorded_levels
        )

    def _check_pool_terms(
        self,
        entry: StoredEntry,
        pool_id: str,
        participation: LevelParticipation,
        game_id: str,
        denomination_cents: int,
    ) -> None:
        """Check that a pool was opened for this game, level and stake, on the terms in the game's definition."""
        participation_terms = game_id, participation.level, participation.stake_credits * denomination_cents
        if self._opening_terms_by_pool_id[pool_id] != participation_terms:
            self._report_finding(
                entry,
                f"record.pools: level {pool_id} was opened for {self._opening_terms_by_pool_id[pool_id]}, "
                f"found a play of {participation_terms}",
            )
        level = self.level_by_pool_id[pool_id]
        expected = (participation.increment, participation.reset_credits * denomination_cents)
        known_terms = [
            (terms.increment, terms.base_cents) for terms in (level.terms, level.next_terms) if terms
        ]
        if expected not in known_terms:
            self._report_finding(
                entry,
                f"the increment and base of level {pool_id}: expected {expected} by the definition, "
                f"found {known_terms[0]}",
            )

    def _check_linked_contribution(
        self,
        entry: StoredEntry,
        participation: LevelParticipation,
        contribution: LevelContribution,
        wager_cents: int,
    ) -> int:
        """Check a contribution to a linked level and its running number; return the number."""
        pool_id, contribution_number = contribution.pool_id, contribution.contribution_number
        expected_number = self._contribution_number_by_pool_id.get(pool_id, 0) + 1
        if contribution_number is None or contribution_number != expected_number:
            self._report_finding(
                entry,
                f"record.fed: sequence of the contribution to {pool_id}: expected {expected_number}, "
                f"found {contribution_number}",
            )
        self._contribution_number_by_pool_id[pool_id] = contribution_number = (
            expected_number if contribution_number is None else contribution_number
        )
        if (
            contribution.amount != wager_cents * participation.increment
            or contribution.wager_cents != wager_cents
        ):
            self._report_finding(
                entry,
                f"record.fed: contribution {contribution_number} to {pool_id}: expected "
                f"{wager_cents * participation.increment} of {wager_cents} cents, found {contribution.amount} of "
                f"{contribution.wager_cents}",
            )
        return contribution_number

    def _check_mystery_prize(self, entry: StoredEntry, record: MysteryPrizeRecord) -> None:
        """Check a mystery prize that a controller reported as won.

        A wager of this machine must have won it, its secret must be the committed one, and it must not have
        been won before. The secret and the amount are not checked if two people ruled on the prize, or if the prize is
        recorded as not verified and returns to its level because the game is void. Only a prize that is paid by hand
        after its game may move money, and it must be in the register of wins. A prize won by an open game is stored as
        a hit of that game.
        """
        pool_id, claim_id, amount_cents = record.pool_id, record.claim_id, record.amount_cents
        play_id, late_decision = str(record.play_id), record.late_decision
        if self._play_id_by_contribution.get((pool_id, record.contribution_number)) != play_id:
            winning_play_id = self._play_id_by_contribution.get(
                (pool_id, record.contribution_number), "no play of this machine"
            )
            self._report_finding(
                entry,
                f"record.play_id: contribution {record.contribution_number} to {pool_id} was made by "
                f"{winning_play_id}, found {play_id}",
            )
        if claim_id in self._awarded_cents_by_claim_id:
            self._report_finding(entry, f"record.claim: claim {claim_id} was already won before this entry")
        is_returned_unverified = late_decision == "void" and record.is_verified is False
        if claim_id not in self._claims_with_ruling and not is_returned_unverified:
            self._check_mystery_secret(entry, pool_id, record, amount_cents)
        play = self._open_play_by_id.get(play_id)
        if late_decision == "hand":
            register_line = self._late_register_line_by_entry_id.pop(f"{claim_id}.hit", None)
            registered_hit = (
                None
                if register_line is None
                else (
                    register_line.play_id,
                    register_line.pool_id,
                    register_line.amount_cents,
                    register_line.payment_method,
                )
            )
            if registered_hit != (play_id, pool_id, amount_cents, "hand"):
                self._report_finding(
                    entry,
                    f"the register of wins: expected {(play_id, pool_id, amount_cents, 'hand')}, "
                    f"found {registered_hit or 'nothing'}",
                )
        expected_triples = (
            [(f"{_OPERATOR_ACCOUNT_PREFIX}{pool_id}", _HANDPAY_ACCOUNT, amount_cents)]
            if late_decision == "hand"
            else []
        )
        if [(t.source, t.target, t.amount_cents) for t in entry.transfers] != expected_triples:
            recorded_triples = [(t.source, t.target, t.amount_cents) for t in entry.transfers]
            self._report_finding(
                entry, f"transfers: expected {expected_triples or 'none'}, found {recorded_triples or 'none'}"
            )
        if (play is None) != bool(late_decision) and claim_id not in self._claims_with_ruling:
            self._report_finding(
                entry,
                f"record.late is {late_decision!r}, but {play_id} was {'over' if play is None else 'open'} when it won "
                f"{pool_id}",
            )
        if play is not None and not late_decision:
            self._awarded_cents_by_claim_id[claim_id] = amount_cents
            play.hits.append((pool_id, claim_id))

    def _check_mystery_secret(
        self, entry: StoredEntry, pool_id: str, record: MysteryPrizeRecord, amount_cents: int
    ) -> None:
        """Check the disclosed secret of a mystery prize against the earlier commitment and the level's terms."""
        try:
            trigger = MysteryTrigger.from_json(record.opened_secret)
        except TriggerError as error:
            self._report_finding(entry, str(error))
            return
        commitment = self._commitment_by_prize.get((pool_id, trigger.prize_number))
        if commitment is None:
            self._report_finding(
                entry,
                f"record.trigger: no commitment to prize {trigger.prize_number} of level {pool_id} was received "
                "before this entry",
            )
        elif trigger.level_id != pool_id or commitment != trigger.commitment:
            self._report_finding(
                entry,
                f"record.trigger: the secret of level {trigger.level_id} gives the commitment {trigger.commitment}, "
                f"expected {commitment} for level {pool_id}",
            )
        terms = self._mystery_terms_by_pool_id.get(pool_id)
        if terms is not None and (trigger.step_amount, trigger.ceiling_cents) != terms:
            step_amount, ceiling_cents = terms
            self._report_finding(
                entry,
                f"record.trigger: step and ceiling of level {pool_id}: expected {step_amount} up to {ceiling_cents} "
                f"cents, found {trigger.step_amount} up to {trigger.ceiling_cents}",
            )
        if not int(trigger.trigger_amount) <= amount_cents <= trigger.ceiling_cents:
            self._report_finding(
                entry,
                f"record.amount_cents: level {pool_id} is won between {int(trigger.trigger_amount)} and "
                f"{trigger.ceiling_cents} cents, found {amount_cents}",
            )

    def _check_hits(
        self,
        entry: StoredEntry,
        play: _Play,
        outcome: Outcome | None,
        hit_records: tuple[LevelHitRecord, ...],
        level_changes: "_LevelChanges",
        won_mystery_levels: Iterable[tuple[str, str]] = (),
    ) -> None:
        """Check the recorded progressive hits of one step of a game, and lock their amounts.

        ``outcome`` is the outcome of the step; ``won_mystery_levels`` are the mystery levels that it won, as (level,
        pool). Mystery hits must come first, then those of the outcome. A finding is reported if the record lists
        other hits.
        """
        level_hits = () if outcome is None else outcome.progressives
        outcome_hits = (
            (level_hit.level, level_hit.share)
            if isinstance(level_hit, PartialLevelHit)
            else (level_hit, None)
            for level_hit in level_hits
        )
        expected = [
            *((level, pool_id, None) for level, pool_id in won_mystery_levels),
            *((level, play.pool_id_by_level[level], share) for level, share in outcome_hits),
        ]
        if [(hit.level_name, hit.pool_id, hit.won_share) for hit in hit_records] != expected:
            recorded_hits = [(hit.level_name, hit.pool_id, hit.won_share) for hit in hit_records]
            self._report_finding(
                entry, f"record hits: expected {expected}, which the draws give; found {recorded_hits}"
            )
            return
        for (_, pool_id, share), hit in zip(expected, hit_records, strict=True):
            if pool_id not in self.level_by_pool_id:
                play.hits.append((pool_id, _find_claim_or_amount(hit)))
                continue
            amount_cents, reset_level = self.level_by_pool_id[pool_id].pay_hit(share or WHOLE_LEVEL_SHARE)
            level_changes.apply_level_change(pool_id, reset_level)
            play.hits.append((pool_id, amount_cents))
            if hit.amount_cents != amount_cents:
                self._report_finding(
                    entry,
                    f"record hits: amount_cents of level {pool_id}: expected {amount_cents}, found {hit.amount_cents}",
                )

    def _check_game_end(self, entry: StoredEntry) -> None:
        """Check the progressive wins that the end of a game pays, and their lines in the register of wins.

        If the game is void, the entry must instead return the amounts of its hits to the machine's own levels, and
        record the sum of all hits.
        """
        end_record: GameVoid | GameEndWithHandpay
        end_record = (
            read_record(entry, GameVoid)
            if entry.kind == GAME_VOID.kind
            else read_record(entry, GameEndWithHandpay)
        )
        play = self._open_play_by_id.pop(end_record.play_id, None)
        hits = [] if play is None else play.hits
        if isinstance(end_record, GameVoid):
            level_changes = _LevelChanges(self.level_by_pool_id)
            for pool_id, claim_or_amount in hits:
                if isinstance(claim_or_amount, int) and pool_id in self.level_by_pool_id:
                    level_changes.apply_level_change(
                        pool_id, self.level_by_pool_id[pool_id].return_award(claim_or_amount)
                    )
            self._check_level_changes(entry, level_changes)
            hit_cents = [
                self._awarded_cents_by_claim_id.get(claim_or_amount)
                if isinstance(claim_or_amount, str)
                else claim_or_amount
                for _, claim_or_amount in hits
            ]
            known_cents = [cents for cents in hit_cents if cents is not None]
            recorded_outcome = end_record.recorded_outcome
            if known_cents == hit_cents and recorded_outcome.progressive_win_cents != sum(known_cents):
                self._report_finding(
                    entry,
                    f"record.recorded.levels_cents: expected {sum(known_cents)}, the sum of {hit_cents}; "
                    f"found {recorded_outcome.progressive_win_cents}",
                )
            return
        hit_worths = [
            (
                pool_id,
                self._awarded_cents_by_claim_id.get(claim_or_amount)
                if isinstance(claim_or_amount, str)
                else claim_or_amount,
            )
            for pool_id, claim_or_amount in hits
        ]
        self._check_register(entry, end_record.play_id, "" if play is None else play.game_id, hit_worths)
        payments = [
            (t.source.removeprefix(_OPERATOR_ACCOUNT_PREFIX), t.amount_cents)
            for t in entry.transfers
            if t.source.startswith(_OPERATOR_ACCOUNT_PREFIX)
        ]
        if [(pool_id, cents) for pool_id, cents in hit_worths if cents != 0] != payments:
            self._report_finding(
                entry, f"transfers: the levels hit are worth {hit_worths}, but {payments} was paid"
            )

    def _store_register_line(self, entry: StoredEntry, record: LevelHitRegistered) -> None:
        """Store a line of the register of progressive wins.

        Its game and level are checked now; its amount is checked at the end of the game that pays the hit. If that
        game has ended already, the line is only checked with the entry of the prize that was won late.
        """
        play = self._open_play_by_id.get(record.play_id)
        if play is None:
            self._late_register_line_by_entry_id[entry.id] = record
            return
        self._register_lines_by_play_id.setdefault(record.play_id, []).append((entry, record))
        if play.pool_id_by_level.get(record.level_name) != record.pool_id or play.game_id not in {
            "",
            record.game_id,
        }:
            self._report_finding(
                entry,
                f"record: {record.play_id} plays {play.game_id or record.game_id} for the levels "
                f"{dict(play.pool_id_by_level)}; "
                f"found {record.game_id}, level {record.level_name} of {record.pool_id}",
            )

    def _check_register(
        self, end_entry: StoredEntry, play_id: str, game_id: str, hit_worths: list[tuple[str, int | None]]
    ) -> None:
        """Check that the register of progressive wins lists each hit of a game with its amount and payment method.

        ``end_entry`` is the entry that ends the game; ``hit_worths`` are its hits, as (pool, minor units; None if not
        known).
        """
        payment_method = "hand" if end_entry.phase is Phase.RESERVE else "credit"
        register_lines = self._register_lines_by_play_id.pop(play_id, [])
        expected_ids = [f"{play_id}.hit-{number}" for number in range(1, len(hit_worths) + 1)]
        recorded_ids = [entry.id for entry, _ in register_lines]
        if recorded_ids != expected_ids:
            self._report_finding(
                end_entry, f"the register of wins: expected the lines {expected_ids}, found {recorded_ids}"
            )
        for (entry, hit), (pool_id, cents) in zip(register_lines, hit_worths, strict=False):
            recorded_line = hit.pool_id, hit.amount_cents, hit.payment_method, hit.game_id
            if recorded_line != (pool_id, cents, payment_method, game_id or hit.game_id):
                self._report_finding(
                    entry,
                    f"record: expected pool, cents, way and game "
                    f"{(pool_id, cents, payment_method, game_id or hit.game_id)}, found {recorded_line}",
                )

    # ------------------------------------------------------------------ what must be the same
    def _check_level_changes(self, entry: StoredEntry, level_changes: "_LevelChanges") -> None:
        """Check that the entry makes exactly the transfers of ``level_changes`` and stores the new level amounts."""
        self._compare_pool_transfers(entry, tuple(level_changes.transfers))
        self._check_stored_levels(entry, level_changes.changed_pool_ids)

    def _compare_pool_transfers(self, entry: StoredEntry, expected_transfers: tuple[Transfer, ...]) -> None:
        """Report a finding unless the entry's transfers from pool accounts are exactly ``expected_transfers``."""
        recorded_transfers = [t for t in entry.transfers if t.source.startswith("pool:")]
        if _sum_transfers(recorded_transfers) != _sum_transfers(expected_transfers):
            expected_texts = [
                f"{source} -> {target} {cents}"
                for (source, target), cents in _sum_transfers(expected_transfers).items()
            ]
            recorded_texts = [
                f"{source} -> {target} {cents}"
                for (source, target), cents in _sum_transfers(recorded_transfers).items()
            ]
            self._report_finding(
                entry,
                f"transfers of the levels: expected {', '.join(expected_texts) or 'none'},"
                f" found {', '.join(recorded_texts) or 'none'}",
            )

    def _check_stored_levels(self, entry: StoredEntry, pool_ids: Iterable[str]) -> None:
        """Report a finding for each of ``pool_ids`` whose level has a new state that the entry does not store."""
        for pool_id in pool_ids:
            if entry.state.get(f"level:{pool_id}") != self.level_by_pool_id[pool_id].to_json():
                self._report_finding(
                    entry,
                    f"state.level:{pool_id}: expected {self.level_by_pool_id[pool_id].to_json()}, derived from the "
                    f"entries of the level; found {entry.state.get(f'level:{pool_id}')}",
                )


def _sum_transfers_into(entry: StoredEntry, account: str) -> int:
    """Return the sum of the entry's transfers into an account, in minor units."""
    return sum(t.amount_cents for t in entry.transfers if t.target == account)


class _LevelChanges:
    """The changes of progressive levels that one entry must make, and the transfers that these changes require."""

    def __init__(self, level_by_pool_id: dict[str, Level]) -> None:
        self._level_by_pool_id = level_by_pool_id
        self.transfers: list[Transfer] = []
        self.changed_pool_ids: list[str] = []

    def apply_level_change(self, pool_id: str, level: Level) -> None:
        """Store ``level`` as the new state of the pool's level, and add the transfers that this change requires."""
        self.transfers += posting.build_change_transfers(pool_id, self._level_by_pool_id[pool_id], level)
        self._level_by_pool_id[pool_id] = level
        if pool_id not in self.changed_pool_ids:
            self.changed_pool_ids.append(pool_id)


def _find_claim_or_amount(hit: LevelHitRecord) -> int | str:
    """Return the claim id of a hit of a linked level, or the locked amount in minor units of any other hit.

    Raises ValueError if the hit has neither.
    """
    claim_or_amount = hit.amount_cents if hit.claim_id is None else hit.claim_id
    if claim_or_amount is None:
        raise ValueError(f"hit of {hit.pool_id}: expected an amount or a claim, found neither")
    return claim_or_amount


def _take_mystery_draw(pool_id: str, hit_chance: tuple[int, int] | None, draws: list[DrawRecord]) -> bool:
    """Return whether a mystery level is hit; remove the draw that decides this from the front of ``draws``.

    ``pool_id`` is the level's pool. ``hit_chance`` is (number of values that hit, number of possible values). If it is
    None, there is no hit; if all values hit, there is one. In both cases nothing was drawn, so nothing is removed.
    Raises ValueError if the first draw is not that of this level.
    """
    if hit_chance is None:
        return False
    favourable_count, bound = hit_chance
    if favourable_count >= bound:
        return True
    recorded_bound, value, purpose = draws.pop(0) if draws else (0, 0, "")
    if (recorded_bound, purpose) != (bound, f"{MYSTERY_DRAW_PURPOSE}{pool_id}") or not 0 <= value < bound:
        raise ValueError(
            f"record.mystery: expected a draw below {bound} for level {pool_id}, "
            f"found {value} below {recorded_bound} for {purpose!r}"
        )
    return value < favourable_count


def _sum_transfers(transfers: Iterable[Transfer]) -> Counter[tuple[str, str]]:
    """Return the sum of the transfers by source and target account, in minor units."""
    cents_by_accounts: Counter[tuple[str, str]] = Counter()
    for t in transfers:
        cents_by_accounts[t.source, t.target] += t.amount_cents
    return cents_by_accounts
