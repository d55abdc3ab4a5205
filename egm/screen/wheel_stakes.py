"""The player's stakes on the betting areas of a wheel game, and the bet requests that they make.

This module knows no game rules; it only uses the areas and limits that the game published.
"""

from collections.abc import Mapping

from egm.kernel.messages import GameView, Intent, Snapshot


def is_wheel_game(game: GameView | None) -> bool:
    """Return whether the game is a wheel with betting areas on which the player places stakes.

    A reel game that has a wheel as a feature is not.
    """
    return game is not None and "areas" in game.presentation


def find_wheel_turns_min(game: GameView | None) -> int:
    """Return how many turns a spin of this game's wheel needs to be valid, or 0 without a minimum."""
    return int(game.presentation.get("revolutions") or 0) if game is not None else 0


def read_area_stakes(game: GameView, snapshot: Snapshot) -> dict[str, int]:
    """Return the stake on each area of the current bet, in credits.

    If the bet names no areas, return the stakes of the first preset bet with the same cost; empty without one.
    """
    stake_by_area = snapshot.bet_wager.get("bets")
    if isinstance(stake_by_area, Mapping):
        return {str(area): int(stake) for area, stake in stake_by_area.items()}
    for preset_bet in game.presentation.get("forms", ()):
        for stake in game.presentation["layout"]["stakes"]:
            if stake * len(preset_bet["areas"]) == snapshot.bet_credits:
                return dict.fromkeys(preset_bet["areas"], stake)
    return {}


def build_next_area_stake_requests(game: GameView, snapshot: Snapshot, area: str) -> tuple[Intent, ...]:
    """Return the request for the next higher stake on a betting area of the wheel; after the highest, for no stake.

    Stakes with which the bet would cost too much or have too many areas are skipped. If no other area has a stake,
    the stake on this area is not removed: the lowest stake follows the highest one.
    """
    area_rules, current_stakes = game.presentation["layout"], read_area_stakes(game, snapshot)
    possible_stakes = [0, *area_rules["stakes"]]
    other_stakes = {name: stake for name, stake in current_stakes.items() if name != area}
    current_stake = current_stakes.get(area, 0)
    index = possible_stakes.index(current_stake) if current_stake in possible_stakes else 0
    for step in range(1, len(possible_stakes) + 1):
        stake = possible_stakes[(index + step) % len(possible_stakes)]
        new_stakes = {**other_stakes, area: stake} if stake else other_stakes
        exceeds_cost = area_rules.get("cost") is not None and sum(new_stakes.values()) > area_rules["cost"]
        has_too_many_areas = area_rules.get("areas") is not None and len(new_stakes) > area_rules["areas"]
        if new_stakes and not exceeds_cost and not has_too_many_areas:
            return (Intent(name="bet", value=sum(new_stakes.values()), options={"bets": new_stakes}),)
    return ()
