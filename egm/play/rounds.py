"""Game rounds: each is decided and durable before it is shown, and never decided twice.

``start_game`` draws every number of the first step, evaluates, and journals wager, draws and outcome as one
transaction; only then is the screen told. ``end_game`` journals the win. Between the two the game is in the
memory under :attr:`PlayKey.GAME`, and a restart replays it from its recorded draws: the same numbers, the
same outcome, the same picture. A game that asks the player something is a conversation of such steps.
"""

from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import replace
from typing import Any

from egm.errors import InvariantError
from egm.kernel import messages
from egm.kernel.credits import CreditKind
from egm.kernel.events import Event, EventType, SupersededBy
from egm.kernel.games import Selection
from egm.kernel.machine import Machine
from egm.kernel.messages import HandpayKind, Notice
from egm.money.host.controls import game_is_allowed
from egm.play import player_protection as protection
from egm.play import prizes_in_kind as merchandise
from egm.play.common_draw import RoundInCommon, round_id
from egm.play.conversation import (
    NO_REPLAY,
    Conversation,
    Recorded,
    replay,
    without_chance,
)
from egm.play.definitions import GameDefectiveError, definition_of, keeping
from egm.progressive import game_levels as progressives
from egm.progressive.bet import bet_in_force, bet_of
from egm.progressive.round import Round
from egm.record_codec import to_json
from egm.records.game_record import DrawRecord, GameChoice, GameName, GamePointer, GameRecord, LastGame, Step
from egm.records.games import GameInProgress, open_game
from egm.records.keys import IntegrityKey, MoneyKey, PlayKey, ProgressiveKey
from egm.records.money import HandpayRecord
from meters import Phase, Transfer
from meters.transaction import JSON
from paytables import (
    Choice,
    Outcome,
)
from rng import OutOfService, RngError


# ---------------------------------------------------------------------------------------------- guards
def bet_is_covered(machine: Machine, _: Event) -> bool:
    """The credits pay for the bet, and the bet is one the game and the profile offer."""
    bet = bet_in_force(machine)
    return bet is not None and _is_taken_here(machine, bet.cents) and bet.cents <= machine.credit_cents


def chance_is_ready(machine: Machine, _: Event | None = None) -> bool:
    """The generator is in service."""
    return machine.chance is not None and machine.memory.get(IntegrityKey.OUT_OF_SERVICE) is None


def choice_may_be_taken(machine: Machine, event: Event) -> bool:
    """The generator is in service, or the choice needs no number: what is won already can be collected."""
    value = event.data.get("value")
    return chance_is_ready(machine) or any(value == option for option, _ in _without_chance(machine))


def has_won_already(machine: Machine) -> bool:
    """Some answer to the open question ends the game with a win, and needs no number for it."""
    outcomes = [outcome for _, outcome in _without_chance(machine) if outcome is not None]
    return any(end.win_credits or end.progressives or end.merchandise for end in outcomes)


def _without_chance(machine: Machine) -> list[tuple[JSON, Outcome | None]]:
    game = open_game(machine)
    with suppress(*NO_REPLAY):
        return [] if game is None else without_chance(definition_of(machine, game.game), game)
    return []


def bet_is_offered(machine: Machine, event: Event) -> bool:
    """The game offers this bet, and it is neither under the least nor over the most of the place."""
    credits_, options = event.data.get("value"), event.data.get("options") or {}
    if not isinstance(credits_, int) or isinstance(credits_, bool) or not isinstance(options, Mapping):
        return False
    asked = replace(machine.selection, bet_credits=credits_, options=options)
    return _is_taken_here(machine, asked.bet_cents) and bet_of(machine, asked) is not None


def game_is_offered(machine: Machine, event: Event) -> bool:
    """The game is resident, and no host has disabled it."""
    game_id = event.data.get("value")
    return game_id in machine.games and game_is_allowed(machine, str(game_id))


def denomination_is_offered(machine: Machine, event: Event) -> bool:
    """This cabinet offers the selected game at this denomination."""
    offered = machine.denominations_cents.get(machine.selection.game_id, ())
    return event.data.get("value") in offered


def language_is_offered(machine: Machine, event: Event) -> bool:
    """A language of the profile."""
    return event.data.get("value") in machine.profile.languages


def choice_is_offered(machine: Machine, event: Event) -> bool:
    """The open decision has this option."""
    conversation: Conversation | Recorded | None = machine.state(GameInProgress).conversation
    decision = conversation.decision if conversation is not None else None
    return decision is not None and event.data.get("value") in decision.options


def is_this_game(machine: Machine, event: Event) -> bool:
    """The animation that ended is that of the open game, and the game is decided."""
    game = open_game(machine)
    return game is not None and game.outcome is not None and event.data.get("value") == game.play_id


