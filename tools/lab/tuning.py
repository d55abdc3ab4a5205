"""A search for pays or strip counts that give a game the wanted return (and hit frequency).

Both searches work on the definition's own data and measure every candidate by the exact analysis, so their
result is what the cabinet will play.
"""

import copy
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import combinations
from typing import Any, Final

from paytables import Depth, PaytableError, analyse, build_game
from paytables.wording import format_count, format_percent

Path = tuple[str | int, ...]
#: The distance below which a return, or a hit frequency, counts as reached.
NEAR = Fraction(1, 2000)
#: The number of candidates that a search without progress follows at once, and for how many rounds.
_WIDTH: Final = 6
_PATIENCE: Final = 3
_NO_GAME: Final = Fraction(10**6)
#: The largest move of one of two pays at once, in credits.
_REACH: Final = 40

Progress = Callable[[str], None]


class TuningError(Exception):
    """A key that is missing or not a pay, or a return that cannot be reached; the text names it."""


def parse_key(key: str) -> Path:
    """Return the path for a key in text form, such as ``stage.base.pay.3.pays.5``."""
    return tuple(int(part) if part.isdigit() else part for part in key.split("."))


def _resolve_key_part(here: Any, part: str | int) -> str | int:
    """Return one part of a path: an index if ``here`` is a list, or else the key of a table."""
    return int(part) if isinstance(here, list) else str(part)


def value_at(data: Mapping[str, Any], path: Path) -> Any:
    """Return the value of the definition at a path. Raises :class:`TuningError`."""
    here: Any = data
    for part in path:
        try:
            here = here[_resolve_key_part(here, part)]
        except (KeyError, IndexError, TypeError, ValueError):
            raise TuningError(f"{'.'.join(map(str, path))}: there is no {part!r}") from None
    return here


def replace_value(data: Mapping[str, Any], path: Path, value: Any) -> dict[str, Any]:
    """Return a copy of the definition with ``value`` at the path."""
    changed = copy.deepcopy(dict(data))
    here: Any = changed
    for part in path[:-1]:
        here = here[_resolve_key_part(here, part)]
    here[_resolve_key_part(here, path[-1])] = value
    return changed


def list_pay_keys(data: Mapping[str, Any]) -> list[Path]:
    """Return the path of every pay above zero credits, in the order of the definition."""
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


def compute_rtp(data: Mapping[str, Any], bet: str | None = None) -> Fraction:
    """Return the exact return of a definition's lowest bet, or of the bet named."""
    bets = analyse(build_game(data, "tuned"), Depth.RETURN).bets
    rtp: Fraction = min(b.rtp for b in bets if bet in {None, b.bet})
    return rtp


def compute_bet_returns(data: Mapping[str, Any]) -> dict[str, Fraction]:
    """Return the exact return of each bet of a definition."""
    return {bet.bet: bet.rtp for bet in analyse(build_game(data, "tuned"), Depth.RETURN).bets}


def find_pays_of_single_bets(data: Mapping[str, Any], keys: Iterable[Path]) -> dict[str, list[Path]]:
    """Return, by bet, the pays at ``keys`` that change the return of that bet only.

    Bets without such pays are left out. Games with separate pays for every number of coins have them.
    """
    before = compute_bet_returns(data)
    found: dict[str, list[Path]] = {bet: [] for bet in before}
    for key in keys:
        after = compute_bet_returns(replace_value(data, key, _pay_at(data, key) + 1))
        moved = [bet for bet, rtp in after.items() if rtp != before.get(bet)]
        if len(moved) == 1 and len(before) > 1:
            found[moved[0]].append(key)
    return {bet: own for bet, own in found.items() if own}


def _pay_at(data: Mapping[str, Any], key: Path) -> int:
    """Return the pay at a path. Raises :class:`TuningError` if it is not a pay."""
    pay = value_at(data, key)
    if not isinstance(pay, int):
        raise TuningError(f"{'.'.join(map(str, key))} is not a pay")
    return pay


