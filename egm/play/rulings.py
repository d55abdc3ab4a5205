"""Rulings on a game that cannot end: forfeited as disrupted, or its wager refunded (Québec ss. 94-95)."""

from egm.kernel.credits import given_back
from egm.kernel.events import Event
from egm.kernel.keys import KernelKey
from egm.kernel.machine import Machine
from egm.play import player_protection as protection
from egm.play.rounds import chance_is_ready, has_won_already
from egm.progressive import game_levels as progressives
from egm.records.games import GameInProgress, open_game
from egm.records.keys import PlayKey
from egm.staff.form import ruling_details, says
from meters import Transfer


def game_is_forfeit(machine: Machine, event: Event) -> bool:
    """A game is open, the place forfeits it, and the reason is said."""
    forfeits = machine.profile.by_hand.forfeits
    return "game" in forfeits and open_game(machine) is not None and says(event, "reason")


def forfeit_game(machine: Machine, event: Event) -> None:
    """A disrupted game gives neither prize nor refund (Québec s.94)."""
    void_game(machine, refund=False, **ruling_details(machine, event, ruling="disrupted"))


def game_waits_for_chance(machine: Machine, _: Event) -> bool:
    """The open game is not decided, and the generator has failed."""
    game = open_game(machine)
    return not chance_is_ready(machine) and game is not None and game.outcome is None


def game_cannot_end(machine: Machine, event: Event) -> bool:
    """The open game cannot be taken up from its record; or the generator has failed, and nothing is won yet.

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
    """Close the open game without a prize, giving the stake back or not: never both prize and refund.

    What was wagered of each kind of credit goes back to that kind, and what was hit of progressive levels to
    the levels. The entry says who ruled so and why, and what the record held: whether the game was decided,
    and what it had won.
    """
    game = open_game(machine)
    if game is None:
        return
    start = machine.journal.get(f"{game.play_id}.start")
    stake = tuple(t for t in start.transfers if t.target == "house:wager") if start is not None else ()
    if game.staked is not None:  # before a clear, in another journal
        stake = tuple(Transfer(source, "house:wager", cents) for source, cents in game.staked)
    back = given_back(stake, "house:refund_defect") if refund else ()
    back_cents = sum(part.amount_cents for part in back)
    returned, levels = progressives.give_back(machine, game)
    machine.record(
        "game.void",
        transaction_id=f"{game.play_id}.void",
        transfers=(*back, *returned),
        counts={"games_void": 1},
        state={
            PlayKey.GAME: None,
            f"{KernelKey.FAULT}game_defective": None,
            **levels,
            **protection.counted(machine, won_cents=back_cents),
        },
        details={
            "play_id": game.play_id,
            "refund_cents": back_cents,
            "recorded": {
                "decided": game.outcome is not None,
                "win_cents": None if game.outcome is None else game.win_cents,
                "levels_cents": progressives.award_cents(machine, game),
            },
            **details,
        },
    )
    machine.state(GameInProgress).conversation = None
