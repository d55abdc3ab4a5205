"""The check of every journal entry against the audit rules: an entry that no rule allows is a finding.

The hash chain proves that a journal is complete, and the ledger proves that its sums are right. Whether an entry may
exist at all is decided by the rules (:mod:`tools.audit.rules`).
"""

from collections.abc import Callable, Iterable
from typing import Final

from egm.app.features import FEATURES
from egm.config.cabinet_file import POSITIONS_MAX
from egm.features.closing.keys import ClosingKey
from egm.features.memory_clear.entries import MACHINE_GENESIS
from egm.integrity.entries import CLOCK_CHANGED, POWER_UP, RESIDUAL_CREDIT_TERMS
from egm.integrity.journal_entries import CHECKPOINT_SIGNED, MEMORY_EVENT_RECORDED
from egm.integrity.keys import IntegrityKey
from egm.kernel.events import State
from egm.kernel.feature import Features
from egm.money import entries
from egm.money.keys import MoneyKey
from egm.play.entries import LARGEST_PRIZES_COMPUTED
from egm.play.keys import PlayKey
from egm.play.records.residual_terms import ResidualTerms
from egm.progressive.keys import ProgressiveKey
from egm.record_codec import from_json
from meters import StoredEntry
from meters.ledger import Ledger
from meters.transaction import Phase
from tools.audit.plain_games import CASHABLE_ACCOUNT, PlainRun
from tools.audit.rules import RULES_BY_KIND, AuditRule, Facts, PatternMismatch, group_by_kind, list_rules
from tools.audit.rules.facts import read_position
from tools.audit.rules.pattern import format_storage_key
from tools.audit.rules.reasons import is_game_disabled_by_host
from tools.audit.rules.rule import DeclarationMismatch
from tools.audit.rules.states import derive_machine_state, derive_machine_state_in_game

#: The finding about an entry of a kind that no feature declares.
UNDECLARED_KIND_ERROR: Final = "no feature of the machine declares this kind of entry"
#: The most transfers that a finding names.
_TRANSFERS_SHOWN_MAX: Final = 4
#: Kinds of entries that the journal itself writes; they never name a position.
_KINDS_WRITTEN_BY_JOURNAL: Final = frozenset(
    {MACHINE_GENESIS.kind, CHECKPOINT_SIGNED.kind, MEMORY_EVENT_RECORDED.kind}
)
#: Kinds of entries that need not name a position.
_KINDS_WITHOUT_POSITION: Final = _KINDS_WRITTEN_BY_JOURNAL | {
    CLOCK_CHANGED.kind,
    LARGEST_PRIZES_COMPUTED.kind,
}
#: Kinds of entries that pay out credit.
_CASH_OUT_KINDS: Final = frozenset(
    declaration.kind
    for declaration in (
        entries.TICKET_CASH_OUT_REQUESTED,
        entries.COIN_CASH_OUT_REQUESTED,
        entries.HANDPAY_PENDING,
    )
)
#: The kind of the entry by which a position records the terms of residual credit.
_RESIDUAL_TERMS_KIND: Final = RESIDUAL_CREDIT_TERMS.kind
_POWER_UP_KIND: Final = POWER_UP.kind
#: Accounts of credit that a plain game (:mod:`tools.audit.plain_games`) does not use.
_PROMOTIONAL_ACCOUNTS: Final = ("credit:1:restricted", "credit:1:nonrestricted")
#: Keys of the memory under which nothing may be stored while plain games are played.
_STORAGE_KEYS_EMPTY_IN_PLAIN_GAMES: Final = (
    *(PlayKey.GAME, PlayKey.SESSION, PlayKey.REMINDER, MoneyKey.HANDPAY, MoneyKey.PAY_OUT),
    *(
        ProgressiveKey.GAME_AWAITING_AWARD,
        ProgressiveKey.GAME_ENDED_UNDECIDED,
        ClosingKey.TABLES_CLOSING_TIME,
    ),
)
#: The finding about an entry of the other style: from one start of the machine to the next, either every entry
#: names its player position (a machine with several positions), or none does (a machine with one).
_POSITION_STYLE_FINDING: Final = (
    "dims.position: since the last power-up, either all entries name their position or none does; "
    "this entry differs"
)


def _format_moved_money(entry: StoredEntry) -> str:
    """Return an entry's first transfers as text for the message of a finding, or "" if it moves no money."""
    transfer_texts = (
        f"{t.amount_cents} cents from {t.source} to {t.target}"
        for t in entry.transfers[:_TRANSFERS_SHOWN_MAX]
    )
    return f" (the entry moves {', '.join(transfer_texts)})" if entry.transfers else ""


