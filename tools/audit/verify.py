"""The audit of one journal: chain, signatures, balances, meters and games, entry by entry."""

import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from meters import JournalDamaged, JournalError, SelfAuditFailed, StoredEntry, checkpoint, read_meters
from meters.entry import GENESIS_HASH, canonical, decode
from meters.keys import fingerprint
from meters.ledger import Ledger
from tools.audit import residuals
from tools.audit.games import GameAudit, Shelf
from tools.audit.levels import LevelAudit
from tools.audit.prizes import PrizeAudit

FINDINGS_MAX: Final = 100
"""Findings reported one by one; the rest are counted."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing wrong: at which entry (0 for the file as a whole), and what."""

    sequence: int
    id: str
    why: str


@dataclass(slots=True)
class Report:
    """What was checked, in what time, and what is wrong."""

    fingerprint: str = ""
    entries: int = 0
    checkpoints: int = 0
    games: int = 0
    games_void: int = 0
    games_open: int = 0
    head_hash: str = GENESIS_HASH
    seconds: float = 0.0
    levels: int = 0
    credits_cents: int = 0
    meters: dict[str, int] = field(default_factory=dict)
    wrong: int = 0
    findings: list[Finding] = field(default_factory=list)

    def add(self, finding: Finding) -> None:
        """Count a finding, and keep it while there are not too many."""
        self.wrong += 1
        if len(self.findings) < FINDINGS_MAX:
            self.findings.append(finding)

    def to_json(self) -> dict[str, Any]:
        """Return the report for scripts."""
        return {
            "ok": not self.wrong,
            "machine": self.fingerprint,
            "entries": self.entries,
            "checkpoints": self.checkpoints,
            "games_replayed": self.games,
            "games_void": self.games_void,
            "games_open": self.games_open,
            "levels_derived": self.levels,
            "head": self.head_hash,
            "credits_cents": self.credits_cents,
            "meters": self.meters,
            "seconds": round(self.seconds, 3),
            "wrong": self.wrong,
            "findings": [{"entry": f.sequence, "id": f.id, "why": f.why} for f in self.findings],
        }


class Auditor:
    """Takes the bodies of a journal's entries in order; :attr:`report` is what they prove."""

    def __init__(self, games: Shelf, heads: Mapping[int, str] | None = None) -> None:
        """``games`` at hand; ``heads``: sequence -> hash known from elsewhere (an earlier export)."""
        self.report = Report()
        self._ledger = Ledger()
        self._games = GameAudit(games, self._fault)
        self._levels = LevelAudit(games, self._fault)
        self._prizes = PrizeAudit(self._fault)
        self._ids: set[str] = set()
        self._heads = heads or {}
        self._seen_heads: set[int] = set()
        self.public_key: bytes | None = None

    def run(self, bodies: Iterable[bytes], *, head: tuple[int, str] | None = None) -> Report:
        """Check every entry; ``head`` is the last sequence and hash somebody else vouches for."""
        began = time.perf_counter()
        try:
            for body in bodies:
                self.see(body)
        except JournalError as why:
            self.report.add(Finding(self._ledger.sequence + 1, "", str(why)))
        try:
            self._ledger.full_audit()
        except SelfAuditFailed as why:
            self.report.add(Finding(self._ledger.sequence, "", f"the books do not agree: {why}"))
        found = self._ledger.sequence, self._ledger.head_hex
        for wrong in self._levels.close(self._ledger.balance_cents):
            self.report.add(Finding(found[0], "", wrong))
        if head is not None and found != head:
            ends = f"the journal ends here ({found[1]}), not at entry {head[0]} ({head[1]})"
            self.report.add(Finding(found[0], "", ends))
        for sequence in self._heads.keys() - self._seen_heads:
            self.report.add(Finding(found[0], "", f"an earlier export reached entry {sequence}"))
        self._close(time.perf_counter() - began)
        return self.report

    def _close(self, seconds: float) -> None:
        report = self.report
        report.seconds = seconds
        report.head_hash = self._ledger.head_hex
        report.levels = len(self._levels.levels)
        report.credits_cents = self._ledger.credits_cents()
        report.meters = read_meters(self._ledger).values
        report.games, report.games_void, report.games_open = (
            self._games.replayed,
            self._games.voided,
            self._games.open,
        )

    def see(self, body: bytes) -> None:
        """Check one entry: its place in the chain, its signature if it has one, its money, its game."""
        self.report.entries += 1
        try:
            entry = decode(body)
        except ValueError as why:
            self.report.add(Finding(self._ledger.sequence + 1, "", f"not an entry: {why}"))
            return
        self._check_chain(entry)
        transaction = entry.transaction
        if transaction.id in self._ids:
            self._fault(entry, "its id was used before")
        self._ids.add(transaction.id)
        if transaction.kind == checkpoint.KIND:
            self._check_checkpoint(entry)
        if entry.sequence in self._heads:
            self._check_head(entry, self._heads[entry.sequence])
        self._apply(entry)
        self._games.see(entry)
        self._levels.see(entry)
        self._prizes.see(entry)
        residuals.see(entry, self._fault)

    def _check_chain(self, entry: StoredEntry) -> None:
        expected = self._ledger.sequence + 1
        if expected == 1:
            try:
                self.public_key = checkpoint.public_key_of(entry, "journal")
                self.report.fingerprint = fingerprint(self.public_key)
            except JournalDamaged as why:
                self._fault(entry, str(why))
        if entry.sequence != expected:
            moved = f"entry {entry.sequence} stands here: entries are missing, repeated or moved"
            self.report.add(Finding(expected, entry.id, moved))
        elif entry.previous_hex != self._ledger.head_hex:
            self._fault(
                entry,
                f"entry {expected - 1} is not the one this entry vouches for: one of the two was altered",
            )

    def _check_head(self, entry: StoredEntry, known: str) -> None:
        self._seen_heads.add(entry.sequence)
        if known != entry.hash_hex:
            self._fault(entry, f"an earlier export has another entry here ({known})")

    def _check_checkpoint(self, entry: StoredEntry) -> None:
        self.report.checkpoints += 1
        if self.public_key is None:
            self._fault(entry, "there is no public key to check the checkpoint with")
            return
        try:
            signed = checkpoint.check(entry, self.public_key, "journal")
        except JournalDamaged as why:
            self._fault(entry, why.why)
            return
        derived = checkpoint.snapshot(self._ledger)
        wrong = [part for part in derived if canonical(derived[part]) != canonical(signed.get(part))]
        if wrong:
            self._fault(entry, f"the entries before it give other {', '.join(wrong)} than the machine signed")

    def _apply(self, entry: StoredEntry) -> None:
        try:
            plan = self._ledger.plan(entry.transaction)
        except JournalError as why:
            self._fault(entry, f"its money cannot be moved: {why}")
            # Go on in the chain all the same: later entries are judged by themselves.
            self._ledger.sequence, self._ledger.head_hex = entry.sequence, entry.hash_hex
            return
        self._ledger.commit(plan, entry)

    def _fault(self, entry: StoredEntry, why: str) -> None:
        self.report.add(Finding(entry.sequence, entry.id, why))
