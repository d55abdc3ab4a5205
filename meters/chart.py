"""The chart of accounts: every source and sink of value, its book, and its role in the self-audit.

There are seven books, and value never flows between them. LIVE is the money of player and operator. STOCK is
the physical location of coins and bills. POOL is the money in progressive levels. PRIZES are merchandise
prizes at their stated value, and TOURNAMENT is points: neither is money. FEES are the entry fees that
participants of a tournament pay to an attendant, and the prizes that staff hand over: money that never enters
the machine. KENO is the money of a venue's Keno office, which has its own journal. Each book sums to zero,
because value only flows between accounts of the same book.
"""

import re
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from typing import Final

from meters.errors import ForbiddenTransfer, UnknownAccount


class AccountBook(StrEnum):
    """The books of the ledger. The accounts of one book always add up to zero."""

    LIVE = "live"
    """Money of the player and of the operator."""
    STOCK = "stock"
    """Where coins and bills are."""
    POOL = "pool"
    """The money in progressive levels."""
    PRIZES = "prizes"
    """Merchandise prizes at their stated value."""
    TOURNAMENT = "tournament"
    """Points of tournaments."""
    FEES = "fees"
    """Entry fees and prizes of tournaments, handled by staff."""
    KENO = "keno"
    """Money of a Keno office."""


class AccountRole(StrEnum):
    """The role of an account in the self-audit's equation: credits = total in + wins - wagers - total out."""

    CREDIT = "credit"
    """An account with a player's credit, in money or points."""
    IN = "in"
    """An account from which value comes into the machine, such as bills or tickets."""
    WIN = "win"
    """An account from which players receive wins, returned stakes or bonus awards."""
    WAGER = "wager"
    """An account to which players' wagers and forfeited credit flow."""
    OUT = "out"
    """An account to which value leaves the machine, such as issued vouchers, coins or hand-pays."""
    STORE = "store"
    """An account of a book without players: it stores value, which flows both in and out."""


@dataclass(frozen=True, slots=True)
class Account:
    """One line of the chart of accounts, for all accounts whose names match its pattern."""

    pattern: str
    """The pattern of the account names; ``<...>`` stands for one word of ``[A-Za-z0-9_.-]``."""
    role: AccountRole
    """The role of the accounts in the self-audit's equation."""
    meaning: str
    """What the accounts hold, as text for the documentation."""
    book: AccountBook = AccountBook.LIVE
    """The book of the ledger that contains the accounts."""

    @property
    def can_be_debited(self) -> bool:
        """Return whether value may flow out of the account."""
        return self.role in {AccountRole.CREDIT, AccountRole.IN, AccountRole.WIN, AccountRole.STORE}

    @property
    def can_be_credited(self) -> bool:
        """Return whether value may flow into the account."""
        return self.role in {AccountRole.CREDIT, AccountRole.WAGER, AccountRole.OUT, AccountRole.STORE}

    @property
    def is_never_negative(self) -> bool:
        """Return whether the account's balance must never be negative, as for a player's credit in money or points."""
        return self.role is AccountRole.CREDIT


#: Kinds of player's credit, as in voucher and transfer accounts.
CREDIT_KINDS: Final = ("cashable", "restricted", "nonrestricted")

