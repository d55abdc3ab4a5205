"""Finding pays or strip counts that give a game the return (and hit frequency) that is wanted.

Both searches work on the definition's own data and measure every candidate by the exact analysis, so what
they find is what the cabinet will play.
"""

import copy
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

from paytables import Depth, PaytableError, analyse, game_from

Path = tuple[str | int, ...]
#: A return this near to the wanted one is not refined further.
NEAR = Fraction(1, 2000)


class TuningError(Exception):
    """A key that is not there or is no pay, or a return that cannot be reached: says which."""


def parse_key(key: str) -> Path:
    """Return ``stage.base.pay.3.pays.5`` as the path to that value."""
    return tuple(int(part) if part.isdigit() else part for part in key.split("."))


def _part(here: Any, part: str | int) -> str | int:
    """Return the key of one step: a number into a list, a text into a table."""
    return int(part) if isinstance(here, list) else str(part)


def value_at(data: Mapping[str, Any], path: Path) -> Any:
    """Return the value at a path of the definition. Raises :class:`TuningError`."""
    here: Any = data
    for part in path:
        try:
            here = here[_part(here, part)]
        except (KeyError, IndexError, TypeError, ValueError):
            raise TuningError(f"{'.'.join(map(str, path))}: no {part!r} there") from None
    return here


def with_value(data: Mapping[str, Any], path: Path, value: Any) -> dict[str, Any]:
    """Return a copy of the definition with another value at the path."""
    whole = copy.deepcopy(dict(data))
    here: Any = whole
    for part in path[:-1]:
        here = here[_part(here, part)]
    here[_part(here, path[-1])] = value
    return whole


def pay_keys(data: Mapping[str, Any]) -> list[Path]:
    """Return the path of every pay in credits above zero, in the order of the definition."""
    found: list[Path] = []
    for name, stage in data.get("stage", {}).items():
        for n, pay in enumerate(stage.get("pay", [])):
            table: dict[Path, Any] = {("pays", c): v for c, v in pay.get("pays", {}).items()}
            if "pay" in pay:
                table["pay",] = pay["pay"]
            for key, value in table.items():
                base = ("stage", name, "pay", n, *key)
                if isinstance(value, list):
                    found += [(*base, i) for i, v in enumerate(value) if v]
                elif value:
                    found.append(base)
    for kind in ("table", "area"):  # of Keno, of wheels
        for n, entry in enumerate(data.get(kind, [])):
            found += [(kind, n, "pays", c) for c, value in entry.get("pays", {}).items() if value]
    return found


def rtp_of(data: Mapping[str, Any], bet: str | None = None) -> Fraction:
    """Return the exact return of a definition, of its lowest bet or of the one named."""
    bets = analyse(game_from(data, "tuned"), Depth.RETURN).bets
    rtp: Fraction = min(b.rtp for b in bets if bet in {None, b.bet})
    return rtp


def nice(value: Fraction) -> int:
    """Return a pay as a pay table would print it: at most two leading digits, the second 0 or 5 above 20."""
    number: int = max(1, round(value))
    if number <= 20:
        return number
    unit: int = 10 ** (len(str(number)) - 2)
    leading = (number + unit // 2) // unit
    return ((leading + 2) // 5 * 5 if leading > 20 else leading) * unit


def tune_pays(
    data: Mapping[str, Any], wanted: Fraction, keys: Sequence[Path], bet: str | None = None
) -> dict[str, Any]:
    """Return the definition with the pays at ``keys`` changed to bring its return near ``wanted``.

    All are first scaled together to round numbers, then moved one credit at a time where that still helps.
    The return is nearly linear in every pay, so the slope of each is measured once.
    """
    for key in keys:
        if not isinstance(value_at(data, key), int):
            raise TuningError(f"{'.'.join(map(str, key))}: is no pay")
    best = dict(data)
    for _ in range(6):
        now = rtp_of(best, bet)
        slopes = {k: rtp_of(with_value(best, k, value_at(best, k) + 1), bet) - now for k in keys}
        part = sum(slopes[k] * value_at(best, k) for k in keys)
        if part <= 0:
            raise TuningError("those pays do not change the return")
        factor = (wanted - now) / part + 1
        if factor <= 0:
            raise TuningError(
                f"no pay there is low enough: the rest alone returns more than {float(wanted):.4%}"
            )
        scaled = best
        for k in keys:
            scaled = with_value(scaled, k, nice(value_at(best, k) * factor))
        if scaled == best:
            break
        best = scaled
    return _refine(best, wanted, keys, bet)


def _refine(data: dict[str, Any], wanted: Fraction, keys: Sequence[Path], bet: str | None) -> dict[str, Any]:
    """Move single pays, the one that helps most first, until the return is near enough."""
    best, missing = data, wanted - rtp_of(data, bet)
    slopes = {k: rtp_of(with_value(best, k, value_at(best, k) + 1), bet) - rtp_of(best, bet) for k in keys}
    left = [k for k in keys if slopes[k] > 0]
    while left and abs(missing) > NEAR:

        def steps(key: Path, now: dict[str, Any] = best, need: Fraction = missing) -> int:
            limit = int(value_at(now, key)) // 5  # a pay keeps its place in the table
            return max(-limit, min(limit, round(need / slopes[key])))

        key = min(left, key=lambda k: (abs(missing - steps(k) * slopes[k]), k))
        left.remove(key)
        candidate = with_value(best, key, value_at(best, key) + steps(key))
        gap = wanted - rtp_of(candidate, bet)
        if abs(gap) < abs(missing):
            best, missing = candidate, gap
    return best


def hit_of(data: Mapping[str, Any]) -> Fraction:
    """Return the exact hit frequency of a definition's first bet."""
    hit: Fraction | None = analyse(game_from(data, "tuned"), Depth.FULL).bets[0].hit_probability
    if hit is None:
        raise TuningError("its hit frequency is beyond exact reach")
    return hit


def tune_strips(
    data: Mapping[str, Any],
    wanted: Fraction,
    *,
    stage: str = "base",
    hit: Fraction | None = None,
    rounds: int = 30,
) -> dict[str, Any]:
    """Return the definition with stops of a stage changed from one symbol to another, best change first.

    The aim is the return, and the hit frequency where one is given; each counts by its distance. The search
    stops when no single change brings the two closer.
    """

    def distance(candidate: Mapping[str, Any]) -> Fraction:
        try:
            off = abs(rtp_of(candidate) - wanted)
            return off if hit is None else off + abs(hit_of(candidate) - hit)
        except PaytableError:
            return Fraction(10**6)  # no valid definition

    best = dict(data)
    here = distance(best)
    for _ in range(rounds):
        found = min(((distance(c), n, c) for n, c in enumerate(_changes(best, stage))), key=lambda t: t[:2])
        if found[0] >= here:
            break
        here, _, best = found
    return best


def _changes(data: Mapping[str, Any], stage: str) -> Iterator[dict[str, Any]]:
    strips = value_at(data, ("stage", stage, "strips"))
    for x, strip in enumerate(strips):
        symbols = strip.split() if isinstance(strip, str) else list(strip)
        seen: set[tuple[str, str]] = set()
        for n, old in enumerate(symbols):
            for new in sorted(set(symbols) - {old}):
                if (old, new) not in seen and symbols.count(old) > 1:
                    seen.add((old, new))
                    changed = " ".join([*symbols[:n], new, *symbols[n + 1 :]])
                    yield with_value(data, ("stage", stage, "strips", x), changed)
