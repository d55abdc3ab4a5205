"""Check rounds in which players win each other's stakes, by what the screens of their positions showed.

The venue wins and loses nothing in such a round, except what it keeps by the rules: the commission of a poker room, and
of a bank that wins at chemin de fer. The audit replays each game with the rules that played it; here the
stakes and returns of all positions are added up.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from egm.kernel.messages import GameOutcome

_CHEMIN_DE_FER_GAME: Final = "monaco-chemin-de-fer"
_BANK_COMMISSION_PERCENT: Final = 5
#: Games in which players always play against each other.
GAMES_BETWEEN_PLAYERS: Final = frozenset(
    {"quebec-texas-holdem-room", "quebec-omaha-room", "quebec-seven-card-stud-room", _CHEMIN_DE_FER_GAME}
)


def find_unbalanced_rounds(
    plays_by_round: Iterable[tuple[str, str]], outcome_by_play: Mapping[str, GameOutcome]
) -> Iterator[str]:
    """Yield a text for each round in which all positions together lost more or less than the venue keeps.

    ``plays_by_round`` has pairs of a round's id and the id of a game played in it. A round is left out if a screen has
    not shown one of its games to the end, because that game was refunded, or paid at a memory clear.
    """
    play_ids: defaultdict[str, set[str]] = defaultdict(set)
    for round_id, play_id in plays_by_round:
        play_ids[round_id].add(play_id)
    for round_id, round_play_ids in sorted(play_ids.items()):
        plays = [outcome_by_play[play_id] for play_id in sorted(round_play_ids) if play_id in outcome_by_play]
        if len(plays) < len(round_play_ids) or plays[0].game_id not in GAMES_BETWEEN_PLAYERS:
            continue
        lost_credits = sum(play.bet_credits - play.returned_credits for play in plays)
        kept_credits = _find_kept_credits(plays)
        if {lost_credits} != kept_credits:
            kept_text = " or ".join(map(str, sorted(kept_credits)))
            yield f"round {round_id}: the players lost {lost_credits} credits, the venue kept {kept_text}"


def _find_kept_credits(plays: Sequence[GameOutcome]) -> set[int]:
    """Return the credits that the venue keeps of a round, as each position shows them.

    The set has one number if all positions agree.
    """
    if plays[0].game_id != _CHEMIN_DE_FER_GAME:
        return {int(play.display.get("commission", 0)) for play in plays}
    banks = [settlement for play in plays for settlement in play.settlements if settlement["spot"] == "bank"]
    winning_stakes = [
        settlement["staked"] for settlement in banks if settlement["credits"] > settlement["staked"]
    ]
    return {sum(winning_stakes) * _BANK_COMMISSION_PERCENT // 100}
