"""The feature sheets of a Keno game: its pay tables and its progressive levels."""

from collections.abc import Iterator
from fractions import Fraction

from paytables import Analysis
from paytables.keno.figures import count_cases_of_catch
from paytables.keno.rules import KenoRules
from paytables.keno.schema import BallBonus, KenoDefinition
from paytables.wording import format_count
from tools.lab.parsheet.figures import to_exact_data
from tools.lab.parsheet.sheet_data import LabelledValues, SheetData, build_level_sheets, build_sheet_data


def build_sheets(rules: KenoRules, analysis: Analysis) -> list[SheetData]:
    """Return the sheets of the pay tables and features, then of the progressive levels."""
    definition = rules.definition
    return [*_iter_keno_sheets(definition), *build_level_sheets(_list_keno_levels(definition), analysis)]


def _iter_keno_sheets(definition: KenoDefinition) -> Iterator[SheetData]:
    """Yield the sheets of a Keno game's pay tables and features."""
    field, ticket_limits = definition.field, definition.ticket_limits
    labelled_values: LabelledValues = [
        ("field", f"{field.drawn_count} of {field.number_count} numbers, without replacement"),
        ("possible draws", definition.cycle),
        ("stakes, credits per way", ", ".join(map(str, ticket_limits.stake_options))),
        ("most selections per ticket", ticket_limits.selections_max),
        ("most groups per selection", ticket_limits.groups_max),
        ("most draws per ticket", ticket_limits.draws_max),
        ("highest cost of a ticket per draw, credits", ticket_limits.cost_max_credits),
        ("highest pay of a ticket per draw, credits", definition.prize_limit_credits),
    ]
    for bonus in definition.bonuses:
        fee = (
            f"bought for {format_count(bonus.fee_per_credit, 'credit')} per credit staked"
            if bonus.fee_per_credit
            else "part of every bet"
        )
        method_text = (
            f"ball {bonus.ball_number} on the way multiplies its win by {bonus.factor}"
            if isinstance(bonus, BallBonus)
            else "every win times "
            + ", ".join(
                f"{factor} ({weight} in {sum(bonus.weight_by_factor.values())})"
                for factor, weight in bonus.weight_by_factor.items()
            )
        )
        labelled_values.append((f"bonus {bonus.id}", f"{method_text}; {fee}"))
    yield build_sheet_data("Keno", labelled_values)
    for table in sorted(definition.pay_tables, key=lambda table: table.spot_count):
        rows = []
        return_share = Fraction(0)
        for catch in reversed(definition.list_possible_catches(table.spot_count)):
            draw_count = count_cases_of_catch(definition, table.spot_count, catch, 0, 0)
            probability, pay = Fraction(draw_count, definition.cycle), table.pay_by_catch.get(catch, 0)
            return_share += probability * pay
            rows.append(
                [catch, pay, draw_count, to_exact_data(probability), to_exact_data(probability * pay)]
            )
        yield build_sheet_data(
            f"Keno, {format_count(table.spot_count, 'spot')}",
            [("return of one credit, before bonuses and levels", to_exact_data(return_share))],
            ("catch", "pays per credit", "draws", "probability", "return"),
            rows,
        )


def _list_keno_levels(definition: KenoDefinition) -> list[tuple[str, LabelledValues]]:
    """Return each Keno progressive level for the PAR sheet: its id, then labels with their values."""
    return [
        (
            level.id,
            [
                ("name", f"{level.name.en} / {level.name.fr}"),
                (
                    "won by",
                    f"a way of {format_count(level.spot_count, 'spot')} that catches {level.catch_count}",
                ),
                (
                    "stake of the way, credits",
                    f"{level.stake_min_credits}{' exactly' if level.is_linked else ' or more'}",
                ),
                ("reset, credits", level.reset_credits),
                ("increment, share of each eligible wager", level.increment),
                ("stored by", "a controller, for linked machines" if level.is_linked else "the machine"),
            ],
        )
        for level in definition.progressive_levels
    ]
