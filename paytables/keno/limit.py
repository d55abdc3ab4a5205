"""The limit on what one draw pays: the prizes are cut in proportion, and not a credit is lost or made up."""

from collections.abc import Sequence


def share_out(prizes: Sequence[int], limit: int | None) -> tuple[int, ...]:
    """Return what each prize is paid when all together may not pass ``limit``.

    The limit is shared in proportion to the prizes. Whole credits left over go one each to the prizes with
    the largest remainders, the earlier first where they are equal, so the sum is exactly the limit. A machine
    holds one ticket to its game's limit with this; a Keno host holds all the tickets of a draw to theirs.
    Raises ValueError for a negative prize or limit.
    """
    if any(prize < 0 for prize in prizes) or (limit is not None and limit < 0):
        raise ValueError("prizes and limits are not negative")
    total = sum(prizes)
    if limit is None or total <= limit:
        return tuple(prizes)
    paid = [prize * limit // total for prize in prizes]
    by_remainder = sorted(range(len(prizes)), key=lambda i: (-(prizes[i] * limit % total), i))
    for i in by_remainder[: limit - sum(paid)]:
        paid[i] += 1
    return tuple(paid)
