"""How figures and names are said wherever people read one: rounded down, counted, the ones that are meant."""

import difflib
from collections.abc import Iterable
from fractions import Fraction
from typing import Final

__all__ = ["among", "counted", "nearest", "percent"]

#: Of more names than these, those that are near a wrong one are told alone.
_LISTED: Final = 24


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


def nearest(word: str, known: Iterable[str], most: int = 3) -> tuple[str, ...]:
    """The known words that ``word`` was probably meant to be, likeliest first: alike, or with it inside."""
    known = [*known]
    found = difflib.get_close_matches(word.lower(), known, most)
    return tuple(found or [name for name in known if len(word) > 1 and word.lower() in name][:most])


def among(word: str, known: Iterable[str]) -> str:
    """What to say of a name that is none: which there are, and which was probably meant."""
    known = [*known]
    *others, last = nearest(word, known) or ("",)
    meant = f"did you mean {', '.join(others) + ' or ' if others else ''}{last}?" if last else ""
    if meant and len(known) > _LISTED:
        return meant
    listed = f"there are: {', '.join(known) or 'none'}"
    return f"{listed}; {meant}" if meant else listed