def win_is_paid_by_hand(machine: Machine, _: Event) -> bool:
    """The win is a large one, is reported for tax, or holds a level or a prize that needs a person's hand."""
    game = _the_game(machine)
    won_cents = game.win_cents + progressives.award_cents(machine, game)
    tax_cents = machine.profile.by_hand.tax_cents
    return (
        won_cents >= machine.profile.pay_out.large_win_cents
        or (tax_cents is not None and won_cents >= tax_cents)
        or progressives.need_a_hand(machine, game)
        or bool(merchandise.won(machine, game))
    )


def _is_taken_here(machine: Machine, bet_cents: int) -> bool:
    """A bet of so much is neither under the least nor over the most of the place."""
    rules = machine.profile.play
    return rules.bet_minimum_cents <= bet_cents <= rules.bet_limit_cents and bet_cents > 0


# ---------------------------------------------------------------------------------------------- effects
def set_bet(machine: Machine, event: Event) -> None:
    """Remember the bet."""
    options = dict(event.data.get("options") or {})
    machine.select(replace(machine.selection, bet_credits=int(event.data["value"]), options=options))


def select_game(machine: Machine, event: Event) -> None:
    """Turn to another game at its smallest bet; a credit keeps its price where the game offers it."""
    game_id = str(event.data["value"])
    offered, before_cents = machine.denominations_cents[game_id], machine.selection.denomination_cents
    denomination_cents = before_cents if before_cents in offered else offered[0]
    machine.select(
        Selection(
            game_id=game_id,
            denomination_cents=denomination_cents,
            bet_credits=machine.least_bet(game_id, denomination_cents),
            language=machine.selection.language,
        )
    )
    if denomination_cents != before_cents:
        machine.notice = Notice(code="denomination_changed", values={"amount_cents": denomination_cents})


def select_denomination(machine: Machine, event: Event) -> None:
    """Change what a credit is worth. Balances are kept in money, so no credit changes its value (O-05)."""
    machine.select(replace(machine.selection, denomination_cents=int(event.data["value"])))


def set_language(machine: Machine, event: Event) -> None:
    """Speak the player's language."""
    machine.select(replace(machine.selection, language=str(event.data["value"])))


def start_game(machine: Machine, _: Event) -> None:
    """Draw, evaluate, and journal the wager with its outcome; then show it."""
    machine.journal.check()  # nothing is played on a memory that has just gone bad
    bet = bet_in_force(machine)
    if bet is None:
        raise InvariantError("a game begins without a bet")
    rules, conversation = bet.game, Conversation(bet.game, bet.wager)
    play_id = machine.fresh_id("play")
    dealings = progressives.begin(machine, bet, play_id)
    draws = _advance(machine, conversation, None, dealings)
    game = GameRecord(
        play_id=play_id,
        game=GameName(id=rules.id, version=rules.version, digest=rules.digest),
        denomination_cents=bet.denomination_cents,
        bet_credits=bet.wager.credits,
        wager=bet.wager,
        language=machine.selection.language,
        credit_before_cents=machine.credit_cents,
        steps=(Step(choice=None, draws=draws),),
        outcome=conversation.outcome,
        levels=dealings.played,
        round_id=round_id(machine),
    )
    wagered = machine.take(bet.cents, "house:wager")
    machine.record(
        "game.start",
        transaction_id=f"{play_id}.start",
        transfers=(*wagered, *dealings.transfers),
        dims=game.dims,
        counts={"games_played": 1},
        state={
            PlayKey.GAME: GamePointer(play_id=play_id),
            **keeping(machine, rules),
            **progressives.state_of(machine, game, dealings),
            **protection.counted(machine, wagered_cents=bet.cents),
        },
        details=game,
    )
    machine.state(GameInProgress).conversation, machine.state(GameInProgress).record = conversation, game
    _show(machine, resumed=False)


def continue_game(machine: Machine, event: Event) -> None:
    """Journal the player's choice with the draws it led to; then show what follows."""
    choice = event.data["value"]
    game = _the_game(machine)
    dealings = progressives.go_on(machine, game)
    conversation = machine.state(GameInProgress).conversation
    draws = _advance(machine, conversation, choice, dealings)
    taken = GameChoice(
        play_id=game.play_id,
        choice=choice,
        draws=draws,
        outcome=conversation.outcome,
        hits=tuple(dealings.hits),
    )
    machine.record(
        "game.choice",
        transaction_id=f"{game.play_id}.choice-{len(game.steps)}",
        transfers=tuple(dealings.transfers),
        dims=game.dims if dealings.transfers else {},
        state=progressives.state_of(machine, game, dealings),
        details=taken,
    )
    machine.state(GameInProgress).record = game.after(taken)
    _show(machine, resumed=False)


