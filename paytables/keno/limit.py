"""The limit on the pay of one Keno draw: prizes are cut in proportion, and their sum is exactly the limit."""

from collections.abc import Sequence


def limit_prizes(prizes: Sequence[int], limit_credits: int | None) -> tuple[int, ...]:
    """Return what each Keno prize of a draw pays, if all prizes together may not exceed ``limit_credits``.

    The limit is divided in proportion to the prizes. Remaining whole credits go one each to the prizes with the
    largest remainders (the earlier prize first if they are equal), so the sum is exactly the limit. A machine applies
    this to one ticket; a Keno host applies it to all the tickets of a draw. Raises ValueError for a negative
    prize or limit.
    """
    if any(prize < 0 for prize in prizes) or (limit_credits is not None and limit_credits < 0):
        raise ValueError("prizes and limits are not negative")
    total = sum(prizes)
    if limit_credits is None or total <= limit_credits:
        return tuple(prizes)
    paid_prizes = [prize * limit_credits // total for prize in prizes]
    by_remainder = sorted(range(len(prizes)), key=lambda i: (-(prizes[i] * limit_credits % total), i))
    for i in by_remainder[: limit_credits - sum(paid_prizes)]:
        paid_prizes[i] += 1
    return tuple(paid_prizes)
