"""Roulette bets on neighbouring pockets: the straight-up spots of a pocket and its neighbours in wheel order."""

from egm.screen.table import TableGameData


def list_neighbour_spots(table: TableGameData, pocket: str, each_side: int) -> tuple[str, ...]:
    """Return the straight-up spots of a pocket and of ``each_side`` pockets on either side of it on the wheel.

    Empty if the wheel has no such pocket.
    """
    if pocket not in table.wheel_pockets:
        return ()
    pocket_index, count = table.wheel_pockets.index(pocket), len(table.wheel_pockets)
    straight = map_pockets_to_straight_up_spots(table)
    neighbours = (
        table.wheel_pockets[(pocket_index + step) % count] for step in range(-each_side, each_side + 1)
    )
    return tuple(straight[each] for each in neighbours if each in straight)


def map_pockets_to_straight_up_spots(table: TableGameData) -> dict[str, str]:
    """Return the id of each pocket's straight-up spot (a bet on this pocket only), by pocket.

    The spots are those of the first group of spots that cover one pocket each.
    """
    straight_spots = [spot for spot in table.spots.values() if len(spot.covered_pockets) == 1]
    return {
        spot.covered_pockets[0]: spot.id for spot in straight_spots if spot.group == straight_spots[0].group
    }
