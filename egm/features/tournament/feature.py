"""The tournament feature: its forms and rules, the clock of its rounds, and its page in the service menu."""

from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Final

from egm.features.tournament import entries
from egm.features.tournament.events import PAYLOAD_CLASS_BY_EVENT, TournamentEvent
from egm.features.tournament.games import (
    continue_purse_game,
    end_purse_game,
    forfeit_purse_game,
    purse_game_is_closed,
    purse_game_is_open,
    purse_is_open,
    refund_purse_game,
    requested_bet_fits_tournament_wager,
    selected_bet_is_tournament_wager,
    start_purse_game,
    tournament_has_started,
)
from egm.features.tournament.installed import (
    RULES_FILE_NAME,
    RulesFile,
    find_future_start,
    install_rules,
    is_in_tournament,
    read_installed_rules,
    remove_rules,
    rules_are_installed,
    rules_are_lawful,
    rules_file_describes_machine,
    rules_file_is_readable,
    tournament_is_off,
    tournament_is_on,
)
from egm.features.tournament.keys import TournamentKey
from egm.features.tournament.page import TournamentPage
from egm.features.tournament.records import InstalledRules, TournamentMode
from egm.features.tournament.rounds import (
    assign_machine,
    end_finished_round,
    end_round,
    ending_and_reason_are_stated,
    entry_can_be_voided,
    entry_is_new,
    fee_matches_rules,
    first_round_may_start,
    installed_rules_describe_machine,
    no_round_is_played,
    no_transfer_waits,
    participant_may_buy_entry,
    position_plays_no_round,
    prize_may_be_paid,
    record_prize_payment,
    registration_is_open,
    release_machine,
    round_is_over,
    round_may_start,
    round_time_is_left,
    rules_can_be_removed,
    sell_entry,
    start_round,
    tournament_is_today,
    void_entry,
)
from egm.kernel.entries import list_entries
from egm.kernel.events import EventType, NextState, State
from egm.kernel.feature import Feature
from egm.kernel.machine import PositionMachine
from egm.kernel.messages import Notice
from egm.kernel.rules import REPORT_REFUSAL, DerivedState, Rule
from egm.kernel.services import BackgroundService, DueEventService, MachineContext
from egm.kernel.states import (
    STATES_AFTER_BOOT,
    STATES_AFTER_SELF_TEST,
    STATES_FOR_RULINGS,
    STATES_SHOWING_OUTCOME,
    single_state,
)
from egm.money.host_restrictions import game_is_enabled
from egm.people import Permission
from egm.play.endings import outcome_is_of_open_game
from egm.play.forms import PLAY_FORMS
from egm.play.records.tournament_round import find_open_round
from egm.play.rounds import (
    answered_decision_is_pending,
    choice_can_be_processed,
    choice_is_offered,
    generator_is_in_service,
    stake_of_choice_is_allowed,
)
from egm.play.rulings import (
    forfeiting_game_is_permitted,
    game_cannot_end,
    open_game_has_neither_outcome_nor_win,
)
from egm.play.selections import set_bet
from egm.staff.desk import MenuItem
from egm.staff.form import REASON_FIELD, FieldKind, Form, FormField, build_form_rule
from egm.staff.options import no_position_is_in_use

#: Only while the service menu is open.
_SERVICE_MENU_STATE: Final = single_state(State.SERVICE_MENU)
#: Only while the machine is in a tournament and no game is open.
_TOURNAMENT_STATE: Final = single_state(State.TOURNAMENT)
#: Only while a game is shown.
_PLAYING_STATE: Final = single_state(State.PLAYING)