def end_game(machine: Machine, _: Event) -> None:
    """Journal the win into the player's own credits, whatever was wagered, and close the game."""
    game = _the_game(machine)
    won_cents = game.win_cents
    progressives.register(machine, game, "credit")
    credit = machine.credit(CreditKind.CASHABLE)
    source = "house:double_up_win" if _post_double_up(machine, game) else "house:win"
    won = (Transfer(source, credit, won_cents),) if won_cents else ()
    transfers = (*won, *progressives.payment(machine, game, credit))
    machine.record(
        "game.end",
        transaction_id=f"{game.play_id}.end",
        transfers=transfers,
        dims=game.dims,
        counts={"games_won" if transfers else "games_lost": 1},
        state={**_ended(machine, game, transfers), **progressives.closing_state(machine, game, "credit")},
        details={"play_id": game.play_id, "win_cents": won_cents},
    )
    machine.state(GameInProgress).conversation = None


def end_game_by_hand(machine: Machine, _: Event) -> None:
    """Close the game with its whole win reserved for an attendant to pay (NZ 1.16.6; Monaco art. 19.4)."""
    game = _the_game(machine)
    won_cents = game.win_cents
    prizes = merchandise.won(machine, game)
    progressives.register(machine, game, "hand")
    _post_double_up(machine, game)
    merchandise.register(machine, game, prizes)
    won = (Transfer("house:attendant_jackpot", "out:handpay_jackpot", won_cents),) if won_cents else ()
    levels = progressives.payment(machine, game, "out:handpay_progressive")
    reservation = f"{game.play_id}.end"
    kind: HandpayKind = "progressive" if levels else "merchandise" if prizes else "jackpot"
    total_cents = sum(part.amount_cents for part in (*won, *levels))
    in_kind = {"prizes": [to_json(prize) for prize in prizes]} if prizes else {}
    pools = progressives.pools_paid(machine, game)
    machine.record(
        "game.end",
        transaction_id=reservation,
        phase=Phase.RESERVE,
        transfers=(*won, *levels, *merchandise.transfers(prizes)),
        dims=game.dims,
        counts={"games_won": 1},
        state={
            **_ended(machine, game, (*won, *levels)),
            **progressives.closing_state(machine, game, "hand"),
            MoneyKey.HANDPAY: HandpayRecord(
                id=reservation,
                kind=kind,
                amount_cents=total_cents,
                prizes=prizes,
                pool=pools,
                play_id=game.play_id if pools else "",
            ),
        },
        details={"play_id": game.play_id, "win_cents": won_cents, **in_kind},
    )
    machine.state(GameInProgress).conversation = None


def _post_double_up(machine: Machine, game: GameRecord) -> bool:
    """Post what a game won and put at stake again, once; say whether it did (D-08).

    What the last round left is the game's win, paid as any other: so this moves no credit for good.
    """
    stakes = () if game.outcome is None else game.outcome.double_up_stakes
    stakes_cents = [stake * game.denomination_cents for stake in stakes]
    entry_id = f"{game.play_id}.double_up"
    if stakes_cents and not machine.journal.knows(entry_id):  # else a cut came before the game's end
        credit = machine.credit(CreditKind.CASHABLE)
        moves: list[Transfer] = []
        for number, stake_cents in enumerate(stakes_cents):
            won = "house:double_up_win" if number else "house:win"
            moves += [
                Transfer(won, credit, stake_cents),
                Transfer(credit, "house:double_up_bet", stake_cents),
            ]
        machine.record(
            "game.double_up",
            transaction_id=entry_id,
            transfers=tuple(moves),
            dims=game.dims,
            details={"play_id": game.play_id, "stakes_cents": stakes_cents},
        )
    return bool(stakes_cents)


def _ended(machine: Machine, game: GameRecord, paid: tuple[Transfer, ...]) -> dict[str, object]:
    """What the end of a game sets in memory; the win shown is all it paid, levels included."""
    total_cents = sum(part.amount_cents for part in paid)
    return {
        PlayKey.GAME: None,
        PlayKey.LAST: LastGame(play_id=game.play_id, win_cents=total_cents),
        **protection.counted(machine, won_cents=total_cents),
    }


# ---------------------------------------------------------------------------------------------- recovery
def conversation_is_open(machine: Machine, _: Event) -> bool:
    """A game is still held as if it were shown."""
    return machine.state(GameInProgress).conversation is not None


def end_conversation(machine: Machine, _: Event) -> None:
    """What the screen says of a game that is not shown any more is not heard."""
    machine.state(GameInProgress).conversation = None


