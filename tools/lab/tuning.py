"""A search for pays or strip symbols that give a game the wanted return (and hit frequency).

Both searches work on the definition's own data and measure every candidate by the exact analysis, so their
result is what the cabinet will play.
"""

import copy
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import combinations
from typing import Any, Final

from paytables import AnalysisDepth, PaytableError, analyse, build_game
from paytables.wording import format_count, format_percent

#: The path of a value in a definition: keys of tables and indices of lists. As text, with dots, it is a key.
KeyPath = tuple[str | int, ...]
#: An index of a list in a key; any other text names a key of a table.
_LIST_INDEX_PATTERN: Final = re.compile(r"[0-9]{1,9}")
#: The distance up to which a return, or a hit frequency, counts as reached.
REACHED_DISTANCE_MAX = Fraction(1, 2000)
#: The number of candidates that a search follows at once.
_CANDIDATES_FOLLOWED: Final = 6
#: The most consecutive rounds without progress; one more ends the search.
_ROUNDS_WITHOUT_PROGRESS_MAX: Final = 3
#: The distance of a candidate that is not a valid game: larger than any other.
_INVALID_GAME_DISTANCE: Final = Fraction(10**6)
#: When two pays change together, the largest change of the first, in credits.
_PAIR_CHANGE_CREDITS_MAX: Final = 40

#: Receives a line about the search's progress.
PrintProgress = Callable[[str], None]


class TuningError(Exception):
    """Raised if a key is missing or is not a pay, or the wanted return cannot be reached; the text says which."""


def parse_key(key: str) -> KeyPath:
    """Return the path for a key in text form, such as ``stage.base.pay.3.pays.5``."""
    return tuple(int(part) if _LIST_INDEX_PATTERN.fullmatch(part) else part for part in key.split("."))


def _resolve_key_part(container: Any, key_part: str | int) -> str | int:
    """Return one part of a key path as an index if ``container`` is a list, otherwise as a table key."""
    return int(key_part) if isinstance(container, list) else str(key_part)


def get_value_at(definition: Mapping[str, Any], path: KeyPath) -> Any:
    """Return the value of the definition at a path. Raises :class:`TuningError`."""
    value: Any = definition
    for part in path:
        try:
            value = value[_resolve_key_part(value, part)]
        except (KeyError, IndexError, TypeError, ValueError):
            raise TuningError(f"{'.'.join(map(str, path))}: there is no {part!r}") from None
    return value


def replace_value(definition: Mapping[str, Any], path: KeyPath, value: Any) -> dict[str, Any]:
    """Return a copy of the definition with ``value`` at the path."""
    changed_data = copy.deepcopy(dict(definition))
    container: Any = changed_data
    for part in path[:-1]:
        container = container[_resolve_key_part(container, part)]
    container[_resolve_key_part(container, path[-1])] = value
    return changed_data


def list_pay_paths(definition: Mapping[str, Any]) -> list[KeyPath]:
    """Return the path of every pay above zero credits, in the order of the definition."""
    paths: list[KeyPath] = []
    for name, stage in definition.get("stage", {}).items():
        for n, pay in enumerate(stage.get("pay", [])):
            pay_by_path_end: dict[KeyPath, Any] = {
                ("pays", count): value for count, value in pay.get("pays", {}).items()
            }
            if "pay" in pay:
                pay_by_path_end[("pay",)] = pay["pay"]
            for path_end, value in pay_by_path_end.items():
                path = ("stage", name, "pay", n, *path_end)
                if isinstance(value, list):
                    paths += [(*path, column) for column, value in enumerate(value) if value]
                elif value:
                    paths.append(path)
    for kind in ("table", "area"):  # of Keno, of wheels
        for n, pay_table in enumerate(definition.get(kind, [])):
            paths += [(kind, n, "pays", count) for count, value in pay_table.get("pays", {}).items() if value]
    return paths


def compute_rtp(definition: Mapping[str, Any], bet: str | None = None) -> Fraction:
    """Return the exact return of the bet named ``bet``; for None, the lowest return of any bet of the definition."""
    bets = analyse(build_game(definition, "tuned"), AnalysisDepth.RETURN).bets
    rtp: Fraction = min(b.rtp for b in bets if bet in {None, b.bet})
    return rtp


def compute_bet_returns(definition: Mapping[str, Any]) -> dict[str, Fraction]:
    """Return the exact return of each bet of a definition."""
    return {bet.bet: bet.rtp for bet in analyse(build_game(definition, "tuned"), AnalysisDepth.RETURN).bets}