#: The chart of accounts.
ACCOUNTS: Final[tuple[Account, ...]] = (
    Account("credit:<position>:cashable", AccountRole.CREDIT, "the player's money on the credit meter"),
    Account("credit:<position>:restricted", AccountRole.CREDIT, "promotional credit that can only be played"),
    Account(
        "credit:<position>:nonrestricted", AccountRole.CREDIT, "promotional credit that can be cashed out"
    ),
    Account("world:bill", AccountRole.IN, "bills stacked in the cash box"),
    Account("world:coin", AccountRole.IN, "coins and tokens accepted"),
    Account("world:voucher_in:<kind>", AccountRole.IN, "vouchers redeemed"),
    Account("world:aft_in:<kind>", AccountRole.IN, "AFT transfers to the machine"),
    Account("house:carried_over", AccountRole.IN, "money that a cleared journal still owed to players"),
    Account("house:win", AccountRole.WIN, "wins paid by the machine to the credit meter"),
    Account("house:push", AccountRole.WIN, "stakes returned: pushes, halves, bets taken down from a table"),
    Account("house:double_up_win", AccountRole.WIN, "wins of the double-up"),
    Account(
        "house:attendant_jackpot", AccountRole.WIN, "wins that the machine cannot pay itself, paid by hand"
    ),
    Account("house:progressive:<level>", AccountRole.WIN, "progressive wins of a level"),
    Account("house:bonus", AccountRole.WIN, "awards of an external bonus system"),
    Account("house:residual_win", AccountRole.WIN, "wins of residual credit that was played"),
    Account(
        "house:refund_defect", AccountRole.WIN, "wagers returned after a defect that the player did not cause"
    ),
    Account(
        "house:complement",
        AccountRole.WIN,
        "complements of payment, paid by hand and listed in their own register",
    ),
    Account(
        "house:disputed",
        AccountRole.WIN,
        "disputed amounts, as staff ruled on them, listed in their own register",
    ),
    Account("house:wager", AccountRole.WAGER, "all wagers (coin-in)"),
    Account(
        "house:double_up_bet",
        AccountRole.WAGER,
        "winnings staked again in the double-up, which are not coin-in",
    ),
    Account("house:residual", AccountRole.WAGER, "residual credit given up or played, which is not coin-in"),
    Account("house:forfeit", AccountRole.WAGER, "credits forfeited by a player who disrupted the machine"),
    Account(
        "house:time_charge",
        AccountRole.WAGER,
        "charges for the time played at a poker table, which are not coin-in",
    ),
    Account("house:orphan", AccountRole.OUT, "credit found without an owner, listed in its own register"),
    Account("house:expired", AccountRole.OUT, "expired promotional credit"),
    Account("out:handpay_cancelled_credit", AccountRole.OUT, "cancelled credit paid by an attendant"),
    Account("out:handpay_jackpot", AccountRole.OUT, "jackpots paid by an attendant"),
    Account("out:handpay_progressive", AccountRole.OUT, "progressive wins paid by an attendant"),
    Account("out:handpay_bonus", AccountRole.OUT, "external bonus awards paid by an attendant"),
    Account("out:handpay_complement", AccountRole.OUT, "complements of payment paid by an attendant"),
    Account("out:handpay_disputed", AccountRole.OUT, "disputed amounts paid by an attendant"),
    Account("out:voucher:<kind>", AccountRole.OUT, "vouchers issued"),
    Account("out:hopper", AccountRole.OUT, "coins paid by the hopper"),
    Account("out:aft_out:<kind>", AccountRole.OUT, "AFT transfers to the host"),
    Account("stock:floor", AccountRole.STORE, "coins and bills outside the cabinet", AccountBook.STOCK),
    Account("stock:hopper", AccountRole.STORE, "coins in the hopper", AccountBook.STOCK),
    Account("stock:coin_box", AccountRole.STORE, "coins diverted to the drop box", AccountBook.STOCK),
    Account("stock:fill", AccountRole.STORE, "coins put into the hopper by attendants", AccountBook.STOCK),
    Account(
        "pool:<level>:startup", AccountRole.STORE, "operator funding of the level at resets", AccountBook.POOL
    ),
    Account(
        "pool:<level>:contributed",
        AccountRole.STORE,
        "contributions of wagers to the level",
        AccountBook.POOL,
    ),
    Account(
        "pool:<level>:carried",
        AccountRole.STORE,
        "amount of the level carried over from a cleared journal",
        AccountBook.POOL,
    ),
    Account("pool:<level>:current", AccountRole.STORE, "amount that the level shows", AccountBook.POOL),
    Account(
        "pool:<level>:overflow",
        AccountRole.STORE,
        "contributions above the level's ceiling",
        AccountBook.POOL,
    ),
    Account(
        "pool:<level>:hidden",
        AccountRole.STORE,
        "secondary pool, which is added at the next reset",
        AccountBook.POOL,
    ),
    Account(
        "pool:<level>:won", AccountRole.STORE, "amounts of the level that players have hit", AccountBook.POOL
    ),
    Account(
        "prizes:<prize>:offered",
        AccountRole.STORE,
        "prizes in kind that the operator offers",
        AccountBook.PRIZES,
    ),
    Account(
        "prizes:<prize>:given", AccountRole.STORE, "prizes in kind handed to players", AccountBook.PRIZES
    ),
    Account(
        "prizes:<prize>:unclaimed",
        AccountRole.STORE,
        "prizes in kind that nobody has claimed",
        AccountBook.PRIZES,
    ),
    Account(
        "tournament:points:<position>",
        AccountRole.CREDIT,
        "points available for play in a round",
        AccountBook.TOURNAMENT,
    ),
    Account(
        "tournament:won:<position>",
        AccountRole.CREDIT,
        "points won in a round, which count for the result",
        AccountBook.TOURNAMENT,
    ),
    Account(
        "tournament:entry", AccountRole.IN, "points issued at the start of a round", AccountBook.TOURNAMENT
    ),
    Account("tournament:win", AccountRole.WIN, "points won in games of a round", AccountBook.TOURNAMENT),
    Account("tournament:push", AccountRole.WIN, "points of returned stakes", AccountBook.TOURNAMENT),
    Account("tournament:wager", AccountRole.WAGER, "points wagered", AccountBook.TOURNAMENT),
    Account(
        "tournament:closed", AccountRole.OUT, "points removed at the end of a round", AccountBook.TOURNAMENT
    ),
    Account(
        "fees:participants", AccountRole.STORE, "entry fees, as paid by the participants", AccountBook.FEES
    ),
    Account("fees:sold", AccountRole.STORE, "entry fees received at the venue's desk", AccountBook.FEES),
    Account("fees:prizes", AccountRole.STORE, "tournament prizes handed over by staff", AccountBook.FEES),
    Account(
        "keno:desk",
        AccountRole.STORE,
        "money taken and paid at the desk of the Keno office",
        AccountBook.KENO,
    ),
    Account("keno:staked", AccountRole.STORE, "stakes of Keno draws to come", AccountBook.KENO),
    Account(
        "keno:owed", AccountRole.STORE, "Keno prizes and returned stakes not yet claimed", AccountBook.KENO
    ),
    Account("keno:house", AccountRole.STORE, "Keno stakes kept, less prizes", AccountBook.KENO),
)


