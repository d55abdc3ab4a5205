"""Operator options: the games, denominations, minimum and maximum bet that are offered.

Options only restrict further what the cabinet file and the profile allow, and are stored in the journal. They can be
changed only if all of these conditions are met:

* the main or the logic door is open,
* no player is owed anything,
* the machine is in no tournament, and
* as many persons as the profile requires make the change.

They take effect at the next start, so nothing changes while a player is at the machine.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from typing import Final

from egm.features.tournament.keys import TournamentKey
from egm.kernel.events import Event
from egm.kernel.games import InstalledGames
from egm.kernel.machine import PositionMachine
from egm.kernel.messages import Notice
from egm.kernel.rules import Guard, refusal_code
from egm.money.keys import MoneyKey
from egm.play.keys import PlayKey, TableKey
from egm.play.records.game_record import TableRecord
from egm.play.records.games import find_open_game
from egm.profiles import Profile
from egm.record_codec import from_json
from egm.staff.desk import ServiceDesk, find_actor
from egm.staff.entries import MACHINE_RESTART, OPTIONS_CHANGED, OptionsChanged, RestartRequested
from egm.staff.events import OptionsForm
from egm.staff.keys import StaffKey
from egm.staff.records import OperatorOptions, OptionName, OptionValues

#: Storage keys whose presence means that a player may still be owed something other than credits.
_KEYS_OF_MONEY_OWED: Final = frozenset(
    {PlayKey.GAME.value, MoneyKey.HANDPAY.value, MoneyKey.PAY_OUT.value, MoneyKey.PAPER_BEING_STACKED.value}
)
#: Options can be changed only while one of these doors is open.
_OPTION_DOORS: Final = frozenset({"main", "logic"})


@dataclass(frozen=True, slots=True)
class AmountOption:
    """An amount, such as the maximum bet, by which the operator makes the profile stricter.

    Its value is the field ``<option>_cents`` of :class:`OperatorOptions` and :class:`OptionValues`.
    """

    read_profile_cents: Callable[[Profile], int]
    """Function that returns the profile's amount, which applies without the option, in minor units."""
    narrow_profile: Callable[[Profile, int], Profile]
    """Function that returns the profile with the operator's amount, if that is stricter; otherwise unchanged."""
    amount_min_cents: int = 0
    """The smallest amount that the option's form accepts, in minor units."""


def _raise_bet_minimum(profile: Profile, bet_minimum_cents: int) -> Profile:
    """Return the profile with the minimum bet ``bet_minimum_cents``, or unchanged if its own minimum is not lower."""
    stricter_minimum_cents = max(profile.play.bet_min_cents, bet_minimum_cents)
    play = profile.play.model_copy(update={"bet_min_cents": stricter_minimum_cents})
    return profile.model_copy(update={"play": play})


def _lower_bet_limit(profile: Profile, bet_limit_cents: int) -> Profile:
    """Return the profile with the maximum bet ``bet_limit_cents``, or unchanged if its own maximum is not higher."""
    stricter_limit_cents = min(profile.play.bet_max_cents, bet_limit_cents)
    play = profile.play.model_copy(update={"bet_max_cents": stricter_limit_cents})
    return profile.model_copy(update={"play": play})


#: The options that are amounts, in the order in which their page shows them.
AMOUNT_OPTIONS: Final[Mapping[OptionName, AmountOption]] = {
    "bet_minimum": AmountOption(lambda profile: profile.play.bet_min_cents, _raise_bet_minimum),
    "bet_limit": AmountOption(lambda profile: profile.play.bet_max_cents, _lower_bet_limit, 1),
}


def apply_options(machine: PositionMachine) -> None:
    """At start-up, offer only the games and bets that the operator's options allow.

    If the options would allow nothing, every game is offered. A game in progress is offered until the next
    start even if the options exclude it, so that it can be finished.
    """
    options, open_game_record = OperatorOptions.read_stored(machine), find_open_game(machine)
    approved_cents_by_game = machine.component(InstalledGames).denominations_cents
    offered_cents_by_game = {
        game_id: options.list_denominations(game_id, cents)
        for game_id, cents in approved_cents_by_game.items()
    }
    if open_game_record is not None and open_game_record.game_reference.id in offered_cents_by_game:
        offered_cents_by_game[open_game_record.game_reference.id] = approved_cents_by_game[
            open_game_record.game_reference.id
        ]
    final_cents_by_game = {
        game_id: cents for game_id, cents in offered_cents_by_game.items() if cents
    } or dict(approved_cents_by_game)
    machine.games = {
        game_id: game for game_id, game in machine.games.items() if game_id in final_cents_by_game
    }
    machine.denominations_cents = final_cents_by_game
    machine.profile = _narrow_profile(machine.profile, options)


def _narrow_profile(profile: Profile, options: OperatorOptions) -> Profile:
    """Return the profile with its amounts replaced by stricter ones of the operator's options."""
    for option, amount_option in AMOUNT_OPTIONS.items():
        cents: int | None = getattr(options, f"{option}_cents")
        if cents is not None:
            profile = amount_option.narrow_profile(profile, cents)
    return profile