def game_is_not_taken_up(machine: Machine, _: Event) -> bool:
    """A game is open, and its conversation is not: after a restart, a door or a tilt."""
    return machine.state(GameInProgress).conversation is None


def take_game_up(machine: Machine, _: Event) -> Event | None:
    """Take the open game up from its record, and show it again. It is never drawn again.

    A decided game is shown and paid as it is recorded, whatever has become of what decided it; where its
    draws do not give the recorded outcome any more, that is recorded beside it, for a person to look into. A
    game not decided yet goes on by the definition it began with. One that cannot is defective: the machine
    tilts until it can, or until persons rule on it.
    """
    try:
        game = _the_game(machine)
        machine.state(GameInProgress).conversation = _taken_up(machine, game)
    except NO_REPLAY as error:
        return Event(EventType.FAULT_RAISED, {"code": "game_defective", "detail": str(error)})
    _show(machine, resumed=True)
    return None


def _taken_up(machine: Machine, game: GameRecord) -> "Conversation | Recorded":
    try:
        return replay(definition_of(machine, game.game), game)
    except NO_REPLAY as error:
        if game.outcome is None:
            raise
        merchandise.won(machine, game)  # what a prize in kind is worth, the definition alone says
        _note_difference(machine, game, error)
        return Recorded()


def _note_difference(machine: Machine, game: GameRecord, error: Exception) -> None:
    """Record once that a decided game does not replay; it is paid as recorded."""
    entry_id = f"{game.play_id}.differs"
    if not machine.journal.knows(entry_id):
        machine.record(
            "game.differs",
            transaction_id=entry_id,
            details={"play_id": game.play_id, "why": str(error), "win_cents": game.win_cents},
        )
    machine.notice = Notice(code="game_differs", severity="alarm")


class _NoNumbers:
    """The step of a generator that has failed: a choice that needs no number can still be taken."""

    draws: tuple[()] = ()

    def below(self, bound: int, purpose: str = "") -> int:
        raise OutOfService(f"no number below {bound} for {purpose}: the generator has failed")


def _next_step(machine: Machine) -> AbstractContextManager[Any]:
    ready = chance_is_ready(machine)
    return machine.chance.step() if ready and machine.chance is not None else nullcontext(_NoNumbers())


def _advance(
    machine: Machine, conversation: Conversation, choice: JSON, dealings: Round
) -> tuple[DrawRecord, ...]:
    """Take a step with fresh numbers; a failure before anything is journalled turns to its own event.

    The wager feeds its levels and the mystery prizes are drawn in the game's first step; what the outcome
    hit is locked in the step that decides it. Returns the game's own draws.
    """
    try:
        with _next_step(machine) as step:
            common = None if choice is not None else machine.state(RoundInCommon).draw
            if common is None:
                conversation.advance(step, None if choice is None else Choice(choice))
                draws = tuple((draw.bound, draw.value, draw.purpose) for draw in step.draws)
            else:
                seat = common.of_seat(step)
                conversation.advance(seat)
                draws = tuple(seat.drawn)
            if choice is None:
                dealings.feed(step)
            if conversation.outcome is not None:
                dealings.award(conversation.outcome.progressives)
            return draws
    except RngError as error:
        machine.state(
            GameInProgress
        ).conversation = None  # it broke off in the middle: the journal knows where it stood
        raise SupersededBy(Event(EventType.CHANCE_FAILED, {"detail": str(error)})) from error


def message(machine: Machine, *, resumed: bool) -> messages.Play | messages.Decision | None:
    """What the screen must be told of the open game: its outcome, or the question it waits on."""
    game = open_game(machine)
    conversation: Conversation | Recorded | None = machine.state(GameInProgress).conversation
    if game is None or (conversation is None and machine.memory.get(ProgressiveKey.AWAITING) is None):
        return None
    outcome = game.outcome
    if outcome is not None:
        return messages.Play(
            play_id=game.play_id,
            game_id=game.game.id,
            bet_credits=game.bet_credits,
            win_credits=outcome.win_credits,
            win_cents=game.win_cents + progressives.award_cents(machine, game),
            progressives=progressives.wins(machine, game),
            prizes=merchandise.views(merchandise.won(machine, game)),
            display=dict(outcome.display),
            resumed=resumed,
        )
    decision = None if conversation is None else conversation.decision
    if decision is None:
        return None
    return messages.Decision(
        play_id=game.play_id,
        kind=decision.kind,
        options=tuple(decision.options),
        display=dict(decision.prompt),
    )


def _show(machine: Machine, *, resumed: bool) -> None:
    told = message(machine, resumed=resumed)
    if told is not None:
        machine.outbox.show(told)


def _the_game(machine: Machine) -> GameRecord:
    game = open_game(machine)
    if game is None:
        raise GameDefectiveError("there is no game in progress")
    return game
