"""Formatting of figures for PAR sheets: exact fractions with their decimals, percentages, and "1 in n"."""

from fractions import Fraction
from math import log10
from typing import Any

from paytables import BetAnalysis
from paytables.wording import format_percent as format_percent_number


def format_percent(value: Fraction, digits: int = 4) -> str:
    """Return an exact share as a percentage, rounded down, as returns always are."""
    return f"{format_percent_number(value, digits)} %"


def format_one_in(probability: Fraction | None) -> str:
    """Return a probability as ``1 in n``, also for an ``n`` too large for a float; "never" for 0, a dash for None."""
    if probability is None:
        return "-"
    if not probability:
        return "never"
    n = 1 / probability
    if n < 10**15:
        return f"1 in {float(n):,.2f}"
    digits = str(n.numerator // n.denominator)
    return f"1 in {digits[0]}.{digits[1:3]}e{len(digits) - 1}"


def to_decimal(value: Fraction) -> float | None:
    """Return the fraction as a float, or None if it is out of a float's range."""
    if not value:
        return 0.0
    decimal_exponent = log10(abs(value.numerator)) - log10(value.denominator)
    return float(value) if abs(decimal_exponent) < 300 else None


def list_notes(bet: BetAnalysis) -> tuple[str, ...]:
    """Return the notes on a bet: those of its analysis, and those that follow from its figures."""
    notes = list(bet.notes)
    if bet.prizes_with_multipliers:
        notes.append(
            "the credits of a prize are those of a win without a multiplier; its mean credits and its return"
            " count wins as they are paid, with the multipliers of symbols, free games, cascades, respins and bonuses"
        )
    if bet.mean_raise_credits:
        notes.append(
            f"a round adds {float(bet.mean_raise_credits):.4f} credits to the bet on average (doubles, splits,"
            " raises): every win on this sheet, including the highest, is the amount returned minus the amount added"
        )
    return tuple(notes)


def to_exact_data(value: Fraction | None) -> dict[str, Any] | None:
    """Return an exact figure as JSON data; None gives None."""
    return None if value is None else {"exact": str(value), "decimal": to_decimal(value)}