def round_to_nice_pay(value: Fraction) -> int:
    """Return the pay rounded as a pay table prints it: at most two leading digits.

    Above 20, the second digit is 0 or 5.
    """
    number: int = max(1, round(value))
    if number <= 20:
        return number
    unit: int = 10 ** (len(str(number)) - 2)
    leading = (number + unit // 2) // unit
    return ((leading + 2) // 5 * 5 if leading > 20 else leading) * unit


def _ignore_progress(_: str) -> None:
    """Do nothing (the default for progress reports)."""


def tune_pays(
    data: Mapping[str, Any],
    wanted: Fraction,
    keys: Sequence[Path],
    bet: str | None = None,
    progress: Progress = _ignore_progress,
) -> dict[str, Any]:
    """Return the definition with the pays at ``keys`` changed so that its return is near ``wanted``.

    All pays are first scaled to round numbers. Then one or two at a time are changed by whole credits, as
    long as that helps. The order of the pays by size is preserved. ``progress`` is called with one line per
    round.
    """
    for key in keys:
        _pay_at(data, key)
    best = dict(data)
    progress(f"weighing {format_count(len(keys), 'pay')}")
    for _ in range(6):
        now = compute_rtp(best, bet)
        if abs(now - wanted) <= NEAR:
            return best
        slopes = {k: compute_rtp(replace_value(best, k, value_at(best, k) + 1), bet) - now for k in keys}
        part = sum(slopes[k] * value_at(best, k) for k in keys)
        if part <= 0:
            raise TuningError("those pays do not change the return")
        factor = (wanted - now) / part + 1
        if factor <= 0:
            raise TuningError(
                f"no pay there is low enough: the other pays alone return more than {format_percent(wanted, 4)} %"
            )
        scaled = best
        for k in keys:
            scaled = replace_value(scaled, k, round_to_nice_pay(value_at(best, k) * factor))
        if scaled == best:
            break
        if abs(compute_rtp(scaled, bet) - wanted) < abs(now - wanted):
            best = scaled
            progress(f"all scaled together: {format_percent(compute_rtp(best, bet), 4)} %")
        else:
            break
    return refine_pays(best, wanted, keys, bet, progress)


def refine_pays(
    data: Mapping[str, Any],
    wanted: Fraction,
    keys: Sequence[Path],
    bet: str | None = None,
    progress: Progress = _ignore_progress,
) -> dict[str, Any]:
    """Return the definition after changing one or two pays per round until the return is near ``wanted``.

    Each round makes the change that comes nearest, and the search ends when none helps. No pay changes by
    more than a quarter of its value, or one credit.
    """
    best, missing = dict(data), wanted - compute_rtp(data, bet)
    limits = {k: max(1, int(value_at(data, k)) // 4) for k in keys}
    while abs(missing) > NEAR:
        here = compute_rtp(best, bet)
        slopes = {k: compute_rtp(replace_value(best, k, value_at(best, k) + 1), bet) - here for k in keys}
        tried = sorted(
            _iter_pay_changes(data, best, limits, slopes, missing), key=lambda move: (move[0], move[1])
        )
        for _, _, changes in tried[: 4 * _WIDTH]:
            candidate = best
            for key, value in changes:
                candidate = replace_value(candidate, key, value)
            gap = _compute_return_gap(candidate, wanted, bet)
            if _is_order_kept(data, candidate, keys) and gap is not None and abs(gap) < abs(missing):
                best, missing = candidate, gap
                progress(f"pays moved: {float(wanted - gap):.4%}")
                break
        else:
            break
    return best


def _compute_return_gap(data: Mapping[str, Any], wanted: Fraction, bet: str | None) -> Fraction | None:
    """Return how far the return is from ``wanted``, or None for an invalid definition."""
    try:
        return wanted - compute_rtp(data, bet)
    except PaytableError:
        return None


def _iter_pay_changes(
    start: Mapping[str, Any],
    data: Mapping[str, Any],
    limits: Mapping[Path, int],
    slopes: Mapping[Path, Fraction],
    missing: Fraction,
) -> Iterator[tuple[Fraction, int, tuple[tuple[Path, int], ...]]]:
    """Yield changes of one or two pays: remaining gap, total change in credits, new values by path."""
    moved = [key for key, slope in slopes.items() if slope > 0]
    now = {key: int(value_at(data, key)) for key in moved}
    least = {key: max(1, int(value_at(start, key)) - limits[key]) - now[key] for key in moved}
    most = {key: int(value_at(start, key)) + limits[key] - now[key] for key in moved}

    def find_nearest_pay(key: Path, need: Fraction) -> int:
        return max(least[key], min(most[key], round(need / slopes[key])))

    for key in moved:
        if by := find_nearest_pay(key, missing):
            yield abs(missing - by * slopes[key]), abs(by), ((key, now[key] + by),)
    for one, other in combinations(moved, 2):
        for by in range(max(least[one], -_REACH), min(most[one], _REACH) + 1):
            left = missing - by * slopes[one]
            if by and (also := find_nearest_pay(other, left)):
                changes = ((one, now[one] + by), (other, now[other] + also))
                yield abs(left - also * slopes[other]), abs(by) + abs(also), changes


def _is_order_kept(before: Mapping[str, Any], after: Mapping[str, Any], keys: Sequence[Path]) -> bool:
    """Return whether the pays at ``keys`` still have the same order by size."""
    pairs = [(value_at(before, k), value_at(after, k)) for k in keys]
    return all(b <= d for a, b in pairs for c, d in pairs if a < c)


def compute_hit_frequency(data: Mapping[str, Any]) -> Fraction:
    """Return the exact hit frequency of a definition's first bet."""
    hit: Fraction | None = analyse(build_game(data, "tuned"), Depth.FULL).bets[0].hit_probability
    if hit is None:
        raise TuningError("its hit frequency cannot be computed exactly")
    return hit


def tune_strips(
    data: Mapping[str, Any],
    wanted: Fraction,
    *,
    stage: str = "base",
    hit: Fraction | None = None,
    rounds: int = 30,
    progress: Progress = _ignore_progress,
) -> dict[str, Any]:
    """Return the definition with symbols on the strips of a stage replaced so that its return is near ``wanted``.

    If ``hit`` is given, the hit frequency is tuned too. Each round makes the best single replacement. If no
    single one helps, several at once are tried before the search ends. ``progress`` is called with one line
    per round.
    """

    def distance(candidate: Mapping[str, Any]) -> Fraction:
        """Return how far a candidate's return and hit frequency are from the wanted ones.

        The two differences are added; each counts only as far as it exceeds the tolerance.
        """
        try:
            off = max(abs(compute_rtp(candidate) - wanted) - NEAR, Fraction(0))
            return (
                off
                if hit is None
                else off + max(abs(compute_hit_frequency(candidate) - hit) - NEAR, Fraction(0))
            )
        except PaytableError:
            return _NO_GAME

    best = dict(data)
    here = distance(best)
    beam, width, patience, known = [best], 1, _PATIENCE, {_format_strips(best, stage)}
    for number in range(1, rounds + 1):
        if not here:
            break
        new = _list_untried_definitions(beam, stage, known)
        found = sorted(((distance(one), n, one) for n, one in enumerate(new)), key=lambda entry: entry[:2])
        if not found:
            break
        off = float(found[0][0])
        progress(
            f"round {number}: {format_count(len(found), 'change')} tried, the nearest is off by {off:.4%}"
        )
        if found[0][0] < here:
            here, _, best = found[0]
            beam, width, patience = [best], 1, _PATIENCE
        elif patience:
            width, patience = _WIDTH, patience - 1
            beam = [candidate for _, _, candidate in found[:width]]
        else:
            break
    return best


def _list_untried_definitions(
    beam: Iterable[Mapping[str, Any]], stage: str, known: set[str]
) -> list[dict[str, Any]]:
    """Return every untried definition that differs by one symbol replacement, and mark it as tried."""
    found = []
    for one in beam:
        for candidate in _iter_definitions_with_one_replacement(one, stage):
            if (strips := _format_strips(candidate, stage)) not in known:
                known.add(strips)
                found.append(candidate)
    return found


def _format_strips(data: Mapping[str, Any], stage: str) -> str:
    return repr(value_at(data, ("stage", stage, "strips")))


def _iter_definitions_with_one_replacement(data: Mapping[str, Any], stage: str) -> Iterator[dict[str, Any]]:
    """Yield each definition that differs in one symbol on one strip of the stage.

    Of equal replacements on one strip (old symbol by new symbol) only the first is made. A symbol that is on
    the strip only once is not replaced.
    """
    strips = value_at(data, ("stage", stage, "strips"))
    for x, strip in enumerate(strips):
        symbols = strip.split() if isinstance(strip, str) else list(strip)
        seen: set[tuple[str, str]] = set()
        for n, old in enumerate(symbols):
            for new in sorted(set(symbols) - {old}):
                if (old, new) not in seen and symbols.count(old) > 1:
                    seen.add((old, new))
                    changed = " ".join([*symbols[:n], new, *symbols[n + 1 :]])
                    yield replace_value(data, ("stage", stage, "strips", x), changed)
