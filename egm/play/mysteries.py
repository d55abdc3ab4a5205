"""Mystery levels a controller keeps: it finds who has won as it counts, and the machine makes that durable.

The wager feeds the level like any other; whether its contribution carried the level to the secret amount is
known once it is counted, while the game is shown: the game ends no sooner. What was won is added to the game,
with the secret that was fixed beforehand, and paid with it.

Where the controller is silent the game waits, or an attendant lets it end as the profile says. A prize heard
of after that is owed to whoever played that game: it locks the machine, and is paid by hand (I-09).
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace

from egm.kernel.events import Event
from egm.kernel.machine import Machine
from egm.play import showing as play
from egm.progressive import game_levels as progressives
from egm.progressive import unproved
from egm.progressive.messages import Won
from egm.progressive.records import ClaimRecord, HeldPrize
from egm.record_codec import from_json
from egm.records.game_record import GameRecord, Hit, MysteryWon
from egm.records.games import CARRIED_GAME, MYSTERY_WON, GameInProgress, open_game
from egm.records.keys import MoneyKey, ProgressiveKey
from egm.records.money import HandpayRecord
from meters import Phase, Transfer


def record_mystery(machine: Machine, event: Event) -> None:
    """Add a prize to the game that won it; a game already closed has it paid by hand, when that is possible.

    Told again, it changes nothing. A prize for no wager of this machine is recorded, and not paid; one that
    is not proved is held until persons have ruled on it (:mod:`egm.progressive.unproved`).
    """
    level, won = str(event.data["level"]), event.data["won"]
    if machine.journal.knows(unproved.entry_of(won.claim)):
        return
    opened = open_game(machine)
    game = opened if opened is not None and _fed(opened, level, won.sequence) else None
    game = game or _earlier(machine, level, won.sequence)
    if game is None:
        machine.record(
            "progressive.not_ours",
            transaction_id=unproved.entry_of(won.claim),
            details=_details(machine, None, level, won),
        )
    elif _is_void(machine, game):
        _return(machine, game, level, won, "void")
    elif why := unproved.doubt_prize(machine, level, won):
        prize = HeldPrize(
            pool=level,
            play_id=game.play_id,
            amount_cents=won.amount_cents,
            why=why,
            ruling=None,
            won=won.model_dump(mode="json"),
        )
        unproved.hold(machine, won.claim, prize)
    elif opened is not None and game.play_id == opened.play_id:
        _win(machine, game, level, won)
    elif _is_free(machine, opened):
        _pay_by_hand(machine, game, level, won)


def ruled_prize_can_end(machine: Machine, _: Event) -> bool:
    """Persons have ruled on a prize that was held, and nothing is in the way of doing it."""
    return any(True for _ in _ruled(machine))


def end_ruled_prizes(machine: Machine, _: Event) -> None:
    """Do what persons have ruled of each held prize: it is paid by hand, or goes back to its level."""
    for key, ruling, game, level, won in _ruled(machine):
        if ruling == unproved.PAY:
            _pay_by_hand(machine, game, level, won, {key: None})
        else:
            _return(machine, game, level, won, "declined", {key: None})


def _ruled(machine: Machine) -> Iterator[tuple[str, str, GameRecord, str, Won]]:
    """Each prize whose ruling can be done now: its key, the ruling, its game, level and prize."""
    for claim, held in machine.memory.read_all(HeldPrize, ProgressiveKey.HELD).items():
        if held.ruling is None or not _is_free(machine, open_game(machine)):
            continue
        level, won = held.pool, Won.model_validate(held.won)
        game = _earlier(machine, level, won.sequence)
        if game is not None:
            yield f"{ProgressiveKey.HELD}{claim}", held.ruling, game, level, won


def tell_award(machine: Machine, event: Event) -> None:
    """The screen is told the open game again, with the amount now locked (AR 29.1(b))."""
    game = open_game(machine)
    if game is not None and any(
        award.claim == event.data["claim"] for award in progressives.awards(machine, game)
    ):
        _tell(machine)


def _tell(machine: Machine) -> None:
    told = play.message(machine, resumed=False)
    if told is not None:
        machine.outbox.show(told)


# ---------------------------------------------------------------------------------------------- which game
def _fed(game: GameRecord, level: str, sequence: int) -> bool:
    return any(share.pool == level and share.sequence == sequence for share in game.levels.fed)


def _earlier(machine: Machine, level: str, sequence: int) -> GameRecord | None:
    """The game whose wager made a contribution, from the newest back."""
    for entry in machine.journal.entries(("game.start", CARRIED_GAME), newest_first=True):
        game = from_json(GameRecord, entry.record, f"entry {entry.sequence}, {entry.kind}")
        made = [s.sequence for s in game.levels.fed if s.pool == level and s.sequence is not None]
        if sequence in made:
            return game
        if made and max(made) < sequence:
            return None
    return None


def _is_void(machine: Machine, game: GameRecord) -> bool:
    void = f"{game.play_id}.void"
    return game.ended == "game.void" or machine.journal.knows(void)


def _is_free(machine: Machine, game: GameRecord | None) -> bool:
    """Whether a hand-pay can be opened now: no game is on, and nothing else is being paid."""
    return (
        game is None
        and machine.memory.get(MoneyKey.HANDPAY) is None
        and machine.memory.get(MoneyKey.PAY_OUT) is None
    )


# -------------------------------------------------------------------------------------------- what is written


def _details(machine: Machine, game: GameRecord | None, level: str, won: Won) -> MysteryWon:
    """The prize with its secret, and the commitment this machine had heard of it, if any."""
    heard = unproved.commitment_heard(machine, level, won.trigger.number)
    return MysteryWon(
        play_id=None if game is None else game.play_id,
        pool=level,
        claim=won.claim,
        sequence=won.sequence,
        amount_cents=won.amount_cents,
        order=won.order,
        trigger=won.trigger.to_json(),
        commitment=heard,
        proved=not unproved.doubt_prize(machine, level, won),
    )


def _claim(machine: Machine, game: GameRecord, level: str, won: Won, way: str | None) -> dict[str, object]:
    """What memory keeps until the controller has closed the claim."""
    kept = ClaimRecord(
        pool=level,
        level=_name(game, level),
        mystery=True,
        after=won.sequence,
        shown_cents=won.amount_cents,
        play_id=game.play_id,
        game=game.game.id,
        at_utc=machine.clock.now().isoformat(),
        amount_cents=won.amount_cents,
        way=way,
        unanswered=False,
    )
    return {f"{ProgressiveKey.CLAIM}{won.claim}": kept}


def _name(game: GameRecord, level: str) -> str:
    """The game's own name of a level."""
    return next((name for name, pool in game.levels.pools.items() if pool == level), level)


