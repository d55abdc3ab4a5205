"""Mystery levels a controller keeps: it finds who has won as it counts, and the machine makes that durable.

The wager feeds the level like any other; whether its contribution carried the level to the secret amount is
known once it is counted, while the game is shown: the game ends no sooner. What was won is added to the game,
with the secret that was fixed beforehand, and paid with it.

Where the controller is silent the game waits, or an attendant lets it end as the profile says. A prize heard
of after that is owed to whoever played that game: it locks the machine, and is paid by hand (I-09).
"""

from collections.abc import Callable, Sequence
from typing import Any, Final

from egm.cabinet import play, progressives
from egm.cabinet.cabinet import Cabinet, Key, Occurrence
from egm.cabinet.games import MYSTERY_WON, open_game
from egm.link.messages import Notice
from egm.progressive.messages import Won
from meters import Phase, Transfer


def note_seal(cabinet: Cabinet, level: str, prize: int, commitment: str) -> None:
    """Record the commitment to a prize's secret amount when first heard, before any wager plays for it."""
    key, sealed = f"{Key.SEALED}{level}", {"prize": prize, "commitment": commitment}
    if cabinet.journal.state(key) != sealed:
        cabinet.record("progressive.sealed", state={key: sealed}, story={"pool": level, **sealed})


def is_recorded(cabinet: Cabinet, claim: str) -> bool:
    """Whether the machine knows of a prize, whatever it made of it."""
    return cabinet.journal.get(_entry(claim)) is not None


def record_mystery(cabinet: Cabinet, occurrence: Occurrence) -> None:
    """Add a prize to the game that won it; a game already closed has it paid by hand, when that is possible.

    Told again, it changes nothing. A prize for no wager of this machine is recorded, and not paid.
    """
    level, won = str(occurrence.values["level"]), occurrence.values["won"]
    if is_recorded(cabinet, won.claim):
        return
    game = open_game(cabinet)
    if game is not None and _fed(game, level, won.sequence):
        _win(cabinet, game, level, won)
        return
    earlier = _earlier(cabinet, level, won.sequence)
    if earlier is None:
        cabinet.record(
            "progressive.not_ours", transaction_id=_entry(won.claim), story=_story(cabinet, level, won)
        )
    elif cabinet.journal.get(f"{earlier['play_id']}.void") is not None:
        _give_back(cabinet, earlier, level, won)
    elif _is_free(cabinet, game):
        _pay_by_hand(cabinet, earlier, level, won)


def tell_award(cabinet: Cabinet, occurrence: Occurrence) -> None:
    """The screen is told the open game again, with the amount now locked (AR 29.1(b))."""
    game = open_game(cabinet)
    if game is not None and any(
        award.claim == occurrence.values["claim"] for award in progressives.awards(cabinet, game)
    ):
        _tell(cabinet)


def _tell(cabinet: Cabinet) -> None:
    told = play.message(cabinet, resumed=False)
    if told is not None:
        cabinet.outbox.show(told)


# ---------------------------------------------------------------------------------------------- which game
def _fed(game: dict[str, Any], level: str, sequence: int) -> bool:
    return any(share["pool"] == level and share.get("sequence") == sequence for share in game.get("fed", ()))


def _earlier(cabinet: Cabinet, level: str, sequence: int) -> dict[str, Any] | None:
    """The game whose wager made a contribution, from the newest back."""
    for entry in cabinet.journal.entries("game.start", newest_first=True):
        game: dict[str, Any] = dict(entry.record)  # type: ignore[arg-type]  # a game.start is an object
        made = [s["sequence"] for s in game.get("fed", ()) if s["pool"] == level and "sequence" in s]
        if sequence in made:
            return game
        if made and max(made) < sequence:
            return None
    return None


def _is_free(cabinet: Cabinet, game: dict[str, Any] | None) -> bool:
    """Whether a hand-pay can be opened now: no game is on, and nothing else is being paid."""
    return game is None and cabinet.recall(Key.HANDPAY) is None and cabinet.recall(Key.PAY_OUT) is None


# -------------------------------------------------------------------------------------------- what is written
def _entry(claim: str) -> str:
    return f"{claim}.won"


