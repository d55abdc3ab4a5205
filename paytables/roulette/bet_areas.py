"""The usual roulette layout of 36 numbers in three columns: the spots of every bet, and the names of the bets."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from paytables.contract import Spot
from paytables.roulette.names import BET_NAMES
from paytables.roulette.schema import Cylinder, RouletteBetKind

#: The highest number of the usual layout.
_LAST_NUMBER: Final = 36


@dataclass(frozen=True, slots=True)
class BetArea:
    """A betting area of the roulette layout: its id, its names by language, and the pockets it covers."""

    id: str
    names: dict[str, str]
    covered_pockets: tuple[str, ...]
    """The pockets on which a bet on the area wins."""


def list_bet_areas(bet: RouletteBetKind, cylinder: Cylinder) -> tuple[BetArea, ...]:
    """Return every betting area of a roulette bet. Raises ValueError for numbers that are not pockets."""
    if bet.replacing_areas:
        areas = [
            _build_area(bet, name, _parse_numbers(text, cylinder))
            for name, text in bet.replacing_areas.items()
        ]
    else:
        areas = list(_iter_usual_areas(bet, cylinder))
    for text in bet.further_areas:
        covered_pockets = _parse_numbers(text, cylinder)
        areas.append(_build_area(bet, f"{bet.id}-{'-'.join(covered_pockets)}", covered_pockets))
    if not areas:
        raise ValueError(f"{bet.id!r} is not a bet of the usual layout: list its `places`")
    return tuple(areas)


def _parse_numbers(text: str, cylinder: Cylinder) -> tuple[str, ...]:
    """Return the roulette pockets in a text such as ``0-1``.

    Raises ValueError for a number that is not a pocket or occurs twice.
    """
    numbers = tuple(text.split("-"))
    unknown_numbers = [number for number in numbers if number not in cylinder.pockets]
    if unknown_numbers or len(set(numbers)) != len(numbers):
        raise ValueError(
            f"{text!r}: expected different pockets of the wheel, found {'-'.join(unknown_numbers) or 'a number twice'}"
        )
    return numbers


def _build_area(
    bet: RouletteBetKind, area_id: str, covered_pockets: tuple[str, ...], distinguishing_label: str = ""
) -> BetArea:
    """Return the area of a roulette bet on these pockets; ``distinguishing_label`` is added to its names."""
    if area_id in BET_NAMES and area_id != bet.id:
        return BetArea(area_id, dict(zip(("en", "fr"), BET_NAMES[area_id], strict=True)), covered_pockets)
    if area_id == bet.id:
        return BetArea(area_id, bet.names, covered_pockets)
    label = distinguishing_label or "-".join(covered_pockets)
    return BetArea(
        area_id,
        {language: f"{bet_name} {label}" for language, bet_name in bet.names.items()},
        covered_pockets,
    )


def _iter_usual_areas(bet: RouletteBetKind, cylinder: Cylinder) -> Iterable[BetArea]:
    """Yield the betting areas of one kind of roulette bet on the usual layout of 36 numbers."""
    if bet.id in {"straight", "double", "triple"}:
        for pocket in sorted(cylinder.pockets, key=lambda p: (int(p), -len(p))):
            yield _build_area(bet, f"{bet.id}-{pocket}", (pocket,))
    elif bet.id in {"split", "street", "corner", "six-line"}:
        for numbers in _INSIDE_BETS[bet.id]:
            covered_pockets = tuple(map(str, numbers))
            yield _build_area(bet, f"{bet.id}-{'-'.join(covered_pockets)}", covered_pockets)
    elif bet.id in _OUTSIDE_BETS:
        for name, label, numbers in _OUTSIDE_BETS[bet.id]:
            yield _build_area(bet, name, tuple(map(str, numbers)), label)
    elif bet.id == "even-chance":
        low_numbers, high_numbers = (
            range(1, _LAST_NUMBER // 2 + 1),
            range(_LAST_NUMBER // 2 + 1, _LAST_NUMBER + 1),
        )
        all_numbers = range(1, _LAST_NUMBER + 1)
        yield _build_area(bet, "low", tuple(map(str, low_numbers)))
        yield _build_area(bet, "even", tuple(str(n) for n in all_numbers if n % 2 == 0))
        yield _build_area(bet, "red", cylinder.red_pockets)
        yield _build_area(bet, "black", cylinder.black_pockets)
        yield _build_area(bet, "odd", tuple(str(n) for n in all_numbers if n % 2))
        yield _build_area(bet, "high", tuple(map(str, high_numbers)))


def _list_column_numbers(first_number: int) -> tuple[int, ...]:
    """Return the twelve numbers of the roulette column that begins with ``first_number``."""
    return tuple(range(first_number, _LAST_NUMBER + 1, 3))


def _list_dozen_numbers(dozen: int) -> tuple[int, ...]:
    """Return the twelve numbers of a roulette dozen: the first, second or third (``dozen`` 1 to 3)."""
    return tuple(range(12 * dozen - 11, 12 * dozen + 1))


#: The numbers of each row of three.
_STREET_ROWS: Final = tuple((n, n + 1, n + 2) for n in range(1, _LAST_NUMBER + 1, 3))
#: The betting areas within the numbers, by the id of their bet.
_INSIDE_BETS: Final[dict[str, tuple[tuple[int, ...], ...]]] = {
    "split": tuple(
        pair
        for n in range(1, _LAST_NUMBER + 1)
        for pair in ((n, n + 1), (n, n + 3))
        if pair[1] <= _LAST_NUMBER and (pair[1] - n == 3 or n % 3)
    ),
    "street": _STREET_ROWS,
    "corner": tuple((n, n + 1, n + 3, n + 4) for n in range(1, _LAST_NUMBER - 3) if n % 3),
    "six-line": tuple((*a, *b) for a, b in pairwise(_STREET_ROWS)),
}
#: The betting areas outside the numbers: their ids, the names that distinguish them, and the numbers they
#: cover.
_OUTSIDE_BETS: Final[dict[str, tuple[tuple[str, str, tuple[int, ...]], ...]]] = {
    "dozen": tuple((f"dozen-{n}", f"{12 * n - 11}-{12 * n}", _list_dozen_numbers(n)) for n in (1, 2, 3)),
    "column": tuple((f"column-{n}", str(n), _list_column_numbers(n)) for n in (1, 2, 3)),
    "dozens": tuple(
        (f"dozens-{a}-{b}", f"{a}-{b}", _list_dozen_numbers(a) + _list_dozen_numbers(b))
        for a, b in ((1, 2), (2, 3))
    ),
    "columns": tuple(
        (f"columns-{a}-{b}", f"{a}-{b}", _list_column_numbers(a) + _list_column_numbers(b))
        for a, b in ((1, 2), (2, 3))
    ),
}

#: The call bets on a section of the 37-pocket cylinder, by name: chips on each betting area, by the numbers
#: it covers.
_CALL_BETS: Final[tuple[tuple[str, tuple[str, str], dict[tuple[str, ...], int]], ...]] = (
    (
        "voisins",
        ("Voisins du zéro", "Voisins du zéro"),
        {
            ("0", "2", "3"): 2,
            ("4", "7"): 1,
            ("12", "15"): 1,
            ("18", "21"): 1,
            ("19", "22"): 1,
            ("25", "26", "28", "29"): 2,
            ("32", "35"): 1,
        },
    ),
    (
        "tiers",
        ("Tiers du cylindre", "Tiers du cylindre"),
        dict.fromkeys((("5", "8"), ("10", "11"), ("13", "16"), ("23", "24"), ("27", "30"), ("33", "36")), 1),
    ),
    (
        "orphelins",
        ("Orphelins", "Orphelins"),
        dict.fromkeys((("1",), ("6", "9"), ("14", "17"), ("17", "20"), ("31", "34")), 1),
    ),
)
#: The number of pockets of a cylinder with one zero.
_SINGLE_ZERO_POCKET_COUNT: Final = 37


def list_call_bets(spots: Iterable[Spot], pockets: Sequence[str]) -> list[dict[str, object]]:
    """Return the call bets of a roulette with one zero, each as chips by spot.

    A call bet is left out if the layout lacks one of its betting areas. A cylinder with another number of pockets has
    no call bets.
    """
    spot_by_pockets = {
        tuple(sorted(spot.covered_results, key=int)): spot.id for spot in spots if spot.covered_results
    }
    call_bets: list[dict[str, object]] = []
    for name, (en, fr), chip_count_by_pockets in (
        _CALL_BETS if len(pockets) == _SINGLE_ZERO_POCKET_COUNT else ()
    ):
        bets = {
            spot_by_pockets[covered_pockets]: chip_count
            for covered_pockets, chip_count in chip_count_by_pockets.items()
            if covered_pockets in spot_by_pockets
        }
        if len(bets) == len(chip_count_by_pockets):
            call_bets.append({"id": name, "names": {"en": en, "fr": fr}, "bets": bets})
    return call_bets
