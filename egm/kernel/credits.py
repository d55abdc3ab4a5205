"""Credit kinds on the meter, and which of them a wager, a payment and a refund touch.

A wager takes restricted credit first, then nonrestricted, then the player's own: what can only be played is
played first, so that no promotion costs the player money he could have kept. That order, and that a win is
always cashable whatever it was wagered from, is the common practice of promotional credit on slot floors;
none of the regulations read for this machine says otherwise, and none says it in words.

Nonrestricted credit becomes cashable when the player cashes out: a ticket or a hand-pay knows no such kind
(tickets out are cashable or restricted, and nonrestricted tickets are metered with the cashable ones).
Restricted credit is never money. It is played, leaves on a restricted ticket or to the host that gave it, or
expires.
"""

from collections.abc import Callable, Iterable
from enum import StrEnum
from typing import Final

from egm.errors import InvariantError
from egm.kernel.positions import Position
from meters import Transfer


class CreditKind(StrEnum):
    """The kinds of the chart of accounts, in the order a wager takes them."""

    RESTRICTED = "restricted"
    """Promotional credit that can only be played."""
    NONRESTRICTED = "nonrestricted"
    """Promotional credit that can be cashed out."""
    CASHABLE = "cashable"
    """The player's money."""


#: What the player may have in his hand.
MONEY: Final = (CreditKind.CASHABLE, CreditKind.NONRESTRICTED)


CREDIT: Final = Position().account(CreditKind.CASHABLE)
"""The account of the player's own money at the first position."""


def taken(
    amount_cents: int,
    target: str,
    available_cents: Callable[[str], int],
    kinds: Iterable[CreditKind] = CreditKind,
    position: Position = Position(),  # noqa: B008 (a value, and frozen)
) -> tuple[Transfer, ...]:
    """``amount_cents`` (minor units) from the credits to ``target``, kind after kind, each as far as it goes.

    ``available_cents`` is the journal's. Raises :class:`InvariantError` when the kinds do not cover the
    amount: whoever asks has looked first.
    """
    transfers, rest_cents = [], amount_cents
    for kind in kinds:
        account = position.account(kind)
        part_cents = min(rest_cents, available_cents(account))
        if part_cents > 0:
            transfers.append(Transfer(account, target, part_cents))
            rest_cents -= part_cents
    if rest_cents:
        raise InvariantError(f"{amount_cents} cents to {target}: the credits are {rest_cents} cents short")
    return tuple(transfers)


def parted(
    staked: Iterable[tuple[str, int]], amounts_cents: Iterable[int], position: Position
) -> tuple[tuple[tuple[str, int], ...], ...]:
    """What was staked, by account, laid out to ``amounts_cents``, each filled in the order a wager takes.

    What is lost or won first, what stands next, what is given back last: promotional credit that was only
    moved about stays what it is, and is played before the player's own. Raises :class:`InvariantError` where
    the amounts are not what was staked.
    """
    left = {position.account(kind): 0 for kind in CreditKind}
    for account, cents in staked:
        left[account] = left.get(account, 0) + cents
    parts = []
    for amount_cents in amounts_cents:
        part, rest_cents = [], amount_cents
        for account, there_cents in list(left.items()):
            cents = min(there_cents, max(rest_cents, 0))
            left[account] -= cents
            rest_cents -= cents
            part += [(account, cents)] if cents else []
        if rest_cents:
            raise InvariantError(f"{amount_cents} cents of what was staked: {rest_cents} are not there")
        parts.append(tuple(part))
    if any(left.values()):
        raise InvariantError(f"{sum(left.values())} cents that were staked went nowhere")
    return tuple(parts)