#: Form field of an entry's number.
_ENTRY_NUMBER_FIELD: Final = FormField(name="entry", kind=FieldKind.NUMBER, value_min=1, value_max=10**6)
#: Form field of the participant's number.
_PARTICIPANT_FIELD: Final = FormField(name="participant")
#: Guards on removing the rules.
_REMOVAL_GUARDS: Final = (tournament_is_off, rules_can_be_removed)
#: Guards on installing rules.
_INSTALLATION_GUARDS: Final = (
    *_REMOVAL_GUARDS,
    rules_file_is_readable,
    rules_are_lawful,
    rules_file_describes_machine,
)
#: Guards on assigning the machine to the tournament.
_ASSIGNMENT_GUARDS: Final = (
    tournament_is_off,
    rules_are_installed,
    installed_rules_describe_machine,
    tournament_is_today,
    no_position_is_in_use,
    no_transfer_waits,
)

#: Guards on paying prizes.
_PRIZE_PAYMENT_GUARDS: Final = (tournament_is_off, rules_are_installed, tournament_has_started)

#: The forms of the tournament.
_TOURNAMENT_FORMS: Final = (
    Form(
        id="tournament_rules",
        event=TournamentEvent.INSTALL_RULES,
        permission=Permission.CONFIGURE,
        menu_section="games",
        submission_guards=_INSTALLATION_GUARDS,
    ),
    Form(
        id="tournament_rules_out",
        event=TournamentEvent.REMOVE_RULES,
        permission=Permission.CONFIGURE,
        menu_section="games",
        submission_guards=(rules_are_installed, *_REMOVAL_GUARDS),
    ),
    Form(
        id="tournament_enter",  # the machine, not a participant
        event=TournamentEvent.ASSIGN_MACHINE,
        permission=Permission.CONFIGURE,
        menu_section="games",
        submission_guards=_ASSIGNMENT_GUARDS,
    ),
    Form(
        id="tournament_leave",
        event=TournamentEvent.RELEASE_MACHINE,
        permission=Permission.CONFIGURE,
        menu_section="games",
        submission_guards=(tournament_is_on, no_round_is_played),
    ),
    Form(
        id="tournament_entry",
        event=TournamentEvent.SELL_ENTRY,
        permission=Permission.PAY_BY_HAND,
        menu_section="players",
        fields=(
            _ENTRY_NUMBER_FIELD,
            _PARTICIPANT_FIELD,
            FormField(name="fee_cents", kind=FieldKind.AMOUNT, value_min=1),
            FormField(name="start", kind=FieldKind.CHOICE, choices=("here", "later")),
        ),
        submission_guards=(rules_are_installed, registration_is_open),
    ),
    Form(
        id="tournament_round",
        event=TournamentEvent.START_ROUND,
        permission=Permission.PAY_BY_HAND,
        menu_section="players",
        fields=(
            _ENTRY_NUMBER_FIELD,
            _PARTICIPANT_FIELD,
            FormField(name="round", kind=FieldKind.NUMBER, value_min=1, value_max=20),
        ),
        submission_guards=(tournament_is_on, installed_rules_describe_machine, position_plays_no_round),
    ),
    Form(
        id="tournament_round_end",
        event=TournamentEvent.END_ROUND,
        permission=Permission.RULE_ON_MONEY,
        menu_section="players",
        fields=(
            FormField(name="status", kind=FieldKind.CHOICE, choices=("interrupted", "failed")),
            REASON_FIELD,
        ),
        submission_guards=(tournament_is_on, purse_is_open, purse_game_is_closed),
    ),
    Form(
        id="tournament_void",
        event=TournamentEvent.VOID_ENTRY,
        permission=Permission.RULE_ON_MONEY,
        menu_section="players",
        fields=(_ENTRY_NUMBER_FIELD, REASON_FIELD),
        submission_guards=(rules_are_installed,),
    ),
    Form(
        id="tournament_prize",
        event=TournamentEvent.PAY_PRIZE,
        permission=Permission.RULE_ON_MONEY,
        menu_section="players",
        fields=(
            _ENTRY_NUMBER_FIELD,
            _PARTICIPANT_FIELD,
            FormField(name="amount_cents", kind=FieldKind.AMOUNT, value_min=1),
        ),
        submission_guards=_PRIZE_PAYMENT_GUARDS,
    ),
)

