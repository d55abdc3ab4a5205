"""Facts from the entries of a journal that support claims and that its stored state does not show.

They are: open games, and games whose contribution to a linked level may not be counted; how levels were opened; which
transfers have moved value; which ended tickets the ticket ledger may not have recorded; the ledger's end.
"""

from collections import deque
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any, Final

from egm.features.memory_clear.entries import TRANSFER_IDENTIFIERS
from egm.features.memory_clear.records import CARRIED_STATE_KIND, CLAIM_CARRIED_KIND, compute_short_digest
from egm.integrity.entries import CABINET_FILE_SIGNED, POWER_UP
from egm.integrity.signed_file import SIGNED_CABINET_TEXT_FIELD
from egm.money.keys import MoneyKey
from egm.play.entries import GAME_PUSH, GAME_VOID
from egm.play.records.game_record import (
    AccountAndCents,
    GameChoice,
    GameRecord,
    MysteryPrizeRecord,
    RecordedStep,
    is_round_between_players,
)
from egm.play.records.games import GAME_CHOICE_KIND, MYSTERY_WON_KIND, WAGER_ACCOUNT
from egm.progressive.entries import LEVEL_OPENED
from egm.progressive.feeder import UNCOUNTED_CONTRIBUTIONS_MAX
from egm.progressive.keys import ProgressiveKey
from egm.record_codec import RecordError, from_json
from egm.tickets.ledger_comparison import EarlierLedger, LedgerAnchor, parse_ledger_anchor
from meters import StoredEntry
from meters.recall import CARRIED_GAME_KIND, PLAY_END_KINDS, PLAY_START_KIND
from meters.transaction import JSON

#: Prefix of the ids of host transfers.
_HOST_TRANSFER_ID_PREFIX: Final = "transfer:"
#: Kind of the entry that returns stakes.
_GAME_PUSH_KIND: Final = GAME_PUSH.kind
#: The number of last ended tickets that are kept. The ticket ledger may lack one per position (at most sixteen); twice
#: as many are kept, because entries of credited bills are among them.
_ENDED_TICKETS_MAX: Final = 32
#: Once a controller has counted this many later contributions, it can no longer report a win of the earlier one: the
#: machine sends no more than this many ahead of the count.
_REPORTABLE_CONTRIBUTIONS_MAX: Final = UNCOUNTED_CONTRIBUTIONS_MAX