def _story(cabinet: Cabinet, level: str, won: Won) -> dict[str, Any]:
    """The prize with its secret, and the commitment this machine had heard of it, if any."""
    sealed: Any = cabinet.journal.state(f"{Key.SEALED}{level}")
    heard = sealed is not None and sealed["prize"] == won.trigger.number
    return {
        "pool": level,
        "claim": won.claim,
        "sequence": won.sequence,
        "amount_cents": won.amount_cents,
        "order": won.order,
        "trigger": won.trigger.to_json(),
        "commitment": sealed["commitment"] if heard else None,
        "proved": won.trigger.commitment == sealed["commitment"] if heard else None,
    }


def _claim(cabinet: Cabinet, game: dict[str, Any], level: str, won: Won, way: str | None) -> dict[str, Any]:
    """What memory keeps until the controller has closed the claim."""
    kept = {
        "pool": level,
        "level": _name(game, level),
        "mystery": True,
        "after": won.sequence,
        "shown_cents": won.amount_cents,
        "play_id": game["play_id"],
        "game": game["game"]["id"],
        "at_utc": cabinet.clock.now().isoformat(),
        "amount_cents": won.amount_cents,
        "way": way,
        "unanswered": False,
    }
    return {f"{Key.CLAIM}{won.claim}": kept}


def _name(game: dict[str, Any], level: str) -> str:
    """The game's own name of a level."""
    return next((name for name, pool in game["pools"].items() if pool == level), level)


def _win(cabinet: Cabinet, game: dict[str, Any], level: str, won: Won) -> None:
    hit = {
        "pool": level,
        "level": _name(game, level),
        "mystery": True,
        "claim": won.claim,
        "amount_cents": won.amount_cents,
    }
    story = _story(cabinet, level, won)
    cabinet.record(
        MYSTERY_WON,
        transaction_id=_entry(won.claim),
        state=_claim(cabinet, game, level, won, None),
        story={"play_id": game["play_id"], **story, "hits": [hit]},
    )
    cabinet.told_game = {**game, "hits": [*game.get("hits", ()), hit]}
    _warn(cabinet, story)
    _tell(cabinet)


def _give_back(cabinet: Cabinet, game: dict[str, Any], level: str, won: Won) -> None:
    """A void game has won nothing: the prize goes back to the level."""
    cabinet.record(
        MYSTERY_WON,
        transaction_id=_entry(won.claim),
        state=_claim(cabinet, game, level, won, "void"),
        story={"play_id": game["play_id"], **_story(cabinet, level, won), "late": "void"},
    )


def _pay_by_hand(cabinet: Cabinet, game: dict[str, Any], level: str, won: Won) -> None:
    """Reserve the prize of a game already closed for an attendant to pay."""
    reservation, story = _entry(won.claim), _story(cabinet, level, won)
    handpay = {
        "id": reservation,
        "kind": "progressive",
        "amount_cents": won.amount_cents,
        "pool": level,
        "play_id": game["play_id"],
    }
    progressives.register_hit(
        cabinet,
        game,
        f"{won.claim}.hit",
        pool=level,
        level=_name(game, level),
        amount_cents=won.amount_cents,
        way="hand",
    )
    cabinet.record(
        MYSTERY_WON,
        transaction_id=reservation,
        phase=Phase.RESERVE,
        transfers=(Transfer(f"house:progressive:{level}", "out:handpay_progressive", won.amount_cents),),
        dims=play.dims(game),
        state={**_claim(cabinet, game, level, won, "hand"), Key.HANDPAY: handpay},
        story={"play_id": game["play_id"], **story, "late": "hand"},
    )
    _warn(cabinet, story)


def _warn(cabinet: Cabinet, story: dict[str, Any]) -> None:
    """A secret that is not the one that was promised: the player is paid, and staff must look (I-07)."""
    if story["proved"] is False:
        cabinet.notice = Notice(code="progressive_unproved", severity="alarm")


GUARDS: Final[Sequence[Callable[[Cabinet, Occurrence], bool]]] = ()
EFFECTS: Final[Sequence[Callable[[Cabinet, Occurrence], None]]] = (record_mystery, tell_award)
