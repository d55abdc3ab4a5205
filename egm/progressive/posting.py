"""Transfers for changes of a progressive level: movements of whole minor units between the level's accounts.

The accounts of a level are named ``pool:<pool id>:<part>``:

- ``current``, ``hidden`` and ``overflow`` contain the whole units of the level's three amounts;
- ``startup`` is the operator, who pays in the base at the opening and what is missing at a reset;
- ``contributed`` is the source of the contributions from wagers;
- ``won`` receives the hits.

The stored level contains the exact amounts with their fractions. Both are written in one transaction.
:func:`check_pool_balances` verifies that the first three are the integer parts of their amounts, and that ``won``
equals the total paid.
"""

from collections.abc import Callable
from fractions import Fraction
from typing import Final

from egm.progressive.level import Level, LevelDefectiveError
from meters import Transfer

_ZERO_AMOUNT: Final = Fraction(0)


def _get_amount_by_account_part(level: Level) -> dict[str, Fraction]:
    """Return the exact amounts in which a level holds money, by the last part of the name of their account."""
    return {
        "current": level.current_amount,
        "hidden": level.hidden_amount,
        "overflow": level.overflow_amount,
    }


def build_opening_transfers(pool_id: str, level: Level) -> tuple[Transfer, ...]:
    """Return the transfers that pay the base of a new progressive level into its account."""
    return (Transfer(f"pool:{pool_id}:startup", f"pool:{pool_id}:current", level.seeded_cents),)


def build_change_transfers(pool_id: str, level_before: Level, level_after: Level) -> tuple[Transfer, ...]:
    """Return the transfers for one change of a progressive level: a contribution, a hit, or a reversed hit.

    Accounts hold whole minor units; fractions are only in the stored level. A contribution is transferred from
    ``contributed`` by as many whole units as the level's amount grows with its fraction.
    """
    flows = (
        ("current", "won", level_after.paid_cents - level_before.paid_cents),
        ("startup", "current", level_after.seeded_cents - level_before.seeded_cents),
        (
            "contributed",
            "hidden",
            max(0, _compute_whole_cents_gained(level_before.hidden_amount, level_after.hidden_amount)),
        ),
        (
            "hidden",
            "current",
            max(0, -_compute_whole_cents_gained(level_before.hidden_amount, level_after.hidden_amount)),
        ),
        (
            "current",
            "overflow",
            _compute_whole_cents_gained(level_before.overflow_amount, level_after.overflow_amount),
        ),
    )
    posted_cents = sum(cents for _, target, cents in flows if target == "current")
    posted_cents -= sum(cents for source, _, cents in flows if source == "current")
    contributed_whole_cents = (
        _compute_whole_cents_gained(level_before.current_amount, level_after.current_amount) - posted_cents
    )
    return tuple(
        Transfer(f"pool:{pool_id}:{source}", f"pool:{pool_id}:{target}", cents)
        for source, target, cents in (
            (source, target, cents) if cents > 0 else (target, source, -cents)
            for source, target, cents in (*flows, ("contributed", "current", contributed_whole_cents))
        )
        if cents
    )


def build_moving_transfers(
    source_pool_id: str,
    source_level: Level,
    target_pool_id: str,
    target_level_before: Level,
    target_level_after: Level,
) -> tuple[Transfer, ...]:
    """Return the transfers that move everything in one progressive level to another level.

    ``source_level`` is the level's state before. Whole units are moved. If the fractions then add up to a whole
    unit in the target, it is transferred from the target's account ``contributed``.
    """
    target_account = f"pool:{target_pool_id}:current"
    flows = [
        (
            f"pool:{source_pool_id}:{account_part}",
            target_account,
            _compute_whole_cents_gained(_ZERO_AMOUNT, amount),
        )
        for account_part, amount in _get_amount_by_account_part(source_level).items()
    ]
    overflow_gain_cents = _compute_whole_cents_gained(
        target_level_before.overflow_amount, target_level_after.overflow_amount
    )
    contributed_whole_cents = (
        _compute_whole_cents_gained(target_level_before.current_amount, target_level_after.current_amount)
        + overflow_gain_cents
        - sum(cents for _, _, cents in flows)
    )
    flows += [
        (f"pool:{target_pool_id}:contributed", target_account, contributed_whole_cents),
        (target_account, f"pool:{target_pool_id}:overflow", overflow_gain_cents),
    ]
    return tuple(Transfer(source, target, cents) for source, target, cents in flows if cents)


def check_pool_balances(pool_id: str, level: Level, balance_cents: Callable[[str], int]) -> None:
    """Raise LevelDefectiveError unless each account of a level agrees with the stored level.

    ``balance_cents`` returns the balance of an account. The sums of the level itself are checked too. The error
    states the figures.
    """
    level.check_sums()
    for account_part, exact_amount in _get_amount_by_account_part(level).items():
        account_cents = balance_cents(f"pool:{pool_id}:{account_part}")
        if account_cents != exact_amount.numerator // exact_amount.denominator:
            raise LevelDefectiveError(
                f"level {pool_id}: expected {exact_amount} cents in account pool:{pool_id}:{account_part}, rounded "
                f"down; found {account_cents}"
            )
    won_cents = balance_cents(f"pool:{pool_id}:won")
    if won_cents != level.paid_cents:
        raise LevelDefectiveError(
            f"level {pool_id}: expected {level.paid_cents} cents in account pool:{pool_id}:won, found {won_cents}"
        )


def _compute_whole_cents_gained(amount_before: Fraction, amount_after: Fraction) -> int:
    """Return by how many whole units an amount has grown from ``amount_before`` to ``amount_after``."""
    return (
        amount_after.numerator // amount_after.denominator
        - amount_before.numerator // amount_before.denominator
    )
