"""How the bank of pai gow sets its four tiles."""

from paytables.poker.tiles.schema import PaiGowDefinition
from paytables.poker.tiles.tiles import find_hand_value_index
from paytables.poker.two_hands import HandSetting


def choose_bank_setting(definition: PaiGowDefinition, settings: tuple[HandSetting, ...]) -> HandSetting:
    """Return the setting of four tiles that the house way prescribes, chosen from ``settings``."""
    house_way = definition.house_way
    return max(
        settings,
        key=lambda setting: (
            house_way.low_hand_worths[find_hand_value_index(setting.low_strength)]
            + house_way.high_hand_worths[find_hand_value_index(setting.high_strength)]
        ),
    )
