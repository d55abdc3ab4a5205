"""A Keno game as plain JSON for the screen; no rules of the game are here."""

from collections.abc import Sequence

from paytables.contract import Json
from paytables.keno.draws import DrawnBalls, WayResult
from paytables.keno.schema import BallBonus, Bonus, KenoDefinition
from paytables.keno.ticket import KenoTicket


def build_presentation(definition: KenoDefinition) -> dict[str, Json]:
    """Return the data that a screen needs to draw a Keno game: board, pay tables, bonuses and preset tickets.

    Its member ``tables`` has the pays for each credit staked, by number of spots and then by catch (numbers hit).
    """
    return {
        "kind": "keno",
        "numbers": definition.field.number_count,
        "drawn": definition.field.drawn_count,
        "columns": definition.field.column_count,
        "tables": {
            str(table.spot_count): {
                str(catch): pay for catch, pay in sorted(table.pay_by_catch.items(), reverse=True)
            }
            for table in sorted(definition.pay_tables, key=lambda table: table.spot_count)
        },
        "marks": definition.ticket_limits.model_dump(mode="json", by_alias=True),
        "bonuses": [_build_bonus_data(bonus) for bonus in definition.bonuses],
        "progressives": [
            level.model_dump(mode="json", by_alias=True) for level in definition.progressive_levels
        ],
        "forms": [
            preset_ticket.model_dump(mode="json", by_alias=True)
            for preset_ticket in definition.preset_tickets
        ],
        "limit": definition.prize_limit_credits,
        "rules_at": None if definition.terms is None else definition.terms.rules_at.model_dump(),
    }


def _build_bonus_data(bonus: Bonus) -> dict[str, Json]:
    """Return a Keno bonus as a JSON object."""
    data: dict[str, Json] = {
        "id": bonus.id,
        "kind": bonus.kind,
        "name": bonus.name.model_dump(),
        "fee": bonus.fee_per_credit,
    }
    if isinstance(bonus, BallBonus):
        return {**data, "ball": bonus.ball_number, "factor": bonus.factor}
    return {
        **data,
        "weights": {str(factor): weight for factor, weight in sorted(bonus.weight_by_factor.items())},
    }


def build_draw_data(
    draw_number: int,
    drawn_balls: DrawnBalls,
    ways: Sequence[WayResult],
    paid_credits: Sequence[int],
    hit_level_ids: Sequence[str],
) -> dict[str, Json]:
    """Return the screen data of one Keno draw: the balls in their order, and the catch and pay of every way.

    ``hit_level_ids`` are the ids of the progressive levels that the draw's ways have won.
    """
    return {
        "draw": draw_number,
        "balls": list(drawn_balls.balls),
        "multipliers": dict(drawn_balls.factor_by_bonus_id),
        "ways": [
            {
                "selection": way.selection_index,
                "numbers": list(way.numbers),
                "hits": list(way.caught_numbers),
                "factor": way.factor,
                "credits": credits_,
            }
            for way, credits_ in zip(ways, paid_credits, strict=True)
        ],
        "progressives": list(hit_level_ids),
        "credits": sum(paid_credits),
    }


def build_game_data(
    definition: KenoDefinition,
    ticket: KenoTicket,
    is_quick_pick_by_selection: Sequence[bool],
    shown_draws: Sequence[Json],
) -> dict[str, Json]:
    """Return the screen data of a whole Keno game: the ticket, its quick-picked selections, and draws in order."""
    return {
        "kind": "keno",
        "numbers": definition.field.number_count,
        "columns": definition.field.column_count,
        "selections": [
            {**selection.to_json(), "quick_pick": quick}
            for selection, quick in zip(ticket.selections, is_quick_pick_by_selection, strict=True)
        ],
        "bonuses": list(ticket.bonuses_in_force.bought_ids),
        "draws": list(shown_draws),
    }
