"""Credit kinds on the credit meter, and the order in which wagers, payments and refunds use them.

A wager takes restricted credit first, then nonrestricted, then the player's own: credit that can only be
played is played first, so that a promotion never costs the player money that could have been cashed out. This
order, and the rule that a win is always cashable whatever it was wagered from, is the common practice for
promotional credit on slot floors. The regulations read for this machine neither require nor forbid it.

Nonrestricted credit becomes cashable when the player cashes out, because the tickets that the machine prints for
credits are cashable or restricted, and a hand-pay is paid in cash. Restricted credit is never money. It is played,
leaves on a restricted ticket or to the host that gave it, or expires.
"""

from collections.abc import Callable, Iterable
from enum import StrEnum
from typing import Final

from egm.errors import InvariantError
from egm.kernel.positions import Position
from meters import Transfer


class CreditKind(StrEnum):
    """The kinds of credit on the credit meter, in the order in which a wager takes them."""

    RESTRICTED = "restricted"
    """Promotional credit that can only be played."""
    NONRESTRICTED = "nonrestricted"
    """Promotional credit that can be cashed out."""
    CASHABLE = "cashable"
    """Credit that is the player's own money: it can be played and cashed out."""


#: The credit kinds that the player can cash out.
CASH_OUT_CREDIT_KINDS: Final = (CreditKind.CASHABLE, CreditKind.NONRESTRICTED)


#: The account of the player's own money at the first position.
FIRST_POSITION_CASHABLE_ACCOUNT: Final = Position().name_credit_account(CreditKind.CASHABLE)


def build_credit_transfers(
    amount_cents: int,
    target: str,
    available_cents: Callable[[str], int],
    kinds: Iterable[CreditKind] = CreditKind,
    position: Position = Position(),  # noqa: B008 (a frozen value)
) -> tuple[Transfer, ...]:
    """Return the transfers that move ``amount_cents`` of a player's credits to the account ``target``.

    The kinds of credit are used one after the other, in the order of ``kinds``. ``available_cents`` returns the
    unreserved balance of an account. Raises :class:`InvariantError` if the kinds together do not cover the
    amount, so callers must check the balance first.
    """
    transfers, remaining_cents = [], amount_cents
    for kind in kinds:
        account = position.name_credit_account(kind)
        part_cents = min(remaining_cents, available_cents(account))
        if part_cents > 0:
            transfers.append(Transfer(account, target, part_cents))
            remaining_cents -= part_cents
    if remaining_cents:
        raise InvariantError(
            f"{amount_cents} cents cannot be moved to {target}: the credits are {remaining_cents} cents short"
        )
    return tuple(transfers)


def divide_stakes_among_amounts(
    stakes: Iterable[tuple[str, int]], amounts_cents: Iterable[int], position: Position
) -> tuple[tuple[tuple[str, int], ...], ...]:
    """Divide the credit staked in a round into the given amounts; return (account, minor units) pairs for each amount.

    The amounts are filled one after the other, each with the kinds of credit in the order in which a wager takes them.
    So the first amount gets the promotional credit first. The callers put the part of the stakes that is decided (lost
    or won) before the part that stays on the table and the refund: promotional credit is used up first, and what stays
    or is refunded keeps its kind. ``stakes`` has (account, minor units) pairs. Raises :class:`InvariantError` if the
    amounts do not add up to the stake.
    """
    unassigned_cents_by_account = {position.name_credit_account(kind): 0 for kind in CreditKind}
    for account, cents in stakes:
        unassigned_cents_by_account[account] = unassigned_cents_by_account.get(account, 0) + cents
    stakes_by_amount = []
    for amount_cents in amounts_cents:
        stakes_of_amount, remaining_cents = [], amount_cents
        for account, account_cents in list(unassigned_cents_by_account.items()):
            cents = min(account_cents, max(remaining_cents, 0))
            unassigned_cents_by_account[account] -= cents
            remaining_cents -= cents
            stakes_of_amount += [(account, cents)] if cents else []
        if remaining_cents:
            raise InvariantError(
                f"{amount_cents} cents cannot be taken from the stakes: {remaining_cents} cents are missing"
            )
        stakes_by_amount.append(tuple(stakes_of_amount))
    if any(unassigned_cents_by_account.values()):
        raise InvariantError(
            f"{sum(unassigned_cents_by_account.values())} cents of the stakes are assigned to no amount"
        )
    return tuple(stakes_by_amount)
