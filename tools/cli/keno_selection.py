"""Keno tickets as written in command arguments."""

from collections.abc import Sequence

import click

from paytables.contract import Json


def parse_selection(text: str, stakes: Sequence[int]) -> dict[str, Json]:
    """Parse ``3,11,27/42,80@3:1,5:2``: groups of numbers, then the stake for each number of spots.

    ``?8`` is a quick pick of eight numbers.
    """
    marks, _, draws_text = text.partition("@")
    try:
        groups: list[Json] = [
            int(part[1:]) if part.startswith("?") else [int(n) for n in part.split(",")]
            for part in marks.split("/")
        ]
        pairs = [pair.split(":") for pair in draws_text.split(",")] if draws_text else []
        staked = {str(int(spots)): int(stake) for spots, stake in pairs}
    except ValueError:
        raise click.BadParameter(f"{text!r}: write it as 3,11,27/42,80@3:1,5:2 or ?8 (quick pick)") from None
    spot_count = sum(g if isinstance(g, int) else len(g) for g in groups)
    return {"groups": groups, "stakes": staked or {str(spot_count): min(stakes)}}


def build_ticket_request(
    selections: Sequence[str], stakes: Sequence[int], draws: int, bonuses: Sequence[str]
) -> dict[str, Json]:
    """Return a Keno ticket as the options of a wager (:func:`paytables.keno.ticket.parse_request`).

    ``stakes`` are the possible stakes; the lowest is used for a selection without one.
    """
    return {
        "selections": [parse_selection(text, stakes) for text in selections],
        "draws": draws,
        "bonuses": list(bonuses),
    }
