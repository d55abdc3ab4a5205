"""How a return is stated, wherever people read one: rounded down, so never higher than it is."""

from fractions import Fraction

__all__ = ["percent"]


def percent(share: Fraction, digits: int = 2) -> str:
    """A share in percent with ``digits`` (at least 1) decimals, rounded down: 0.873778 is ``87.37``.

    The one rule of screens, commands, sheets and messages, by whole numbers only.
    """
    scale = 10**digits
    units = share * 100 * scale // 1
    whole, part = divmod(abs(units), scale)
    return f"{'-' if units < 0 else ''}{whole}.{part:0{digits}d}"