# ---------------------------------------------------------------------------------------------- guards
@refusal_code("machine_is_open")
def main_or_logic_door_is_open(machine: PositionMachine, _: Event) -> bool:
    """Return whether the main or the logic door is open."""
    return not _OPTION_DOORS.isdisjoint(machine.open_doors)


def no_tournament_is_on(machine: PositionMachine, _: Event) -> bool:
    """Return whether the machine is not in a tournament.

    During a tournament the options must not change, because the terms of the tournament are published.
    """
    return machine.memory.get(TournamentKey.TOURNAMENT_MODE) is None


@refusal_code("nothing_is_owed")
def no_position_is_in_use(machine: PositionMachine, _: Event) -> bool:
    """Return whether no player position has credit, a bet, a game, a hand-pay, a payout or uncredited paper."""
    states = machine.journal.states()
    name_by_key = {key: key.rpartition("/")[2] for key in states}  # a position's keys have the form "2/game"
    tables = (states[key] for key, name in name_by_key.items() if name.startswith(TableKey.TABLE_STATE))
    has_standing_bets = any(
        from_json(TableRecord, table, TableKey.TABLE_STATE).standing_stakes for table in tables
    )
    return (
        machine.journal.credits_cents() == 0
        and not has_standing_bets
        and _KEYS_OF_MONEY_OWED.isdisjoint(name_by_key.values())
    )


@refusal_code("option_is_sound")
def options_form_is_valid(machine: PositionMachine, event: Event) -> bool:
    """Return whether the form's change leaves at least one game with a denomination and an acceptable bet."""
    options = _apply_option_changes(machine, event.read_payload(OptionsForm))
    if options is None:
        return False
    installed_games = machine.component(InstalledGames)
    offered_cents_by_game = {
        game_id: options.list_denominations(game_id, denomination_cents)
        for game_id, denomination_cents in installed_games.denominations_cents.items()
    }
    play = _narrow_profile(machine.profile, options).play
    return any(
        play.bet_min_cents <= bet_credits * denomination_cents
        and game.compute_round_cost(bet_credits) * denomination_cents <= play.bet_max_cents
        for game_id, game in installed_games.game_by_id.items()
        for denomination_cents in offered_cents_by_game.get(game_id, ())
        for bet_credits in game.bet_options
    )


def _apply_option_changes(machine: PositionMachine, form: OptionsForm) -> OperatorOptions | None:
    """Return the operator's options after the change that the form requests; None if the change is not possible."""
    options = OperatorOptions.read_stored(machine)
    if form.option in AMOUNT_OPTIONS:
        field_name = f"{form.option}_cents"
        new_cents: int | None = getattr(form, field_name)
        if new_cents is None:
            return None
        return replace(options, **{field_name: new_cents})  # type: ignore[arg-type]  # an amount's field
    match form:
        case OptionsForm(option="game", game=str(game_id), on=str(on)) if (
            game_id in machine.component(InstalledGames).denominations_cents
        ):
            other_games = {*options.games_not_offered} - {game_id}
            games_not_offered = other_games if on == "yes" else {*other_games, game_id}
            return replace(options, games_not_offered=tuple(sorted(games_not_offered)))
        case OptionsForm(
            option="denomination", game=str(game_id), denomination_cents=str(cents), on=str(on)
        ) if cents.isdecimal() and int(cents) in machine.component(InstalledGames).denominations_cents.get(
            game_id, ()
        ):
            current_cents = set(
                options.denominations_cents.get(
                    game_id, machine.component(InstalledGames).denominations_cents[game_id]
                )
            )
            offered_cents = current_cents | {int(cents)} if on == "yes" else current_cents - {int(cents)}
            if not offered_cents:
                return None
            denominations_cents = {**options.denominations_cents, game_id: tuple(sorted(offered_cents))}
            return replace(options, denominations_cents=denominations_cents)
        case _:
            return None


#: The conditions for changing an option; the form shows in advance which of them are met.
OPTION_CONDITIONS: Final[tuple[Guard[PositionMachine], ...]] = (
    main_or_logic_door_is_open,
    no_position_is_in_use,
    no_tournament_is_on,
)
#: The guards of the event that changes an option.
OPTION_GUARDS: Final[tuple[Guard[PositionMachine], ...]] = (*OPTION_CONDITIONS, options_form_is_valid)


# ---------------------------------------------------------------------------------------------- effects
def change_options(machine: PositionMachine, event: Event) -> None:
    """Store the changed operator options for the next start, and record who changed what."""
    form, options_before = event.read_payload(OptionsForm), OperatorOptions.read_stored(machine)
    options_after = _apply_option_changes(machine, form)
    if options_after is None or form.option is None:
        return
    machine.post(
        OPTIONS_CHANGED,
        OptionsChanged(
            option=form.option,
            **{value_field.name: getattr(form, value_field.name) for value_field in fields(OptionValues)},
            person=find_actor(machine, event),
            persons=form.persons,
            options_before=options_before,
            options_after=options_after,
        ),
        state={StaffKey.OPERATOR_OPTIONS: options_after},
    )
    machine.notice = Notice(code="options_changed")


def request_restart(machine: PositionMachine, event: Event) -> None:
    """Request a restart of the machine; credits and games continue after it, as after a power loss."""
    machine.post(MACHINE_RESTART, RestartRequested(person=find_actor(machine, event)))
    machine.component(ServiceDesk).is_restart_requested = True
