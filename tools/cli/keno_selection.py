"""Keno tickets as written in command arguments."""

from collections.abc import Sequence

import click

from paytables.contract import Json
from tools.cli.whole_number import parse_whole_number


def parse_selection(text: str, stake_options: Sequence[int]) -> dict[str, Json]:
    """Parse a Keno selection such as ``3,11,27/42,80@3:1,5:2`` or ``?8``, which is a quick pick of eight numbers.

    Slashes separate groups of numbers. After ``@``, each pair has a count of spots and the stake on every combination
    of groups with that number of spots: here 1 on combinations of 3 spots, and 2 on combinations of 5 spots.
    ``stake_options`` are the possible stakes; the lowest is used if the text has no ``@``.
    """
    groups_text, at_sign, stakes_text = text.partition("@")
    try:
        groups: list[Json] = [
            _parse_number(part[1:])
            if part.startswith("?")
            else [_parse_number(number) for number in part.split(",")]
            for part in groups_text.split("/")
        ]
        stake_pairs = [pair.split(":") for pair in stakes_text.split(",")] if at_sign else []
        spots_and_stakes = [(_parse_number(spots), _parse_number(stake)) for spots, stake in stake_pairs]
    except ValueError:
        raise click.BadParameter(
            f"{text!r} is not a selection of numbers: write it as 3,11,27/42,80@3:1,5:2 or ?8 (quick pick of 8)"
        ) from None
    spot_count = sum(group if isinstance(group, int) else len(group) for group in groups)
    stake_by_spot_count = {str(spots): stake for spots, stake in spots_and_stakes}
    if len(stake_by_spot_count) < len(spots_and_stakes):
        raise click.BadParameter(f"{text!r}: a number of spots has two stakes")
    return {"groups": groups, "stakes": stake_by_spot_count or {str(spot_count): min(stake_options)}}


def _parse_number(text: str) -> int:
    """Return the number in a selection. Raises ValueError unless it is written as digits."""
    number = parse_whole_number(text.strip())
    if number is None:
        raise ValueError(f"{text!r} is not a number")
    return number


def build_ticket_request(
    selections: Sequence[str], stake_options: Sequence[int], draws: int, bonuses: Sequence[str]
) -> dict[str, Json]:
    """Return the request for a Keno ticket, as :func:`paytables.keno.ticket.parse_request` reads it.

    ``stake_options`` are the possible stakes; the lowest is used for a selection without one.
    """
    return {
        "selections": [parse_selection(text, stake_options) for text in selections],
        "draws": draws,
        "bonuses": list(bonuses),
    }