def compile_account_pattern(pattern: str) -> re.Pattern[str]:
    """Return the regular expression for an account name pattern: ``<...>`` is a named word, ``*`` any text."""
    named_pattern = re.sub(r"<(\w+)>", r"(?P<\1>[A-Za-z0-9_.-]+)", pattern)
    return re.compile(named_pattern.replace("*", ".*"))


#: The pattern of each account of the chart, with the account.
_ACCOUNT_PATTERNS: Final = tuple((compile_account_pattern(a.pattern), a) for a in ACCOUNTS)


@lru_cache(maxsize=4096)
def find_account(name: str) -> Account:
    """Return the chart's account whose pattern matches the name. Raises :class:`UnknownAccount` if none does."""
    for pattern, account in _ACCOUNT_PATTERNS:
        match = pattern.fullmatch(name)
        if match and match.groupdict().get("kind", CREDIT_KINDS[0]) in CREDIT_KINDS:
            return account
    raise UnknownAccount(f"account {name!r} is not in the chart of accounts (meters/chart.py)")


@lru_cache(maxsize=4096)
def check_flow(source: str, target: str) -> None:
    """Raise :class:`ForbiddenTransfer` unless the chart allows value to flow from ``source`` to ``target``."""
    source_account, target_account = find_account(source), find_account(target)
    if not source_account.can_be_debited:
        raise ForbiddenTransfer(
            f"{source} -> {target}: value may only flow into {source} ({source_account.meaning})"
        )
    if not target_account.can_be_credited:
        raise ForbiddenTransfer(
            f"{source} -> {target}: value may only flow out of {target} ({target_account.meaning})"
        )
    if source_account.book is not target_account.book:
        raise ForbiddenTransfer(
            f"{source} -> {target}: value never flows from the {source_account.book} book to the"
            f" {target_account.book} book"
        )


@lru_cache(maxsize=4096)
def parse_account_variables(name: str) -> dict[str, str]:
    """Return the words of an account name that stand for ``<...>`` in its pattern, such as the position, by name."""
    match = compile_account_pattern(find_account(name).pattern).fullmatch(name)
    return match.groupdict() if match else {}
