"""Transfers for changes of a progressive level: movements of whole minor units between the level's accounts.

The accounts ``pool:<level>:current``, ``:hidden`` and ``:overflow`` contain the whole units of the level's
amounts, and the stored level contains the exact amounts with their fractions. Both are written in one
transaction. :func:`check_pool_balances` verifies that each account is the integer part of its amount.
"""

from collections.abc import Callable
from fractions import Fraction
from typing import Final

from egm.progressive.level import Level, LevelDefectiveError
from meters import Transfer

_ZERO_AMOUNT: Final = Fraction(0)
#: The parts of a level in which money is held, each with an account of its own.
_POOL_PARTS_HOLDING_MONEY: Final = ("current", "hidden", "overflow")


def build_opening_transfers(pool: str, level: Level) -> tuple[Transfer, ...]:
    """Return the transfers that pay the base of a new progressive level into its account."""
    return (Transfer(f"pool:{pool}:startup", f"pool:{pool}:current", level.seeded_cents),)


def build_change_transfers(pool: str, level_before: Level, level_after: Level) -> tuple[Transfer, ...]:
    """Return the transfers for one change of a progressive level: a contribution, a hit, or a reversed hit.

    Accounts hold whole minor units; fractions are only in the stored level. When they add up to a whole unit, it is
    transferred from ``contributed``.
    """
    flows = (
        ("current", "won", level_after.paid_cents - level_before.paid_cents),
        ("startup", "current", level_after.seeded_cents - level_before.seeded_cents),
        ("contributed", "hidden", max(0, _count_full_cents_gained(level_before.hidden, level_after.hidden))),
        ("hidden", "current", max(0, -_count_full_cents_gained(level_before.hidden, level_after.hidden))),
        ("current", "overflow", _count_full_cents_gained(level_before.overflow, level_after.overflow)),
    )
    posted_cents = sum(cents for _, target, cents in flows if target == "current")
    posted_cents -= sum(cents for source, _, cents in flows if source == "current")
    carry = _count_full_cents_gained(level_before.current, level_after.current) - posted_cents
    return tuple(
        Transfer(f"pool:{pool}:{a}", f"pool:{pool}:{b}", cents)
        for a, b, cents in (
            (source, target, cents) if cents > 0 else (target, source, -cents)
            for source, target, cents in (*flows, ("contributed", "current", carry))
        )
        if cents
    )


def build_moving_transfers(
    source_pool_and_level: tuple[str, Level], target_pool_and_levels: tuple[str, Level, Level]
) -> tuple[Transfer, ...]:
    """Return the transfers that move everything in one progressive level to another level.

    ``source_pool_and_level`` is the level's pool id and state before. ``target_pool_and_levels`` is the pool
    id, the state before and the state after. Whole units are moved. If the fractions then add up to a whole
    unit in the target, it is transferred from the target's account ``contributed``.
    """
    source_pool, source_level = source_pool_and_level
    target_pool, level_before, level_after = target_pool_and_levels
    target_account = f"pool:{target_pool}:current"
    flows = [
        (
            f"pool:{source_pool}:{name}",
            target_account,
            _count_full_cents_gained(_ZERO_AMOUNT, getattr(source_level, name)),
        )
        for name in _POOL_PARTS_HOLDING_MONEY
    ]
    overflow_gain_cents = _count_full_cents_gained(level_before.overflow, level_after.overflow)
    carry = (
        _count_full_cents_gained(level_before.current, level_after.current)
        + overflow_gain_cents
        - sum(cents for _, _, cents in flows)
    )
    flows += [
        (f"pool:{target_pool}:contributed", target_account, carry),
        (target_account, f"pool:{target_pool}:overflow", overflow_gain_cents),
    ]
    return tuple(Transfer(a, b, cents) for a, b, cents in flows if cents)


def check_pool_balances(pool: str, level: Level, balance_cents: Callable[[str], int]) -> None:
    """Raise LevelDefectiveError unless each account of a level equals the whole units of the level's exact amount.

    ``balance_cents`` returns the balance of an account. The sums of the level itself are checked too. The error
    states the figures.
    """
    level.check_sums()
    for name in _POOL_PARTS_HOLDING_MONEY:
        exact: Fraction = getattr(level, name)
        held_cents = balance_cents(f"pool:{pool}:{name}")
        if held_cents != exact.numerator // exact.denominator:
            raise LevelDefectiveError(
                f"level {pool}: expected {exact} cents in account pool:{pool}:{name}, rounded down; found {held_cents}"
            )
    won_cents = balance_cents(f"pool:{pool}:won")
    if won_cents != level.paid_cents:
        raise LevelDefectiveError(
            f"level {pool}: expected {level.paid_cents} cents in account pool:{pool}:won, found {won_cents}"
        )


def _count_full_cents_gained(amount_before: Fraction, amount_after: Fraction) -> int:
    """Return by how many whole units an amount has grown from ``amount_before`` to ``amount_after``."""
    return (
        amount_after.numerator // amount_after.denominator
        - amount_before.numerator // amount_before.denominator
    )
