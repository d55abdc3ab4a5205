"""Rulings on a game that cannot end: forfeited as disrupted, or its wager refunded (Québec ss. 94-95)."""

from contextlib import suppress

from egm.kernel.credits import CreditKind, parted
from egm.kernel.events import Event
from egm.kernel.keys import KernelKey
from egm.kernel.machine import Machine
from egm.play import player_protection as protection
from egm.play.common_round import next_is_recorded
from egm.play.conversation import NO_REPLAY, Conversation, decided_bets, replay
from egm.play.definitions import definition_of
from egm.play.endings import stakes_are_back, table_after
from egm.play.rounds import chance_is_ready, has_won_already, waits_for_wheel
from egm.progressive import game_levels as progressives
from egm.records.game_record import GameRecord
from egm.records.games import PUSH, GameInProgress, open_game, staked_in
from egm.records.keys import PlayKey
from egm.records.wheel import recorded_number
from egm.staff.form import ruling_details, says
from meters import Transfer
from paytables import Settlement


def game_is_forfeit(machine: Machine, event: Event) -> bool:
    """A game is open, the place forfeits it, and the reason is said."""
    forfeits = machine.profile.by_hand.forfeits
    return "game" in forfeits and open_game(machine) is not None and says(event, "reason")


def forfeit_game(machine: Machine, event: Event) -> None:
    """A disrupted game gives neither prize nor refund (Québec s.94)."""
    void_game(machine, refund=False, **ruling_details(machine, event, ruling="disrupted"))


def game_waits_for_chance(machine: Machine, _: Event) -> bool:
    """Nothing recorded says how the open game goes on, and the generator has failed or no wheel is heard."""
    game = open_game(machine)
    if game is None or _goes_on_from_the_journal(machine, game):
        return False
    return not chance_is_ready(machine) or waits_for_wheel(machine)


def _goes_on_from_the_journal(machine: Machine, game: GameRecord) -> bool:
    """Whether what the game comes to next is recorded: its outcome, its spin, or another seat's step."""
    return _is_decided(machine, game) or next_is_recorded(machine, game)


def _is_decided(machine: Machine, game: GameRecord) -> bool:
    """Whether an entry decides the game: its own outcome, or the number of the spin that it was played on."""
    return game.outcome is not None or recorded_number(machine, game) is not None


def game_cannot_end(machine: Machine, event: Event) -> bool:
    """The open game cannot be taken up from its record; or what decides it is missing, with nothing won yet.

    What is won already can be collected without a number: it is never refunded away.
    """
    if open_game(machine) is None:
        return False
    return "game_defective" in machine.faults or (
        game_waits_for_chance(machine, event) and not has_won_already(machine)
    )


def refund_game(machine: Machine, event: Event) -> None:
    """A paid game that the machine cannot finish gives the stake back (Québec s.95)."""
    refund = machine.profile.pay_out.defect == "refund"
    void_game(machine, refund=refund, **ruling_details(machine, event, ruling="defect"))


def void_game(machine: Machine, /, *, refund: bool, **details: object) -> None:
    """Close the open game, giving back what of its stakes is not decided or not: never both prize and refund.

    What was staked of each kind of credit goes back to that kind, and what was hit of progressive levels to
    the levels. Bets of a table that the game has decided already stay decided, and what they won is paid; its
    table stays as it stood before. The entry says who ruled so and why, and what the record held: whether the
    game was decided, and what it had won.
    """
    game = open_game(machine)
    if game is None:
        return
    decided = decided_bets(_conversation(machine, game)) if refund else ()
    back, won = _settled(machine, game, decided) if refund else ((), ())
    back_cents = sum(part.amount_cents for part in back)
    won_cents = sum(part.amount_cents for part in won)
    returned, levels = progressives.give_back(machine, game)
    machine.record(
        "game.void",
        transaction_id=f"{game.play_id}.void",
        transfers=(*back, *won, *returned),
        counts={"games_void": 1},
        state={
            PlayKey.GAME: None,
            **(table_after(machine, game) if stakes_are_back(machine, game) else {}),
            f"{KernelKey.FAULT}game_defective": None,
            **levels,
            **protection.counted(machine, won_cents=back_cents + won_cents),
        },
        details={
            "play_id": game.play_id,
            "refund_cents": back_cents,
            **({"settled": [each.to_json() for each in decided]} if decided else {}),
            "recorded": {
                "decided": _is_decided(machine, game),
                "win_cents": None if game.outcome is None else game.returned_cents,
                "levels_cents": progressives.award_cents(machine, game),
            },
            **details,
        },
    )
    machine.state(GameInProgress).conversation = None


def _conversation(machine: Machine, game: GameRecord) -> Conversation | None:
    """The open game as far as it has come; None where its record does not replay."""
    with suppress(*NO_REPLAY):
        return replay(definition_of(machine, game.game), game)
    return None


def _settled(
    machine: Machine, game: GameRecord, decided: tuple[Settlement, ...]
) -> tuple[tuple[Transfer, ...], tuple[Transfer, ...]]:
    """What goes back of the stakes that nothing has decided, and what those that are decided come to."""
    unit_cents, staked = game.denomination_cents, staked_in(machine, game)
    over_cents = sum(each.staked for each in decided) * unit_cents
    push_cents = sum(each.credits for each in decided if each.gives_back) * unit_cents
    staked_cents = sum(cents for _, cents in staked)
    if stakes_are_back(machine, game):  # a cut came before its end: what is back is not refunded too
        over_cents = min(game.push_cents, staked_cents)
    amounts_cents = (over_cents - push_cents, push_cents, staked_cents - over_cents)
    _, pushed, rest = parted(staked, amounts_cents, machine.position)
    win_cents = sum(each.credits for each in decided) * unit_cents - push_cents
    credit = machine.credit(CreditKind.CASHABLE)
    return (
        tuple(Transfer("house:refund_defect", account, cents) for account, cents in rest),
        (
            *([Transfer("house:win", credit, win_cents)] if win_cents else ()),
            *(Transfer(PUSH, account, cents) for account, cents in pushed),
        ),
    )