#: The rules, in the order in which they are tried.
_TOURNAMENT_RULES: Final[tuple[Rule[PositionMachine], ...]] = (
    # ------------------------------------------------------------------ staff
    build_form_rule(
        _TOURNAMENT_FORMS,
        TournamentEvent.INSTALL_RULES,
        _SERVICE_MENU_STATE,
        _INSTALLATION_GUARDS,
        install_rules,
        NextState.SAME,
    ),
    build_form_rule(
        _TOURNAMENT_FORMS,
        TournamentEvent.REMOVE_RULES,
        _SERVICE_MENU_STATE,
        (rules_are_installed, *_REMOVAL_GUARDS),
        remove_rules,
        NextState.SAME,
    ),
    build_form_rule(
        _TOURNAMENT_FORMS,
        TournamentEvent.ASSIGN_MACHINE,
        _SERVICE_MENU_STATE,
        _ASSIGNMENT_GUARDS,
        assign_machine,
        NextState.SAME,
    ),
    build_form_rule(
        _TOURNAMENT_FORMS,
        TournamentEvent.RELEASE_MACHINE,
        _SERVICE_MENU_STATE,
        (tournament_is_on, no_round_is_played),
        release_machine,
        NextState.SAME,
    ),
    build_form_rule(
        _TOURNAMENT_FORMS,
        TournamentEvent.SELL_ENTRY,
        _SERVICE_MENU_STATE,
        (
            rules_are_installed,
            registration_is_open,
            first_round_may_start,
            fee_matches_rules,
            entry_is_new,
            participant_may_buy_entry,
        ),
        sell_entry,
        NextState.SAME,
    ),
    build_form_rule(
        _TOURNAMENT_FORMS,
        TournamentEvent.START_ROUND,
        _SERVICE_MENU_STATE,
        (tournament_is_on, installed_rules_describe_machine, position_plays_no_round, round_may_start),
        start_round,
        NextState.SAME,
    ),
    build_form_rule(
        _TOURNAMENT_FORMS,
        TournamentEvent.END_ROUND,
        _SERVICE_MENU_STATE,
        (tournament_is_on, purse_is_open, purse_game_is_closed, ending_and_reason_are_stated),
        end_round,
        NextState.SAME,
    ),
    build_form_rule(
        _TOURNAMENT_FORMS,
        TournamentEvent.VOID_ENTRY,
        _SERVICE_MENU_STATE,
        (rules_are_installed, entry_can_be_voided),
        void_entry,
        NextState.SAME,
    ),
    build_form_rule(
        _TOURNAMENT_FORMS,
        TournamentEvent.PAY_PRIZE,
        _SERVICE_MENU_STATE,
        (*_PRIZE_PAYMENT_GUARDS, prize_may_be_paid),
        record_prize_payment,
        NextState.SAME,
    ),
    # ------------------------------------------------------------------ games with points (from a purse)
    # When the points left no longer cover a bet with its raises, a rule below ends the round after that event.
    Rule(
        EventType.PLAY,
        _TOURNAMENT_STATE,
        (
            purse_is_open,
            tournament_has_started,
            round_time_is_left,
            selected_bet_is_tournament_wager,
            game_is_enabled,
            generator_is_in_service,
        ),
        (start_purse_game,),
        State.PLAYING,
        REPORT_REFUSAL,
    ),
    Rule(
        EventType.SELECT_BET,
        _TOURNAMENT_STATE,
        (requested_bet_fits_tournament_wager,),
        (set_bet,),
        NextState.SAME,
        REPORT_REFUSAL,
    ),
    Rule(
        EventType.CHOOSE,
        _PLAYING_STATE,
        (
            purse_game_is_open,
            answered_decision_is_pending,
            choice_is_offered,
            stake_of_choice_is_allowed,
            choice_can_be_processed,
        ),
        (continue_purse_game,),
        NextState.SAME,
        REPORT_REFUSAL,
    ),
    Rule(
        EventType.OUTCOME_SHOWN,
        STATES_SHOWING_OUTCOME,
        (purse_game_is_open, outcome_is_of_open_game),
        (end_purse_game,),
        NextState.DERIVED,
    ),
    Rule(EventType.AFTER_EVENT, STATES_AFTER_SELF_TEST, (round_is_over,), (end_finished_round,)),
    # No effect: after every event, the machine sends the screen the minutes left, and tries the rule above.
    Rule(TournamentEvent.ROUND_CLOCK_ADVANCED, STATES_AFTER_BOOT),
    # ------------------------------------------------------------------ a purse game that cannot end
    build_form_rule(
        PLAY_FORMS,
        EventType.REFUND_GAME,
        STATES_FOR_RULINGS,
        (purse_game_is_open, game_cannot_end),
        refund_purse_game,
    ),
    build_form_rule(
        PLAY_FORMS,
        EventType.FORFEIT_GAME,
        STATES_FOR_RULINGS,
        (purse_game_is_open, forfeiting_game_is_permitted, open_game_has_neither_outcome_nor_win),
        forfeit_purse_game,
    ),
)


