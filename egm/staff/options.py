"""Operator options: games, denominations, minimum and maximum bet, within the profile's limits.

Options only narrow what the cabinet file and the profile allow, and are stored in the journal. They are
changed behind an open door, without credits and without a game, by as many persons as the profile requires;
they take effect at the next start, so nothing changes while a player is at the machine.
"""

from dataclasses import replace
from typing import Final

from egm.kernel.events import Event
from egm.kernel.games import InstalledGames
from egm.kernel.machine import Machine
from egm.kernel.messages import Notice
from egm.kernel.rules import refusal_code
from egm.money.keys import MoneyKey
from egm.play.keys import PlayKey, TableKey
from egm.play.records.game_record import TableRecord
from egm.play.records.games import open_game
from egm.record_codec import from_json
from egm.staff.desk import ServiceDesk, find_actor
from egm.staff.entries import MACHINE_RESTART, OPTIONS_CHANGED, Options, OptionsChanged, RestartRequested
from egm.staff.events import OptionsForm
from egm.staff.keys import StaffKey
from egm.tournament.keys import TournamentKey

#: State keys of what a player may still be owed in addition to credits.
_OWED: Final = frozenset(
    {PlayKey.GAME.value, MoneyKey.HANDPAY.value, MoneyKey.PAY_OUT.value, MoneyKey.PAPER.value}
)
#: Doors of which one must be open to change options.
_DOORS: Final = frozenset({"main", "logic"})


def apply_options(machine: Machine) -> None:
    """Offer the games and bets that the operator's options allow, at start-up.

    If they would allow nothing, every game is offered. A game in progress is offered until the next start,
    whatever the options say, so that it can be finished.
    """
    options, unfinished = Options.of(machine), open_game(machine)
    approved_cents = machine.component(InstalledGames).denominations_cents
    offered = {game: options.list_denominations(game, cents) for game, cents in approved_cents.items()}
    if unfinished is not None and unfinished.game.id in offered:
        offered[unfinished.game.id] = approved_cents[unfinished.game.id]
    offered_cents = {game: cents for game, cents in offered.items() if cents} or dict(approved_cents)
    machine.games = {game_id: game for game_id, game in machine.games.items() if game_id in offered_cents}
    machine.denominations_cents = offered_cents
    play, (least_cents, most_cents) = machine.profile.play, _compute_bet_bounds(machine, options)
    play_within_options = play.model_copy(
        update={"bet_limit_cents": most_cents, "bet_minimum_cents": least_cents}
    )
    machine.profile = machine.profile.model_copy(update={"play": play_within_options})


def _compute_bet_bounds(machine: Machine, options: Options) -> tuple[int, int]:
    """Return minimum and maximum bet in minor units: the narrower of the profile's and the operator's."""
    play = machine.profile.play
    limit_cents = play.bet_limit_cents if options.bet_limit_cents is None else options.bet_limit_cents
    return (
        max(play.bet_minimum_cents, options.bet_minimum_cents or 0),
        min(limit_cents, play.bet_limit_cents),
    )


# ---------------------------------------------------------------------------------------------- guards
def machine_is_open(machine: Machine, _: Event) -> bool:
    """Return whether the main or the logic door is open."""
    return not _DOORS.isdisjoint(machine.doors_open)


def no_tournament_is_on(machine: Machine, _: Event) -> bool:
    """Return whether the machine is not in a tournament, whose terms are published."""
    return machine.memory.get(TournamentKey.MODE) is None


@refusal_code("nothing_is_owed")
def no_position_is_in_use(machine: Machine, _: Event) -> bool:
    """Return whether no player position has credit, a bet, a game, a hand-pay or a payout."""
    states = machine.journal.states()
    names = {key: key.rpartition("/")[2] for key in states}  # a position's keys have the form "2/game"
    tables = (states[key] for key, name in names.items() if name.startswith(TableKey.TABLE))
    has_standing_bets = any(from_json(TableRecord, table, TableKey.TABLE).staked for table in tables)
    return machine.journal.credits_cents() == 0 and not has_standing_bets and _OWED.isdisjoint(names.values())


@refusal_code("option_is_sound")
def options_form_is_valid(machine: Machine, event: Event) -> bool:
    """Return whether the requested options leave at least one game with a denomination, and a bet that it accepts."""
    options = _apply_option_changes(machine, event.of(OptionsForm))
    if options is None:
        return False
    installed = machine.component(InstalledGames)
    offered = {
        game: options.list_denominations(game, cents) for game, cents in installed.denominations_cents.items()
    }
    least_cents, most_cents = _compute_bet_bounds(machine, options)
    return any(
        least_cents <= bet * cents and game.round_cost(bet) * cents <= most_cents
        for game_id, game in installed.games.items()
        for cents in offered.get(game_id, ())
        for bet in game.bet_options
    )


def _apply_option_changes(machine: Machine, form: OptionsForm) -> Options | None:
    """Return the operator's options after a requested change, or None if no option can be changed in this way."""
    options = Options.of(machine)
    match form:
        case OptionsForm(option="bet_limit", bet_limit_cents=int(limit_cents)):
            return replace(options, bet_limit_cents=limit_cents)
        case OptionsForm(option="bet_minimum", bet_minimum_cents=int(minimum_cents)):
            return replace(options, bet_minimum_cents=minimum_cents)
        case OptionsForm(option="game", game=str(game), on=str(on)) if (
            game in machine.component(InstalledGames).denominations_cents
        ):
            off = tuple(sorted({*options.off} - {game} if on == "yes" else {*options.off, game}))
            return replace(options, off=off)
        case OptionsForm(
            option="denomination", game=str(game), denomination_cents=str(cents), on=str(on)
        ) if cents.isdecimal() and int(cents) in machine.component(InstalledGames).denominations_cents.get(
            game, ()
        ):
            current_cents = set(
                options.denominations_cents.get(
                    game, machine.component(InstalledGames).denominations_cents[game]
                )
            )
            offered_cents = current_cents | {int(cents)} if on == "yes" else current_cents - {int(cents)}
            if not offered_cents:
                return None
            denominations_cents = {**options.denominations_cents, game: tuple(sorted(offered_cents))}
            return replace(options, denominations_cents=denominations_cents)
        case _:
            return None


# ---------------------------------------------------------------------------------------------- effects
def change_options(machine: Machine, event: Event) -> None:
    """Store the changed operator options for the next start, and record who changed what."""
    form, old_options = event.of(OptionsForm), Options.of(machine)
    new_options = _apply_option_changes(machine, form)
    if new_options is None or form.option is None:
        return
    machine.post(
        OPTIONS_CHANGED,
        OptionsChanged(
            option=form.option,
            bet_limit_cents=form.bet_limit_cents,
            bet_minimum_cents=form.bet_minimum_cents,
            game=form.game,
            denomination_cents=form.denomination_cents,
            on=form.on,
            person=find_actor(machine, event),
            persons=form.persons,
            before=old_options,
            after=new_options,
        ),
        state={StaffKey.OPTIONS: new_options},
    )
    machine.notice = Notice(code="options_changed")


def start_again(machine: Machine, event: Event) -> None:
    """Request a restart of the machine; like a power loss, it loses nothing."""
    machine.post(MACHINE_RESTART, RestartRequested(person=find_actor(machine, event)))
    machine.component(ServiceDesk).restart = True
