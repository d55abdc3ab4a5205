"""The audit of one journal: hash chain, signatures, balances, meters and games, entry by entry."""

import sys
import time
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Final

from egm.app.features import FEATURES
from egm.kernel.credits import CreditKind
from egm.kernel.events import State
from egm.kernel.feature import Features
from egm.kernel.games import Selection
from egm.kernel.keys import KernelKey
from egm.kernel.positions import Position
from egm.play.entries import GAME_END
from egm.play.keys import PlayKey
from egm.play.records.game_record import GameReference
from egm.record_codec import RecordError, from_json
from meters import JournalDamaged, JournalError, SelfAuditFailed, StoredEntry, checkpoint, read_meters
from meters.entry import GENESIS_HASH, decode, encode_canonical_json
from meters.identifiers import parse_lowest_possible_sequence, parse_own_entry_sequence, parse_play_start
from meters.ledger import Ledger
from meters.machine_key import format_fingerprint
from meters.recall import PLAY_START_KIND
from paytables import PaytableError
from tools.audit import residuals
from tools.audit.available_games import AvailableGames
from tools.audit.clears import MemoryClearAudit, belongs_to_memory_clear
from tools.audit.entry_rules import EntryRulesAudit
from tools.audit.games import GameAudit, GameFiles
from tools.audit.jobs import find_plain_runs
from tools.audit.levels import LevelAudit
from tools.audit.notices import format_notice
from tools.audit.plain_games import PlainRun
from tools.audit.prizes import PrizeAudit
from tools.audit.rules import AuditRule
from tools.audit.rules.pattern import format_storage_key, format_value
from tools.audit.rules.states import derive_machine_state
from tools.audit.ticket_redemptions import TicketRedemptionAudit
from tools.audit.tournaments import TournamentAudit

#: The maximum number of findings that a report stores, and the maximum number of notices.
#:
#: Further findings are only counted. Of the notices, the last ones are stored.
FINDINGS_MAX: Final = 100
#: The most differing totals that a finding names.
_DIFFERING_TOTALS_SHOWN_MAX: Final = 4


@dataclass(frozen=True, slots=True)
class AuditFinding:
    """A finding (something is wrong) or a notice (something to ask about), with the entry that it is about."""

    sequence: int
    """The sequence number of the entry.

    A finding about the end of the journal has the number of the last entry, and one about the whole file has 0.
    """
    id: str
    """The id of the entry; "" if the finding is about no readable entry."""
    text: str
    """What is wrong or notable."""


@dataclass(frozen=True, slots=True)
class _KnownHead:
    """The hash of a journal entry, or its first digits, known from outside the journal, such as from a printed slip."""

    hash_prefix: str
    source: str
    """Where the hash is known from, as text for findings."""


