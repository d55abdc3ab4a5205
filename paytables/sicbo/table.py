"""Playable sic bo: the throws of three dice that win each bet, and the throw itself.

Its results are the dice in ascending order, ``"2-4-4"``; each die is drawn separately.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, product
from typing import Final

from paytables.contract import DIE_FACES, Cue, DrawSource, Spot, throw_dice
from paytables.errors import DefinitionError
from paytables.layout import Odds, check_credit_multiples, check_preset_bets
from paytables.onedraw.bets import SpotRules
from paytables.onedraw.table import DrawnResult, OneDrawTable
from paytables.sicbo.schema import BET_NAMES, DiceBet, SicBoDefinition

_DICE_COUNT: Final = 3
_DIE_NUMBERS: Final = range(1, DIE_FACES + 1)
_SINGLE_NUMBERS: Final = tuple((face,) for face in _DIE_NUMBERS)
_SINGLE_EMPTY_COMBINATION: Final[tuple[tuple[int, ...], ...]] = ((),)
#: How many of the 216 throws give each result (the dice in ascending order).
_THROW_COUNT_BY_RESULT: Final = Counter(
    "-".join(map(str, sorted(throw_result))) for throw_result in product(_DIE_NUMBERS, repeat=_DICE_COUNT)
)
#: The numbers that each kind of bet covers (for a total: from its definition), and how often a throw wins it;
#: a single is won once per matching die.
_RULES_BY_BET_KIND: Final[
    Mapping[str, tuple[Sequence[tuple[int, ...]], Callable[[list[int], tuple[int, ...]], int]]]
] = {
    "triple": (_SINGLE_NUMBERS, lambda dice, n: dice.count(n[0]) == _DICE_COUNT),
    "double": (_SINGLE_NUMBERS, lambda dice, n: dice.count(n[0]) > 1),
    "any-triple": (_SINGLE_EMPTY_COMBINATION, lambda dice, _: len(set(dice)) == 1),
    "total": ((), lambda dice, n: sum(dice) == n[0]),
    "duo": (tuple(combinations(_DIE_NUMBERS, 2)), lambda dice, n: set(n) <= set(dice)),
    "small": (_SINGLE_EMPTY_COMBINATION, lambda dice, _: len(set(dice)) > 1 and sum(dice) <= 10),
    "big": (_SINGLE_EMPTY_COMBINATION, lambda dice, _: len(set(dice)) > 1 and sum(dice) > 10),
    "single": (_SINGLE_NUMBERS, lambda dice, n: dice.count(n[0])),
}


@dataclass(frozen=True)
class SicBoTable(OneDrawTable):
    """The rules of a playable sic bo table, with three dice."""

    @cached_property
    def case_count_by_result(self) -> Mapping[str, int]:
        """Return how many of the 216 throws have each result."""
        return _THROW_COUNT_BY_RESULT

    def draw_result(self, draw: DrawSource) -> DrawnResult:
        """Draw each of the three dice, and return the result."""
        dice = list(throw_dice(draw, _DICE_COUNT))
        display = {"result": "-".join(map(str, dice)), "dice": dice, "total": sum(dice)}
        return DrawnResult("-".join(map(str, sorted(dice))), Cue("dice", {"dice": dice}), display)

    def build_display_data(self) -> dict[str, object]:
        """Return what a screen needs in addition to the spots: the number of dice."""
        return {"dice": _DICE_COUNT}


def build_rules(definition: SicBoDefinition, file: str) -> SicBoTable:
    """Build the rules of a sic bo table from its definition. Raises :class:`DefinitionError` for a wrong key."""
    spot_rules: list[SpotRules] = []
    for n, bet in enumerate(definition.bets):
        check_credit_multiples(f"bet.{n}", bet, bet.odds, file)
        spot_rules += _iter_spot_rules(bet, double_on_triple=definition.options.triple_wins_double)
    spot_count_by_id = Counter(rules.spot.id for rules in spot_rules)
    repeated_id = next((spot_id for spot_id, count in spot_count_by_id.items() if count > 1), None)
    if repeated_id is not None:
        raise DefinitionError(file, "bet", f"two spots have the id {repeated_id!r}")
    table = SicBoTable(
        header=definition.game,
        spot_rules=tuple(spot_rules),
        table_limits=definition.table,
        preset_bets=definition.preset_bets,
        felt_kind="dice",
    )
    check_preset_bets(table.table_layout, file)
    return table


def _iter_spot_rules(bet: DiceBet, *, double_on_triple: bool) -> Iterator[SpotRules]:
    """Yield the betting spots of a sic bo bet: one for each number, pair or total it covers, or a single one."""
    number_groups, count_wins = _RULES_BY_BET_KIND[bet.kind]
    for numbers in number_groups or [(total,) for total in bet.totals]:
        odds_by_result: dict[str, Odds] = {}
        for throw_result in _THROW_COUNT_BY_RESULT:
            dice = [int(die) for die in throw_result.split("-")]
            win_count = int(count_wins(dice, numbers))
            if bet.kind == "double" and len(set(dice)) == 1 and not double_on_triple:
                win_count = 0
            if win_count:
                odds_by_result[throw_result] = bet.odds[win_count - 1]
        label = "-".join(map(str, numbers))
        bet_names = dict(zip(("en", "fr"), BET_NAMES[bet.kind], strict=True))
        spot = Spot(
            id=f"{bet.kind}-{label}" if label else bet.kind,
            group=bet.id,
            names={language: f"{name} {label}".strip() for language, name in bet_names.items()},
            odds=" / ".join(odds.text for odds in bet.odds),
            bet_min=bet.bet_min,
            bet_max=bet.bet_max,
            bet_step=bet.bet_step,
            covered_results=(label,) if bet.kind == "total" else (),
        )
        yield SpotRules(spot, odds_by_result)
