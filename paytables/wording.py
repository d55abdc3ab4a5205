"""How figures are said, wherever people read one: returns rounded down, things counted."""

from fractions import Fraction

__all__ = ["counted", "percent"]


def percent(share: Fraction, digits: int = 2) -> str:
    """A share in percent with ``digits`` (at least 1) decimals, rounded down: 0.873778 is ``87.37``.

    The one rule of screens, commands, sheets and messages, by whole numbers only.
    """
    scale = 10**digits
    units = share * 100 * scale // 1
    whole, part = divmod(abs(units), scale)
    return f"{'-' if units < 0 else ''}{whole}.{part:0{digits}d}"


def counted(count: int, noun: str, many: str = "") -> str:
    """So many things in English: ``1 credit``, ``2,000 credits``; ``many`` is a plural not made with an s.

    The screen counts in its own languages (:meth:`egm.screen.text.Texts.counted`).
    """
    return f"{count:,} {noun if count == 1 else many or noun + 's'}"