class EntryRulesAudit:
    """Checks every journal entry against the audit rules for its kind.

    ``report_finding`` is called for each entry that fits no rule. ``features`` are the features of the machine
    that wrote the journal; ``added_rules`` are rules for entries of operator-supplied features.
    """

    def __init__(
        self,
        report_finding: Callable[[StoredEntry, str], None],
        features: Features = FEATURES,
        added_rules: Iterable[AuditRule] = (),
    ) -> None:
        self._report_finding = report_finding
        has_additions = features is not FEATURES or bool(added_rules)
        self.rules = (
            group_by_kind(list_rules(features.entry_declarations, added_rules))
            if has_additions
            else RULES_BY_KIND
        )
        self.facts = Facts(features.storage_keys)
        self._entries_of_other_style: list[StoredEntry] = []
        """Entries that name a player position although the entries before them name none, or the reverse.

        They move no money. They are allowed only if the next power-up entry has the new form too.
        """
        self._entries_without_terms: list[StoredEntry] = []
        """Entries of player positions that have not recorded yet how they treat credit below the smallest stake."""

    def check_entry(self, entry: StoredEntry, ledger: Ledger) -> None:
        """Check one journal entry against the rules; ``ledger`` has the balances and stored values before the entry."""
        self._check_position(entry, ledger)
        self._check_conversion(entry)
        # If no rule allows the entry, report why the most similar one does not: same phase first, then declaration.
        finding, similarity = "", -1
        for rule in self.rules.get(entry.kind, ()):
            try:
                rule.check(entry, ledger, self.facts)
            except PatternMismatch as mismatch:
                is_declared = not isinstance(mismatch, DeclarationMismatch)
                rule_similarity = 2 * (rule.entry_declaration.phase is entry.phase) + is_declared
                if rule_similarity > similarity:
                    finding, similarity = str(mismatch), rule_similarity
                continue
            except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
                finding = finding or f"the entry cannot be compared with its rule: {error!r}"
                continue
            break
        else:
            finding = finding or UNDECLARED_KIND_ERROR
            self._report_finding(entry, f"{entry.kind}: {finding}{_format_moved_money(entry)}")
        self.facts.update(entry)

    def is_plain_run_allowed(self, run: PlainRun, ledger: Ledger) -> bool:
        """Return whether the rules allow a run of plain games at this point of the journal.

        A plain game has only ordinary entries (:mod:`tools.audit.plain_games`); a sequence of them is checked as a
        whole. ``ledger`` is the ledger before the sequence. Required:

        * The machine is idle; it has one position, no player session and no conversion of credit in progress.
        * It holds only cashable credit, and exactly the amount that the first game states.
        * No game of the sequence is disabled by a host, and no stake is below the smallest useful amount (less than
          that is residual credit).

        Plain games change none of this except the credit, which the entries of the sequence prove. So it is checked
        once. Raises an error if a stored value cannot be read.
        """
        facts, memory = self.facts, ledger.state
        inflows_cents, outflows_cents = ledger.inflows_cents, ledger.outflows_cents
        if (
            facts.entries_name_position is not False
            or facts.has_player_session
            or facts.positions_with_conversion
            or self._entries_of_other_style
        ):
            return False
        if any(key in memory for key in _STORAGE_KEYS_EMPTY_IN_PLAIN_GAMES):
            return False
        stored_terms = memory.get(PlayKey.RESIDUAL_CREDIT_TERMS)
        smallest_useful_cents = (
            0
            if stored_terms is None
            else from_json(ResidualTerms, stored_terms, PlayKey.RESIDUAL_CREDIT_TERMS).smallest_useful_cents
        )
        return (
            run.journal_tag == facts.journal_tag
            and facts.changed_table_games.isdisjoint(run.games_played)
            and not any(is_game_disabled_by_host(game, memory) for game in run.game_ids)
            and all(
                inflows_cents.get(name, 0) == outflows_cents.get(name, 0) for name in _PROMOTIONAL_ACCOUNTS
            )
            and ledger.available_cents(CASHABLE_ACCOUNT) == run.credit_before_cents
            and run.smallest_stake_cents >= smallest_useful_cents
            and derive_machine_state(ledger, 1, facts) is State.IDLE
            and derive_machine_state_in_game(ledger, facts) is State.PLAYING
        )

    def add_plain_run(self, run: PlainRun) -> None:
        """Update the facts for later checks, as if each entry of a run of plain games had been checked.

        Plain games are ordinary games whose entries are checked together.
        """
        facts = self.facts
        if run.parse_stored_tables():
            facts.cached_machine_states.clear()
        facts.has_player_session = False
        facts.record_stake(run.smallest_stake_cents)
        facts.games_played |= run.games_played
        facts.last_money_entry_kinds[1] = run.last_money_entry_kind
        facts.last_idle_times[1] = facts.last_game_start_times[1] = run.last_start_utc

    def _check_position(self, entry: StoredEntry, ledger: Ledger) -> None:
        """Check the player position that a journal entry names.

        The machine must have it. Since the last power-up, either all entries name a position or none does.
        """
        dims = entry.transaction.dims
        has_position = "position" in dims
        position = dims.get("position", 1)
        if has_position and entry.kind in _KINDS_WRITTEN_BY_JOURNAL:
            self._report_finding(
                entry, "dims.position: an entry that the journal itself writes must name no position"
            )
        elif type(position) is not int or not 1 <= position <= POSITIONS_MAX:
            self._report_finding(entry, f"dims.position: expected 1 to {POSITIONS_MAX}, found {position!r}")
        else:
            self._collect_entries_without_residual_terms(entry, ledger, position)
        if entry.kind in _KINDS_WITHOUT_POSITION:
            return
        if self.facts.entries_name_position is None:
            self.facts.entries_name_position = has_position
        elif entry.kind == _POWER_UP_KIND:
            if has_position is self.facts.entries_name_position:
                self._report_entries_of_other_style()
            self._entries_of_other_style.clear()
        elif has_position is self.facts.entries_name_position:
            self._report_entries_of_other_style()
        elif entry.transfers or entry.counts:
            self._report_finding(entry, _POSITION_STYLE_FINDING)
        else:  # not yet a finding: if a power-up follows, this entry belongs to that start, with other positions
            self._entries_of_other_style.append(entry)

    def _check_conversion(self, entry: StoredEntry) -> None:
        """Check that a cash-out follows immediately after nonrestricted credit is converted to cashable credit."""
        moves_money = entry.transfers or entry.phase is not Phase.POST
        if (
            moves_money
            and read_position(entry) in self.facts.positions_with_conversion
            and entry.kind not in _CASH_OUT_KINDS
        ):
            self._report_finding(
                entry,
                "nonrestricted credit was converted just before this entry; a cash-out must follow immediately",
            )

    def _report_entries_of_other_style(self) -> None:
        """Report a finding for each entry in ``_entries_of_other_style``, and clear the list."""
        for entry in self._entries_of_other_style:
            self._report_finding(entry, _POSITION_STYLE_FINDING)
        self._entries_of_other_style.clear()

    def _collect_entries_without_residual_terms(
        self, entry: StoredEntry, ledger: Ledger, position: int
    ) -> None:
        """Store an entry if its player position has not recorded its terms for residual credit yet.

        Residual credit is credit that is less than the smallest stake. :meth:`close` reports the stored
        entries, unless the position records its terms later. Position 1 is not checked: every machine has it.
        """
        has_terms = PlayKey.RESIDUAL_CREDIT_TERMS in ledger.state
        has_boot_count = IntegrityKey.BOOT_COUNT in ledger.state
        if entry.kind == _RESIDUAL_TERMS_KIND:
            self._entries_without_terms = [
                stored_entry
                for stored_entry in self._entries_without_terms
                if read_position(stored_entry) != position
            ]
        elif (
            entry.kind == _POWER_UP_KIND
            and not has_terms
            and PlayKey.RESIDUAL_CREDIT_TERMS not in entry.state
        ):
            self._entries_without_terms.clear()  # written by an earlier version, which recorded no terms
        elif (
            position > 1
            and (has_terms or not has_boot_count)
            and format_storage_key(PlayKey.RESIDUAL_CREDIT_TERMS, position) not in ledger.state
        ):
            self._entries_without_terms.append(entry)

    def close(self, ledger: Ledger) -> None:
        """At the end of the journal, report entries of positions that never recorded their terms for residual credit.

        ``ledger`` is the ledger at the end of the journal.
        """
        if PlayKey.RESIDUAL_CREDIT_TERMS in ledger.state:
            for entry in self._entries_without_terms:
                self._report_finding(
                    entry,
                    f"dims.position: position {read_position(entry)} never recorded its residual credit terms, "
                    "so the machine has no such position",
                )
        self._entries_without_terms.clear()