def _win(machine: Machine, game: GameRecord, level: str, won: Won) -> None:
    hit = Hit(
        pool=level,
        level=_name(game, level),
        mystery=True,
        claim=won.claim,
        amount_cents=won.amount_cents,
    )
    machine.record(
        MYSTERY_WON,
        transaction_id=unproved.entry_of(won.claim),
        state=_claim(machine, game, level, won, None),
        details=replace(_details(machine, game, level, won), hits=(hit,)),
    )
    machine.state(GameInProgress).record = game.hitting((hit,))
    _tell(machine)


def _return(
    machine: Machine,
    game: GameRecord,
    level: str,
    won: Won,
    why: str,
    state: Mapping[str, object] | None = None,
) -> None:
    """The prize goes back to the level: its game was void, or persons have declined it."""
    machine.record(
        MYSTERY_WON,
        transaction_id=unproved.entry_of(won.claim),
        state={**_claim(machine, game, level, won, "void"), **(state or {})},
        details=replace(_details(machine, game, level, won), late=why),
    )


def _pay_by_hand(
    machine: Machine,
    game: GameRecord,
    level: str,
    won: Won,
    state: Mapping[str, object] | None = None,
) -> None:
    """Reserve the prize of a game already closed for an attendant to pay."""
    reservation = unproved.entry_of(won.claim)
    handpay = HandpayRecord(
        id=reservation,
        kind="progressive",
        amount_cents=won.amount_cents,
        pool=level,
        play_id=game.play_id,
    )
    progressives.register_hit(
        machine,
        game,
        f"{won.claim}.hit",
        pool=level,
        level=_name(game, level),
        amount_cents=won.amount_cents,
        way="hand",
    )
    machine.record(
        MYSTERY_WON,
        transaction_id=reservation,
        phase=Phase.RESERVE,
        transfers=(Transfer(f"house:progressive:{level}", "out:handpay_progressive", won.amount_cents),),
        dims=game.dims,
        state={**_claim(machine, game, level, won, "hand"), MoneyKey.HANDPAY: handpay, **(state or {})},
        details=replace(_details(machine, game, level, won), late="hand"),
    )