def find_pays_of_single_bets(
    definition: Mapping[str, Any], paths: Iterable[KeyPath]
) -> dict[str, list[KeyPath]]:
    """Return, by bet, those of the pays at ``paths`` that change the return of this bet only.

    Bets without such pays are left out. Such pays exist in games with a separate pay table per number of
    coins.
    """
    returns_before = compute_bet_returns(definition)
    pays_by_bet: dict[str, list[KeyPath]] = {bet: [] for bet in returns_before}
    for path in paths:
        returns_after = compute_bet_returns(
            replace_value(definition, path, _get_pay_at(definition, path) + 1)
        )
        changed_bets = [bet for bet, rtp in returns_after.items() if rtp != returns_before.get(bet)]
        if len(changed_bets) == 1 and len(returns_before) > 1:
            pays_by_bet[changed_bets[0]].append(path)
    return {bet: pays for bet, pays in pays_by_bet.items() if pays}


def _get_pay_at(definition: Mapping[str, Any], path: KeyPath) -> int:
    """Return the pay (in credits) at a path of the definition. Raises :class:`TuningError` if it is not a pay."""
    pay = get_value_at(definition, path)
    if not isinstance(pay, int):
        raise TuningError(f"{'.'.join(map(str, path))} is not a pay")
    return pay