class MemoryEvidence:
    """Facts about games, rounds and transfers from the entries of one copy of a memory to be cleared.

    The entries are visited one by one, in order.
    """

    def __init__(self) -> None:
        self.games: dict[str, GameRecord] = {}
        self.dimensions_by_play_id: dict[str, dict[str, str | int]] = {}
        self.steps_by_round_id: dict[str, tuple[RecordedStep, ...]] = {}
        """For each shared round with an open game: the longest list of steps that is recorded for any of its games."""
        self.void_round_ids: set[str] = set()
        """The ids of rounds that ended because a game was declared void.

        In these rounds players win each other's stakes.
        """
        self.level_opening_by_pool_id: dict[str, JSON] = {}
        """What the journal records of the opening of each progressive level, by the id of the level's pool."""
        self.transfer_identifiers: set[str] = set()
        self.ticket_ending_entry_ids: deque[str] = deque(maxlen=_ENDED_TICKETS_MAX)
        """The ids of the entries that ended the most recent tickets, by printing or redeeming them.

        Entries of credited bills are among them, because their ids have the same form.
        """
        self.ticket_ledger: EarlierLedger | None = None
        """The last state of the ticket ledger that the journal records; None without one.

        It also names all ledgers known to be this machine's (:mod:`egm.tickets.ledger_comparison`).
        """
        self.original_kind_by_reservation: dict[str, str] = {}
        """The kind of the entry that first made a reservation, by reservation id.

        Only reservations that an earlier memory clear has carried over are in it.
        """
        self.cabinet_text = ""
        """The text of the cabinet file that was signed last; empty if none was ever signed."""
        self.profile_name = ""
        """The name of the profile that was in force at the last power-up."""
        self._last_counted_number_by_pool_id: dict[str, int] = {}

    def visit(self, entry: StoredEntry) -> None:
        """Add the facts in one journal entry of the old memory."""
        record: Mapping[str, object] = entry.record if isinstance(entry.record, Mapping) else {}
        if entry.kind == POWER_UP.kind:
            self.profile_name = str(record.get("profile", ""))
        for stored_name, value in entry.state.items():
            if stored_name.startswith(ProgressiveKey.LINK_PROGRESS) and isinstance(value, Mapping):
                self._last_counted_number_by_pool_id[
                    stored_name.removeprefix(ProgressiveKey.LINK_PROGRESS)
                ] = int(str(value["counted"]))
        if MoneyKey.TICKET_LEDGER_ANCHOR in entry.state:
            self._update_ticket_ledger(parse_ledger_anchor(entry.state[MoneyKey.TICKET_LEDGER_ANCHOR]))
        if entry.id.startswith(_HOST_TRANSFER_ID_PREFIX):
            self.transfer_identifiers.add(
                compute_short_digest(entry.id.removeprefix(_HOST_TRANSFER_ID_PREFIX))
            )
        elif entry.id.endswith((".printed", ".in")):
            self.ticket_ending_entry_ids.append(entry.id)
        self._update_from_kind(entry, record)

    def _update_ticket_ledger(self, anchor: LedgerAnchor | None) -> None:
        """Update the last known state of the ticket ledger from the one that a journal entry records."""
        if anchor is None:
            return
        accepted_restorations = (
            () if self.ticket_ledger is None else self.ticket_ledger.accepted_restoration_ids
        )
        if anchor.restoration_id not in accepted_restorations:
            accepted_restorations = (*accepted_restorations, anchor.restoration_id)
        self.ticket_ledger = EarlierLedger(
            restoration_id=anchor.restoration_id,
            move_number=anchor.move_number,
            digest=anchor.digest,
            accepted_restoration_ids=accepted_restorations,
        )

    def _update_from_kind(self, entry: StoredEntry, record: Mapping[str, Any]) -> None:
        """Add the facts in a journal entry about a game, a level, a cabinet file or an earlier memory clear."""
        kind = entry.kind
        if kind in {PLAY_START_KIND, CARRIED_GAME_KIND, GAME_CHOICE_KIND, _GAME_PUSH_KIND, MYSTERY_WON_KIND}:
            with suppress(RecordError):  # an unreadable game is decided by persons
                self._add_game_entry(entry)
        elif kind in PLAY_END_KINDS and record.get("play_id") in self.games:
            self._store_game_end(replace(self.games[record["play_id"]], end_entry_kind=kind))
        elif kind == LEVEL_OPENED.kind:
            self.level_opening_by_pool_id[record["pool"]] = dict(record)
        elif kind == CLAIM_CARRIED_KIND and "reserved_as" in record:
            self.original_kind_by_reservation[entry.id] = record["reserved_as"]
        elif kind == CLAIM_CARRIED_KIND and record.get("opened"):
            self.level_opening_by_pool_id[record["pool"]] = record["opened"]
        elif kind == TRANSFER_IDENTIFIERS.kind:
            self.transfer_identifiers |= set(record["sha256"])
        elif kind == CABINET_FILE_SIGNED.kind:
            self.cabinet_text = str(record["text"])
        elif kind == CARRIED_STATE_KIND:
            self.cabinet_text = str(record.get(SIGNED_CABINET_TEXT_FIELD, ""))
            self.ticket_ending_entry_ids.extend(record["ended"])
            earlier_ledger = record.get(MoneyKey.TICKET_LEDGER_ANCHOR)
            self.ticket_ledger = (
                None if earlier_ledger is None else from_json(EarlierLedger, earlier_ledger, kind)
            )

    def _add_game_entry(self, entry: StoredEntry) -> None:
        """Add the facts in a journal entry about a game that is not its end."""
        location = f"entry {entry.sequence}, {entry.kind}"
        if entry.kind == GAME_CHOICE_KIND:
            choice = from_json(GameChoice, entry.record, location)
            if (game_record := self.games.get(choice.play_id)) is not None:
                stakes = (*(game_record.stakes_by_account or ()), *_list_stakes(entry))
                self._store_game(replace(game_record.with_step(choice), stakes_by_account=stakes))
            return
        if entry.kind == _GAME_PUSH_KIND:
            play_id = entry.id.rpartition(".")[0]
            if play_id in self.games:
                self.games[play_id] = replace(self.games[play_id], has_returned_stakes=True)
            return
        if entry.kind == MYSTERY_WON_KIND:
            prize_won = from_json(MysteryPrizeRecord, entry.record, location)
            if prize_won.play_id in self.games:
                self.games[prize_won.play_id] = self.games[prize_won.play_id].with_hits(prize_won.hits)
            return
        game_record = from_json(GameRecord, entry.record, location)
        if entry.kind == PLAY_START_KIND:
            self._drop_settled_games()
            game_record = replace(game_record, stakes_by_account=_list_stakes(entry))
        self._store_game(replace(game_record, claim_id=""))
        self.dimensions_by_play_id[game_record.play_id] = dict(entry.transaction.dims)

    def _store_game(self, game_record: GameRecord) -> None:
        """Store a game's record.

        For a game of a shared round, also store its steps, unless another game of the round has recorded more.
        """
        self.games[game_record.play_id] = game_record
        if game_record.wager.seat is not None and game_record.round_id:
            known_steps = self.steps_by_round_id.get(game_record.round_id, ())
            self.steps_by_round_id[game_record.round_id] = max(
                known_steps, game_record.steps, game_record.round_steps, key=len
            )

    def _store_game_end(self, game_record: GameRecord) -> None:
        """Store that a game has ended.

        Its round has ended too under three conditions: the game was declared void, players win each other's stakes in
        it, and no other game of the round has recorded more steps.
        """
        self.games[game_record.play_id] = game_record
        steps = self.steps_by_round_id.get(game_record.round_id, ())
        if (
            game_record.end_entry_kind == GAME_VOID.kind
            and len(game_record.steps) == len(steps)
            and is_round_between_players(steps)
        ):
            self.void_round_ids.add(game_record.round_id)

    def _drop_settled_games(self) -> None:
        """Remove ended games for which no progressive controller can report a hit any more."""
        for play_id, game_record in list(self.games.items()):
            may_still_win = any(
                contribution.contribution_number is not None
                and contribution.contribution_number
                > self._last_counted_number_by_pool_id.get(contribution.pool_id, 0)
                - _REPORTABLE_CONTRIBUTIONS_MAX
                for contribution in game_record.levels.contributions
            )
            if game_record.end_entry_kind and not may_still_win:
                del self.games[play_id], self.dimensions_by_play_id[play_id]
        open_round_ids = {game_record.round_id for game_record in self.games.values()}
        for round_id in self.steps_by_round_id.keys() - open_round_ids:
            del self.steps_by_round_id[round_id]
        self.void_round_ids &= open_round_ids


def _list_stakes(entry: StoredEntry) -> tuple[AccountAndCents, ...]:
    """Return the credit that a journal entry stakes, as pairs of account and minor units."""
    return tuple(
        (transfer.source, transfer.amount_cents)
        for transfer in entry.transfers
        if transfer.target == WAGER_ACCOUNT
    )