@dataclass(slots=True)
class AuditReport:
    """The result of a journal audit: what was checked, and what was found."""

    fingerprint: str = ""
    """The fingerprint of the machine's signing key."""
    machine_id: str = ""
    """The machine's serial number, from the journal's first entry."""
    is_key_compared: bool = False
    """Whether the machine's signing key was compared with a fingerprint obtained outside the journal.

    If not, a forger could have signed the journal with a different key.
    """
    matching_head_count: int = 0
    """The number of hashes known from outside the journal that agree with its entries."""
    entry_count: int = 0
    """The number of entries checked."""
    checkpoint_count: int = 0
    game_count: int = 0
    void_game_count: int = 0
    open_game_count: int = 0
    """The number of games that have not ended at the end of the journal."""
    head_hash: str = GENESIS_HASH
    """The hash of the journal's last entry."""
    duration_seconds: float = 0.0
    """The duration of the audit in seconds."""
    level_count: int = 0
    """The number of progressive levels."""
    credits_cents: int = 0
    """The players' credit at the end of the journal, in minor units."""
    meters: dict[str, int] = field(default_factory=dict)
    """The meters at the end of the journal, by name."""
    finding_count: int = 0
    """The number of findings, including those that are not stored."""
    findings: list[AuditFinding] = field(default_factory=list)
    """The findings that are stored; ``finding_count`` counts all of them."""
    notice_count: int = 0
    """The number of notices, including those that are not stored."""
    notices: list[AuditFinding] = field(default_factory=list)
    """The last notices; ``notice_count`` counts all of them."""

    def add_finding(self, finding: AuditFinding) -> None:
        """Count a finding, and store it unless the maximum number of findings is stored already."""
        self.finding_count += 1
        if len(self.findings) < FINDINGS_MAX:
            self.findings.append(finding)

    def add_notice_if_due(self, entry: StoredEntry) -> None:
        """Add a notice if the entry is about the machine's memory, clock or a new staff list; ignore any other."""
        if notice_text := format_notice(entry):
            self.add_notice(entry, notice_text)

    def add_notice(self, entry: StoredEntry, reason: str) -> None:
        """Count a notice about the entry, and store it.

        If too many are stored, the oldest is dropped.
        """
        self.notice_count += 1
        self.notices.append(AuditFinding(entry.sequence, entry.id, reason))
        del self.notices[:-FINDINGS_MAX]

    def to_json(self) -> dict[str, Any]:
        """Return the audit report as JSON data for scripts."""
        return {
            "ok": not self.finding_count,
            "machine": self.fingerprint,
            "machine_id": self.machine_id,
            "key_compared": self.is_key_compared,
            "witnessed": self.matching_head_count,
            "entries": self.entry_count,
            "checkpoints": self.checkpoint_count,
            "games_replayed": self.game_count,
            "games_void": self.void_game_count,
            "games_open": self.open_game_count,
            "levels_derived": self.level_count,
            "head": self.head_hash,
            "credits_cents": self.credits_cents,
            "meters": self.meters,
            "seconds": round(self.duration_seconds, 3),
            "wrong": self.finding_count,
            "findings": [{"entry": f.sequence, "id": f.id, "why": f.text} for f in self.findings],
            "noted": self.notice_count,
            "notices": [{"entry": f.sequence, "id": f.id, "why": f.text} for f in self.notices],
        }