def round_to_nice_pay(value: Fraction) -> int:
    """Return the pay rounded as a pay table prints it: at most two leading digits.

    Above 20, the second digit is 0 or 5.
    """
    rounded_value: int = max(1, round(value))
    if rounded_value <= 20:
        return rounded_value
    unit: int = 10 ** (len(str(rounded_value)) - 2)
    leading_digits = (rounded_value + unit // 2) // unit
    return ((leading_digits + 2) // 5 * 5 if leading_digits > 20 else leading_digits) * unit


def _ignore_progress(_: str) -> None:
    """Do nothing (the default for progress reports)."""


def tune_pays(
    definition: Mapping[str, Any],
    target_return: Fraction,
    paths: Sequence[KeyPath],
    bet: str | None = None,
    print_progress: PrintProgress = _ignore_progress,
) -> dict[str, Any]:
    """Return the definition with the pays at ``paths`` changed so that its return is near ``target_return``.

    All pays are first scaled to round numbers. Then one or two at a time are changed by whole credits, as
    long as that helps. The order of the pays by size is preserved. ``print_progress`` is called with one line per
    round.
    """
    for path in paths:
        _get_pay_at(definition, path)
    best_definition = dict(definition)
    print_progress(f"weighing {format_count(len(paths), 'pay')}")
    for _ in range(6):
        current_return = compute_rtp(best_definition, bet)
        if abs(current_return - target_return) <= REACHED_DISTANCE_MAX:
            return best_definition
        return_per_credit = {
            path: compute_rtp(
                replace_value(best_definition, path, get_value_at(best_definition, path) + 1), bet
            )
            - current_return
            for path in paths
        }
        return_of_tuned_pays = sum(
            return_per_credit[path] * get_value_at(best_definition, path) for path in paths
        )
        if return_of_tuned_pays <= 0:
            raise TuningError("the named pays do not change the return")
        factor = (target_return - current_return) / return_of_tuned_pays + 1
        if factor <= 0:
            raise TuningError(
                "even pays of zero would leave too high a return: the other pays alone return more than "
                f"{format_percent(target_return, 4)} %"
            )
        scaled_definition = best_definition
        for path in paths:
            scaled_definition = replace_value(
                scaled_definition, path, round_to_nice_pay(get_value_at(best_definition, path) * factor)
            )
        if scaled_definition == best_definition:
            break
        if abs(compute_rtp(scaled_definition, bet) - target_return) < abs(current_return - target_return):
            best_definition = scaled_definition
            print_progress(f"all scaled together: {format_percent(compute_rtp(best_definition, bet), 4)} %")
        else:
            break
    return refine_pays(best_definition, target_return, paths, bet, print_progress)


def refine_pays(
    definition: Mapping[str, Any],
    target_return: Fraction,
    paths: Sequence[KeyPath],
    bet: str | None = None,
    print_progress: PrintProgress = _ignore_progress,
) -> dict[str, Any]:
    """Return the definition after changing one or two pays per round until the return is near ``target_return``.

    Each round makes the change that comes nearest to ``target_return``, and the search ends when no change comes
    nearer. No pay changes by more than a quarter of its value, or one credit if that is more.
    """
    best_definition, missing_return = dict(definition), target_return - compute_rtp(definition, bet)
    pay_limits = {path: max(1, int(get_value_at(definition, path)) // 4) for path in paths}
    while abs(missing_return) > REACHED_DISTANCE_MAX:
        present_return = compute_rtp(best_definition, bet)
        return_per_credit = {
            path: compute_rtp(
                replace_value(best_definition, path, get_value_at(best_definition, path) + 1), bet
            )
            - present_return
            for path in paths
        }
        ordered_changes = sorted(
            _iter_pay_changes(definition, best_definition, pay_limits, return_per_credit, missing_return),
            key=lambda change: change[:2],
        )
        for _, _, changes in ordered_changes[: 4 * _CANDIDATES_FOLLOWED]:
            candidate = best_definition
            for path, value in changes:
                candidate = replace_value(candidate, path, value)
            gap = _compute_return_gap(candidate, target_return, bet)
            if (
                _has_same_order(definition, candidate, paths)
                and gap is not None
                and abs(gap) < abs(missing_return)
            ):
                best_definition, missing_return = candidate, gap
                print_progress(f"pays changed: {float(target_return - gap):.4%}")
                break
        else:
            break
    return best_definition


def _compute_return_gap(
    definition: Mapping[str, Any], target_return: Fraction, bet: str | None
) -> Fraction | None:
    """Return ``target_return`` minus the definition's return, or None for an invalid definition."""
    try:
        return target_return - compute_rtp(definition, bet)
    except PaytableError:
        return None


def _iter_pay_changes(
    original_definition: Mapping[str, Any],
    definition: Mapping[str, Any],
    pay_limits: Mapping[KeyPath, int],
    return_per_credit: Mapping[KeyPath, Fraction],
    missing_return: Fraction,
) -> Iterator[tuple[Fraction, int, tuple[tuple[KeyPath, int], ...]]]:
    """Yield possible changes of one or two pays as (gap, total change in credits, new pays by path).

    The gap is the remaining distance to the wanted return after the change.
    """
    paths = [path for path, added_return in return_per_credit.items() if added_return > 0]
    current_pays = {path: int(get_value_at(definition, path)) for path in paths}
    lowest_change = {
        path: max(1, int(get_value_at(original_definition, path)) - pay_limits[path]) - current_pays[path]
        for path in paths
    }
    highest_change = {
        path: int(get_value_at(original_definition, path)) + pay_limits[path] - current_pays[path]
        for path in paths
    }

    def find_nearest_change(path: KeyPath, needed_return: Fraction) -> int:
        """Return by how many credits to change a pay so that the return changes most nearly by ``needed_return``."""
        return max(
            lowest_change[path], min(highest_change[path], round(needed_return / return_per_credit[path]))
        )

    for path in paths:
        if change := find_nearest_change(path, missing_return):
            yield (
                abs(missing_return - change * return_per_credit[path]),
                abs(change),
                ((path, current_pays[path] + change),),
            )
    for first_path, second_path in combinations(paths, 2):
        for change in range(
            max(lowest_change[first_path], -_PAIR_CHANGE_CREDITS_MAX),
            min(highest_change[first_path], _PAIR_CHANGE_CREDITS_MAX) + 1,
        ):
            remaining_gap = missing_return - change * return_per_credit[first_path]
            if change and (second_change := find_nearest_change(second_path, remaining_gap)):
                changes = (
                    (first_path, current_pays[first_path] + change),
                    (second_path, current_pays[second_path] + second_change),
                )
                yield (
                    abs(remaining_gap - second_change * return_per_credit[second_path]),
                    abs(change) + abs(second_change),
                    changes,
                )


def _has_same_order(
    old_data: Mapping[str, Any], new_data: Mapping[str, Any], paths: Sequence[KeyPath]
) -> bool:
    """Return whether the pays at ``paths`` still have the same order by size."""
    pairs = [(get_value_at(old_data, path), get_value_at(new_data, path)) for path in paths]
    return all(
        new_first <= new_second
        for old_first, new_first in pairs
        for old_second, new_second in pairs
        if old_first < old_second
    )


def compute_hit_frequency(definition: Mapping[str, Any]) -> Fraction:
    """Return the exact hit frequency of a definition's first bet."""
    hit_probability: Fraction | None = (
        analyse(build_game(definition, "tuned"), AnalysisDepth.FULL).bets[0].hit_probability
    )
    if hit_probability is None:
        raise TuningError("its hit frequency cannot be computed exactly")
    return hit_probability


def tune_strips(
    definition: Mapping[str, Any],
    target_return: Fraction,
    *,
    stage: str = "base",
    hit_frequency: Fraction | None = None,
    rounds: int = 30,
    print_progress: PrintProgress = _ignore_progress,
) -> dict[str, Any]:
    """Return the definition with symbols on a stage's strips replaced so that its return is near ``target_return``.

    If ``hit_frequency`` is given, the hit frequency is tuned too. Each round makes the best single replacement. If no
    single one helps, several at once are tried before the search ends. ``print_progress`` is called with one line
    per round.
    """

    def compute_distance(candidate: Mapping[str, Any]) -> Fraction:
        """Return how far a candidate's return and hit frequency are from the wanted values.

        The result is the sum of both distances, each reduced by its tolerance and at least 0.
        """
        try:
            difference = max(abs(compute_rtp(candidate) - target_return) - REACHED_DISTANCE_MAX, Fraction(0))
            return (
                difference
                if hit_frequency is None
                else difference
                + max(
                    abs(compute_hit_frequency(candidate) - hit_frequency) - REACHED_DISTANCE_MAX, Fraction(0)
                )
            )
        except PaytableError:
            return _INVALID_GAME_DISTANCE

    best_definition = dict(definition)
    best_distance = compute_distance(best_definition)
    followed_definitions = [best_definition]
    followed_count = 1
    fruitless_rounds_left = _ROUNDS_WITHOUT_PROGRESS_MAX
    tried_strips = {_format_strips(best_definition, stage)}
    for round_number in range(1, rounds + 1):
        if not best_distance:
            break
        new_definitions = _list_untried_definitions(followed_definitions, stage, tried_strips)
        ranked_candidates = sorted(
            (
                (compute_distance(candidate_data), n, candidate_data)
                for n, candidate_data in enumerate(new_definitions)
            ),
            key=lambda entry: entry[:2],
        )
        if not ranked_candidates:
            break
        nearest_distance = float(ranked_candidates[0][0])
        print_progress(
            f"round {round_number}: {format_count(len(ranked_candidates), 'change')} tried, "
            f"the nearest is off by {nearest_distance:.4%}"
        )
        if ranked_candidates[0][0] < best_distance:
            best_distance, _, best_definition = ranked_candidates[0]
            followed_definitions, followed_count, fruitless_rounds_left = (
                [best_definition],
                1,
                _ROUNDS_WITHOUT_PROGRESS_MAX,
            )
        elif fruitless_rounds_left:
            followed_count, fruitless_rounds_left = _CANDIDATES_FOLLOWED, fruitless_rounds_left - 1
            followed_definitions = [candidate for _, _, candidate in ranked_candidates[:followed_count]]
        else:
            break
    return best_definition


def _list_untried_definitions(
    followed_definitions: Iterable[Mapping[str, Any]], stage: str, tried_strips: set[str]
) -> list[dict[str, Any]]:
    """Return the definitions that differ from one in ``followed_definitions`` by one symbol and were not tried yet.

    ``tried_strips`` has the strips of all definitions tried; those of the returned ones are added to it.
    """
    definitions = []
    for definition in followed_definitions:
        for candidate in _iter_definitions_with_one_replacement(definition, stage):
            if (strips := _format_strips(candidate, stage)) not in tried_strips:
                tried_strips.add(strips)
                definitions.append(candidate)
    return definitions


def _format_strips(definition: Mapping[str, Any], stage: str) -> str:
    """Return the reel strips of a stage as one text, so that definitions with equal strips can be recognised."""
    return repr(get_value_at(definition, ("stage", stage, "strips")))


def _iter_definitions_with_one_replacement(
    definition: Mapping[str, Any], stage: str
) -> Iterator[dict[str, Any]]:
    """Yield each definition that differs in one symbol on one strip of the stage.

    If a symbol occurs several times on a strip, only its first occurrence is replaced. A symbol that is on
    the strip only once is not replaced.
    """
    strips = get_value_at(definition, ("stage", stage, "strips"))
    for x, strip in enumerate(strips):
        symbols = strip.split() if isinstance(strip, str) else list(strip)
        replacements_made: set[tuple[str, str]] = set()
        for n, old_symbol in enumerate(symbols):
            for new_symbol in sorted(set(symbols) - {old_symbol}):
                if (old_symbol, new_symbol) not in replacements_made and symbols.count(old_symbol) > 1:
                    replacements_made.add((old_symbol, new_symbol))
                    changed_strip = " ".join([*symbols[:n], new_symbol, *symbols[n + 1 :]])
                    yield replace_value(definition, ("stage", stage, "strips", x), changed_strip)