class RoundClock(DueEventService):
    """The service that raises an event when a round starts, each minute and when its time is over.

    The event makes the machine update the minutes left on the screen; then the rule for a finished round is tried.
    """

    name = "tournament"
    due_event = TournamentEvent.ROUND_CLOCK_ADVANCED

    def compute_seconds_to_wait(self) -> float | None:
        """Return the seconds until the clock's next event, or None if there is none.

        If a round waits for the start of the tournament, the event is the start. In a round with a time limit, it is
        the next change of the minutes left. There is none if no round is running, or if its time is over.
        """
        machine = self._context.engine.machine
        tournament_round = find_open_round(machine)
        start_time = None if tournament_round is None else find_future_start(machine)
        if start_time is not None:
            # A moment after the start: the machine's clock may be a little behind the timer.
            return max(0.0, (start_time - machine.timekeeper.now()).total_seconds()) + 0.1
        if tournament_round is None or not tournament_round.round_end:
            return None
        time_left = datetime.fromisoformat(tournament_round.round_end) - machine.timekeeper.read_steady_time()
        seconds = time_left.total_seconds()
        # A moment after the change of the minutes, for the same reason.
        return None if seconds < 0 else seconds % 60 + 0.1


def create_round_clock(context: MachineContext) -> Iterable[BackgroundService]:
    """Return the services of this feature at one player position: the clock of the tournament rounds.

    This also sets the path of the tournament's rules file, which depends on the state folder.
    """
    context.engine.machine.install(RulesFile(context.state_folder.root / RULES_FILE_NAME))
    return (RoundClock(context),)


def iter_tournament_notices(machine: PositionMachine) -> Iterator[Notice]:
    """Yield the notice that a tournament is announced, so that players read its rules in the help.

    There is none while the machine is in the tournament, or if this version of the software does not accept the rules.
    """
    if read_installed_rules(machine) is not None and not is_in_tournament(machine):
        yield Notice(code="tournament_announced", is_lasting=True)


TOURNAMENT_FEATURE: Final = Feature(
    name="tournament",
    storage_keys=TournamentKey,
    value_types={
        TournamentKey.INSTALLED_RULES: InstalledRules,
        TournamentKey.TOURNAMENT_MODE: TournamentMode,
    },
    entry_declarations=list_entries(entries),
    payload_classes=PAYLOAD_CLASS_BY_EVENT,
    rules=_TOURNAMENT_RULES,
    derived_states=(DerivedState(State.TOURNAMENT, is_in_tournament),),
    contributions=(
        *_TOURNAMENT_FORMS,
        MenuItem("tournament", "games", Permission.READ_GAME_RECALL, TournamentPage),
    ),
    position_service_factories=(create_round_clock,),
    list_notices=iter_tournament_notices,
)