class Auditor:
    """The audit of one journal, entry by entry in order; :attr:`report` has the result."""

    def __init__(
        self,
        games: GameFiles,
        heads: Mapping[int, str] | None = None,
        known_heads: Iterable[tuple[int, str]] = (),
        features: Features = FEATURES,
        rules: Iterable[AuditRule] = (),
    ) -> None:
        """Create an audit with the available game definitions ``games``.

        ``heads`` has the entry hashes of an earlier export, by sequence number. ``known_heads`` are witnesses: journal
        heads that were printed or sent while the journal was written, as (sequence number, hash or its first digits).
        ``features`` are the features of the machine that wrote the journal; ``rules`` are audit rules for the entries
        of operator-supplied features.
        """
        self.report = AuditReport()
        self._ledger = Ledger()
        self.entry_rules = EntryRulesAudit(self.report_finding, features, rules)
        self._available_games = AvailableGames(games)
        self._games = GameAudit(
            self._available_games, self.report_finding, self.can_start_game, self.read_memory, self.add_notice
        )
        self._levels = LevelAudit(self._available_games, self.report_finding)
        self._prizes = PrizeAudit(self.report_finding)
        self._clears = MemoryClearAudit(self.report_finding)
        self._ticket_redemptions = TicketRedemptionAudit(self.report_finding)
        self._tournaments = TournamentAudit(
            self._available_games, self.report_finding, self.read_meters, self.read_memory, self.add_notice
        )
        self._used_ids: set[str] = set()
        self._entry_ids_by_start_id: dict[str, set[str]] = {}
        """The ids of each open game's entries after its first one, by the id of the first one."""
        self._known_heads_by_sequence: dict[int, list[_KnownHead]] = {}
        for sequence, hash_hex in (heads or {}).items():
            self._known_heads_by_sequence.setdefault(sequence, []).append(
                _KnownHead(hash_hex, "an earlier export")
            )
        for sequence, hash_hex in known_heads:
            self._known_heads_by_sequence.setdefault(sequence, []).append(_KnownHead(hash_hex, "a witness"))
        self._sequences_of_checked_heads: set[int] = set()
        self._last_used_play_number = 0
        """The highest number of a play that occurs in an entry id stored in ``_used_ids``.

        Plain games up to this number are checked entry by entry, because they might repeat a stored id.
        """
        self.public_key: bytes | None = None

    @property
    def last_entry_checked(self) -> tuple[int, str]:
        """Return the sequence number and the hash of the last entry checked."""
        return self._ledger.sequence, self._ledger.head_hex

    def audit_entries(
        self, bodies: Iterable[bytes], *, expected_head: tuple[int, str] | None = None, jobs: int = 1
    ) -> AuditReport:
        """Check every entry of the journal; return the report.

        ``bodies`` are the encoded entries. ``expected_head`` is the expected sequence number and hash of the
        last entry, if known from outside. ``jobs`` processes replay the plain games; the report does not depend
        on their number. Raises :class:`JobError` if one of them ends unexpectedly or fails.
        """
        start_seconds = time.perf_counter()
        self._last_used_play_number = max(map(self._find_play_number, self._used_ids), default=0)
        try:
            for batch, runs in find_plain_runs(bodies, self._available_games, jobs, self._ledger.sequence):
                self._check_batch(batch, runs)
        except JournalError as error:
            self.report.add_finding(AuditFinding(self._ledger.sequence + 1, "", str(error)))
        last_sequence, last_hash = self._ledger.sequence, self._ledger.head_hex
        try:
            self._games.close()
            self.entry_rules.close(self._ledger)
            self._ledger.run_full_audit()
            for finding_text in self._levels.iter_balance_errors(self._ledger.balance_cents):
                self.report.add_finding(AuditFinding(last_sequence, "", finding_text))
        except SelfAuditFailed as error:
            self.report.add_finding(
                AuditFinding(last_sequence, "", f"the balances of the whole journal do not agree: {error}")
            )
        except Exception as error:  # noqa: BLE001 (the file is untrusted input)
            self.report.add_finding(
                AuditFinding(
                    last_sequence, "", f"the balances of the whole journal cannot be checked: {error!r}"
                )
            )
        if missing_entries_error := self._clears.format_missing_entries_error():
            self.report.add_finding(AuditFinding(last_sequence, "", missing_entries_error))
        if expected_head is not None and (last_sequence, last_hash) != expected_head:
            expected_sequence, expected_hash = expected_head
            end_error = (
                f"the journal ends at entry {last_sequence} ({last_hash}); "
                f"expected its end at entry {expected_sequence} ({expected_hash})"
            )
            self.report.add_finding(AuditFinding(last_sequence, "", end_error))
        for sequence in sorted(self._known_heads_by_sequence.keys() - self._sequences_of_checked_heads):
            source = self._known_heads_by_sequence[sequence][0].source
            self.report.add_finding(
                AuditFinding(
                    last_sequence,
                    "",
                    f"the journal ends at entry {last_sequence}, but {source} reached entry {sequence}",
                )
            )
        try:
            self._complete_report(time.perf_counter() - start_seconds)
        except Exception as error:  # noqa: BLE001 (as above)
            self.report.add_finding(AuditFinding(last_sequence, "", f"the meters cannot be read: {error!r}"))
        return self.report

    def _complete_report(self, duration_seconds: float) -> None:
        """Add to the report the machine's credit, meters and counts at the end of the journal.

        ``duration_seconds`` is the duration of the audit.
        """
        report = self.report
        report.duration_seconds = duration_seconds
        report.head_hash = self._ledger.head_hex
        report.machine_id = self.entry_rules.facts.serial
        report.level_count = len(self._levels.level_by_pool_id)
        report.credits_cents = self._ledger.credits_cents()
        report.meters = read_meters(self._ledger).values
        report.game_count = self._games.replayed_game_count + self._tournaments.replayed_game_count
        report.void_game_count = self._games.void_game_count
        report.open_game_count = self._games.open_play_count

    def _check_batch(self, batch: list[bytes], runs: Iterable[PlainRun]) -> None:
        """Check consecutive encoded entries.

        A run of plain games is checked as a whole if possible, all other entries one by one.
        """
        index = 0
        for run in runs:
            for body in batch[index : run.index_in_batch]:
                self.check_body(body)
            index = run.index_in_batch
            if self._is_plain_run_allowed(run):
                self._add_plain_run(run)
                index += run.entry_count
        for body in batch[index:]:
            self.check_body(body)

    def _is_plain_run_allowed(self, run: PlainRun) -> bool:
        """Return whether a run of plain games (ordinary games, checked as a whole) fits the entries before it.

        If it does not, its games are checked entry by entry, and these checks report the reason.
        """
        ledger = self._ledger
        try:
            return (
                ledger.sequence > 0
                and (ledger.sequence + 1, ledger.head_hex) == (run.first_sequence, run.previous_hex)
                and run.first_sequence > self._last_used_play_number
                and not any(
                    run.first_sequence <= sequence <= run.last_sequence
                    for sequence in self._known_heads_by_sequence
                )
                and not self._clears.has_pending_entries
                and self._levels.is_plain_run_allowed()
                and self._games.is_plain_run_allowed(run)
                and self.entry_rules.is_plain_run_allowed(run, ledger)
            )
        except Exception:  # noqa: BLE001 (untrusted input; the entries' own checks report it)
            return False

    def _add_plain_run(self, run: PlainRun) -> None:
        """Add a checked run of plain games (ordinary games) to the ledger, the report, and the data of all checks."""
        self.report.entry_count += run.entry_count
        self.entry_rules.add_plain_run(run)
        self._games.add_plain_run(run)
        ledger = self._ledger
        for cell, (amount_cents, transfer_count) in run.flows.items():
            ledger.add_flow(cell, amount_cents, transfer_count)
        for counter, count in run.counts.items():
            ledger.counts[counter] += count
        ledger.state[str(PlayKey.LAST_GAME)] = {"play_id": run.last_play_id, "win_cents": run.last_win_cents}
        for name, table in run.parse_stored_tables().items():
            ledger.state[name] = table
            if table is None:
                del ledger.state[name]
        ledger.sequence, ledger.head_hex = run.last_sequence, run.head_hex

    def check_body(self, body: bytes) -> None:
        """Run all checks on one encoded entry.

        An exception that the entry causes becomes a finding about the entry, and the audit continues.
        """
        self.report.entry_count += 1
        try:
            entry = decode(body)
        except Exception as error:  # noqa: BLE001 (untrusted input)
            self.report.add_finding(
                AuditFinding(
                    self._ledger.sequence + 1, "", f"the bytes found here are not a journal entry: {error}"
                )
            )
            return
        try:
            self._check_entry(entry)
        except Exception as error:  # noqa: BLE001 (as above)
            error_text = str(error) if isinstance(error, RecordError) else repr(error)
            self.report_finding(entry, f"the entry cannot be checked: {error_text}")
            self._ledger.sequence, self._ledger.head_hex = entry.sequence, entry.hash_hex

    def _check_entry(self, entry: StoredEntry) -> None:
        """Run every check on one decoded entry, and add the entry to the ledger."""
        transaction, ledger = entry.transaction, self._ledger
        is_next_entry = entry.sequence == ledger.sequence + 1 and entry.previous_hex == ledger.head_hex
        if not is_next_entry or not ledger.sequence:
            self._check_chain(entry)
        self._check_id(entry)
        if transaction.kind == checkpoint.CHECKPOINT_KIND:
            self._check_checkpoint(entry)
        if entry.sequence in self._known_heads_by_sequence:
            self._check_heads(entry, self._known_heads_by_sequence[entry.sequence])
        if belongs_to_memory_clear(transaction.kind):  # checked against the clear's authorisation instead
            self.entry_rules.facts.update(entry)
        else:
            self.entry_rules.check_entry(entry, ledger)
        self._apply_to_ledger(entry)
        self._available_games.store_definitions(entry)
        self._clears.check_entry(entry)
        start_record = self._games.check_entry(entry)
        self._levels.check_entry(entry, start_record)
        if start_record is not None:
            self._add_notice_if_only_in_journal(entry, start_record.game_reference)
        self._prizes.check_entry(entry)
        self._ticket_redemptions.check_entry(entry)
        self._tournaments.check_entry(entry)
        residuals.check_residual_entry(entry, self.report_finding)
        self.report.add_notice_if_due(entry)

    def can_start_game(self, position: int, digest: str, bets: Mapping[str, int]) -> bool:
        """Return whether a position may start a table game with these bets, by the machine's stored values.

        ``digest`` identifies the game; ``bets`` has credits by spot.
        """
        is_idle = derive_machine_state(self._ledger, position, self.entry_rules.facts) is State.IDLE
        return (
            is_idle
            and format_storage_key(PlayKey.REMINDER, position) not in self._ledger.state
            and self._is_bet_covered(position, digest, bets)
        )

    def _is_bet_covered(self, position: int, digest: str, bets: Mapping[str, int]) -> bool:
        """Return whether a position's credits cover these bets and the raises that the certified strategy may make.

        Also return True if nothing can be checked: the player's selection (game and bets) is not stored, cannot be
        read, or has other bets. In the last case the player changed the bets after placing them, and the machine
        refused the game when betting closed.
        """
        stored_selection = self._ledger.state.get(format_storage_key(KernelKey.SELECTION, position))
        if stored_selection is None:
            return True
        try:
            selection = from_json(Selection, stored_selection, "selection")
        except RecordError:
            return True  # it was reported when it was stored
        if selection.options.get("bets") != bets:
            return True
        reserve_credits = 0
        game = self._available_games.find(selection.game_id, digest)
        if game is not None:
            # Some bets, such as a point's odds, are valid only in the table's current state: no reserve is computed.
            with suppress(PaytableError):
                wager = game.build_wager(selection.bet_credits, bets=dict(bets))
                reserve_credits = game.rules.compute_raise_reserve(wager)
        needed_cents = (selection.bet_credits + reserve_credits) * selection.denomination_cents
        accounts = map(Position(position).name_credit_account, CreditKind)
        return needed_cents <= sum(map(self._ledger.available_cents, accounts))

    def read_meters(self) -> Mapping[str, int]:
        """Return the meters after the entries checked so far."""
        return read_meters(self._ledger).values

    def read_memory(self, key: str) -> object:
        """Return the value that the machine has stored under a key after the entries checked so far."""
        return self._ledger.state.get(key)

    def _add_notice_if_only_in_journal(self, entry: StoredEntry, game_reference: GameReference) -> None:
        """Add a notice at the first game of each definition that is available only from the journal."""
        is_first_game = f"{PlayKey.GAME_DEFINITION}{game_reference.digest}" in entry.state
        if is_first_game and self._available_games.is_only_in_journal(
            game_reference.id, game_reference.digest
        ):
            text = (
                f"the definition of {game_reference.id} {game_reference.version} was found only in the journal: "
                f"compare its digest {game_reference.digest}"
            )
            self.report.add_notice(entry, f"{text} with its certificate")

    def _check_id(self, entry: StoredEntry) -> None:
        """Check that the entry's id was not used before.

        To save memory, ids that contain their own sequence number, and ids of ended games, are not stored; those of
        void games are.
        """
        entry_id, kind = entry.transaction.id, entry.transaction.kind
        if entry_id in self._used_ids:
            self.report_finding(entry, f"id {entry_id} was used by an earlier entry")
        elif (
            kind == PLAY_START_KIND
            and entry_id == f"play-{entry.sequence}-{self.entry_rules.facts.journal_tag}.start"
        ):
            self._entry_ids_by_start_id[entry_id] = set()
            return
        elif kind == GAME_END.kind and entry_id.endswith(".end"):
            used_ids = self._entry_ids_by_start_id.get(ended_start_id := f"{entry_id[:-4]}.start")
            if used_ids is not None and entry_id not in used_ids:
                del self._entry_ids_by_start_id[ended_start_id]
                return
        _, start_id = parse_play_start(entry_id) or (0, "")
        if entry_id in self._entry_ids_by_start_id.get(start_id, ()):
            self.report_finding(entry, f"id {entry_id} was used by an earlier entry")
        if start_id in self._entry_ids_by_start_id:
            self._entry_ids_by_start_id[start_id].add(entry_id)
            if entry_id.endswith(".end"):
                del self._entry_ids_by_start_id[start_id]  # GameAudit reports any later entry of the game
        elif parse_own_entry_sequence(entry_id) == entry.sequence:
            if kind == PLAY_START_KIND:
                self._entry_ids_by_start_id[entry_id] = set()
        else:
            self._used_ids.add(entry_id)
            self._last_used_play_number = max(self._last_used_play_number, self._find_play_number(entry_id))

    def _find_play_number(self, entry_id: str) -> int:
        """Return the number of the play to which an entry id belongs; 0 if it belongs to none.

        The number of a play is the sequence number of its first entry.
        """
        if not entry_id.startswith("play-"):
            return 0
        journal_tag = self.entry_rules.facts.journal_tag
        return parse_lowest_possible_sequence(entry_id, journal_tag) or 0 if journal_tag else sys.maxsize

    def _check_chain(self, entry: StoredEntry) -> None:
        """Check the entry's sequence number, and that it contains the hash of the previous entry.

        The first entry supplies the public key of the machine.
        """
        expected = self._ledger.sequence + 1
        if expected == 1:
            try:
                self.public_key = checkpoint.read_public_key(entry, "journal")
                self.report.fingerprint = format_fingerprint(self.public_key)
                self.entry_rules.facts.fingerprint = self.report.fingerprint
            except JournalDamaged as error:
                self.report_finding(entry, str(error))
        if entry.sequence != expected:
            chain_error = (
                f"expected entry {expected}, found {entry.sequence}: entries are missing, repeated or moved"
            )
            self.report.add_finding(AuditFinding(expected, entry.id, chain_error))
        elif entry.previous_hex != self._ledger.head_hex:
            self.report_finding(
                entry,
                f"the hash of entry {expected - 1} is {self._ledger.head_hex}, but this entry records "
                f"{entry.previous_hex}: one of the two was altered",
            )

    def _check_heads(self, entry: StoredEntry, known_heads: Iterable["_KnownHead"]) -> None:
        """Report a finding if the entry's hash differs from one of ``known_heads``, its hashes known from outside."""
        self._sequences_of_checked_heads.add(entry.sequence)
        for known_head in known_heads:
            if not entry.hash_hex.startswith(known_head.hash_prefix):
                self.report_finding(
                    entry,
                    f"the hash of this entry is {entry.hash_hex}, but {known_head.source} has "
                    f"{known_head.hash_prefix} here",
                )
            else:
                self.report.matching_head_count += 1

    def _check_checkpoint(self, entry: StoredEntry) -> None:
        """Check the signature of a checkpoint entry, and compare its totals with the ledger."""
        self.report.checkpoint_count += 1
        if self.public_key is None:
            self.report_finding(entry, "the checkpoint cannot be checked: entry 1 names no public key")
            return
        try:
            signed_totals = checkpoint.check_checkpoint(entry, self.public_key, "journal")
        except JournalDamaged as error:
            self.report_finding(entry, error.reason)
            return
        derived_totals = checkpoint.encode_ledger(self._ledger)
        wrong_parts = [
            part
            for part in derived_totals
            if encode_canonical_json(derived_totals[part]) != encode_canonical_json(signed_totals.get(part))
        ]
        if wrong_parts:
            self.report_finding(
                entry,
                "the totals that the machine signed do not match the entries before this one: "
                + "; ".join(
                    _describe_total_differences(part, derived_totals[part], signed_totals.get(part))
                    for part in wrong_parts
                ),
            )

    def _apply_to_ledger(self, entry: StoredEntry) -> None:
        """Add the entry to the ledger, or report why the ledger rejects it."""
        try:
            effect = self._ledger.compute_effect(entry.transaction)
        except JournalError as error:
            self.report_finding(entry, f"the entry's transfers cannot be posted: {error}")
            # Continue with the next entry of the chain, so that later entries get no findings because of this one.
            self._ledger.sequence, self._ledger.head_hex = entry.sequence, entry.hash_hex
            return
        self._ledger.apply_effect(effect, entry)

    def report_finding(self, entry: StoredEntry, reason: str) -> None:
        """Add a finding about ``entry``."""
        self.report.add_finding(AuditFinding(entry.sequence, entry.id, reason))

    def add_notice(self, entry: StoredEntry, reason: str) -> None:
        """Add a notice about ``entry``."""
        self.report.add_notice(entry, reason)


def _describe_total_differences(name: str, derived: Any, signed: Any) -> str:
    """Return, as text, which values of one part of the ledger differ between the audit and a signed checkpoint.

    ``name`` is the part of the ledger; ``derived`` and ``signed``, which are known to differ, are its values in the
    audit and in the checkpoint.
    """
    if isinstance(derived, Mapping) and isinstance(signed, Mapping):
        keys = sorted(key for key in {*derived, *signed} if derived.get(key) != signed.get(key))
        differences = [
            f"{key} expected {format_value(derived.get(key))}, found {format_value(signed.get(key))}"
            for key in keys
        ]
        return f"{name}: {', '.join(differences[:_DIFFERING_TOTALS_SHOWN_MAX]) or 'the order of its values'}"
    return f"{name}: expected {format_value(derived)}, found {format_value(signed)}"
