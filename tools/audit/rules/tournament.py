"""The audit rules for tournaments: who may install rules, sell tournament entries and assign the machine.

They also derive how points move between accounts.

What the tournament rules and the games' draws require is checked elsewhere (:mod:`tools.audit.tournaments`).

Patterns such as ``"$name:type"`` are explained in :mod:`tools.audit.rules.pattern`.
"""

from typing import Any, Final

from egm.features.tournament import entries
from egm.kernel.events import State
from egm.kernel.states import STATES_AFTER_SELF_TEST, STATES_FOR_RULINGS, STATES_SHOWING_OUTCOME, single_state
from egm.people import Permission
from egm.play.records.tournament_round import name_points_account, name_won_points_account
from tools.audit.rules.pattern import CheckContext, DerivedValue
from tools.audit.rules.rule import AuditRule
from tools.audit.rules.shared_checks import (
    check_signed_in_if_menu_open,
    check_signed_in_to_menu,
    report_unless,
    require_new_id,
)

#: The state in which staff use the service menu.
_SERVICE_MENU_STATES: Final = single_state(State.SERVICE_MENU)
#: Pattern of the digest of a tournament's rules.
_RULES_DIGEST_PATTERN: Final = "$digest:text"
#: Pattern of the stored values of a machine that is in a tournament.
_IN_TOURNAMENT_PATTERN: Final = {"tournament": {"digest": _RULES_DIGEST_PATTERN, "since": "$:text"}}
#: Pattern of the installed rules of a tournament.
_INSTALLED_RULES_PATTERN: Final = {"tournament_rules": {"digest": _RULES_DIGEST_PATTERN, "text": "$:text"}}
#: Pattern of the stored values of a position with an open game of a tournament.
_OPEN_GAME_PATTERN: Final = {"purse_game": {"play_id": "$play"}}
#: Pattern of the fields that identify a tournament entry.
_TOURNAMENT_ENTRY_FIELDS_PATTERN: Final = {
    "digest": _RULES_DIGEST_PATTERN,
    "entry": "$entry:positive",
    "participant": "$participant:text",
}


def _has_no_tournament(context: CheckContext) -> bool:
    """Return whether the machine was in no tournament before the checked entry."""
    return context.stored_value_before("tournament") is None


def _has_no_credit(context: CheckContext) -> bool:
    """Return whether the machine held no credit of a player before the checked entry."""
    return context.ledger.credits_cents() == 0


def _has_no_round(context: CheckContext) -> bool:
    """Return whether no position of the machine was playing a tournament round before the checked entry."""
    return not any(
        key.rpartition("/")[2] == "purse" and type(value) is dict and not value.get("ending")
        for key, value in context.ledger.state.items()
    )


def _is_position_free(context: CheckContext) -> bool:
    """Return whether the checked entry's own player position was playing no tournament round before the entry."""
    purse = context.stored_value_before("purse")
    return purse is None or bool(purse.get("ending"))


def _is_between_tournament_games(context: CheckContext) -> bool:
    """Return whether the checked entry's player position was playing a tournament round and had no open game."""
    return not _is_position_free(context) and context.stored_value_before("purse_game") is None


#: Check that the machine was in no tournament before the entry.
_CHECK_NO_TOURNAMENT: Final = report_unless(
    "state.tournament: the machine was in a tournament before this entry", _has_no_tournament
)
#: Check that no position plays a round.
_CHECK_NO_ROUND: Final = report_unless(
    "state.purse: a position still plays a round, and the machine may not leave the tournament", _has_no_round
)
#: Check that the entry's position plays no round.
_CHECK_POSITION_FREE: Final = report_unless(
    "state.purse: the position already played a round before this entry", _is_position_free
)
#: Check that the entry's position plays a round, and no game of it is open.
_CHECK_BETWEEN_GAMES: Final = report_unless(
    "state.purse: the position plays no round, or a game of its round is still open",
    _is_between_tournament_games,
)


def _derive_stake(context: CheckContext) -> Any:
    """Return the transfer of the points that a tournament game stakes, at its start or by a later choice.

    The list is empty if no points are staked.
    """
    record = context.record
    points = record["bet_credits"] if "bet_credits" in record else record.get("staked_credits", 0)
    account = name_points_account(context.position)
    return [(account, "tournament:wager", points)] if points else []


def _derive_winnings(context: CheckContext) -> Any:
    """Return the transfers of the points that a tournament game pays: its win and its returned stakes."""
    won_points, pushed_points = context.record["won_points"], context.record.get("push_points", 0)
    transfers = (
        ("tournament:win", name_won_points_account(context.position), won_points),
        ("tournament:push", name_points_account(context.position), pushed_points),
    )
    return [(source, target, points) for source, target, points in transfers if points]


def _derive_refund(context: CheckContext) -> Any:
    """Return the transfer that refunds the staked points of a void tournament game; the list is empty if none are."""
    points = context.record["refund_points"]
    return [("tournament:push", name_points_account(context.position), points)] if points else []


def _derive_point_removal(context: CheckContext) -> Any:
    """Return the transfers that remove all points of a player position at the end of its round."""
    accounts = (name_points_account(context.position), name_won_points_account(context.position))
    balances = ((account, context.ledger.available_cents(account)) for account in accounts)
    return [(account, "tournament:closed", points) for account, points in balances if points]


RULES: Final = (
    AuditRule(
        entry_declaration=entries.RULES_INSTALLED,
        allowed_machine_states=_SERVICE_MENU_STATES,
        record={"digest": _RULES_DIGEST_PATTERN, "text": "$text:text"},
        stored_after={"tournament_rules": {"digest": "$digest", "text": "$text"}},
        permission=Permission.CONFIGURE,
        extra_checks=(
            check_signed_in_to_menu,
            _CHECK_NO_TOURNAMENT,
        ),
    ),
    AuditRule(
        entry_declaration=entries.RULES_REMOVED,
        allowed_machine_states=_SERVICE_MENU_STATES,
        stored_before=_INSTALLED_RULES_PATTERN,
        record={"digest": "$digest"},
        stored_after={"tournament_rules": None},
        permission=Permission.CONFIGURE,
        extra_checks=(
            check_signed_in_to_menu,
            _CHECK_NO_TOURNAMENT,
        ),
    ),
    AuditRule(
        entry_declaration=entries.MACHINE_ASSIGNED,
        allowed_machine_states=_SERVICE_MENU_STATES,
        stored_before={**_INSTALLED_RULES_PATTERN, "tournament": None},
        record={"digest": "$digest"},
        stored_after={"tournament": {"digest": "$digest", "since": "$:text"}},
        permission=Permission.CONFIGURE,
        extra_checks=(
            check_signed_in_to_menu,
            report_unless(
                lambda context: (
                    f"the machine held {context.ledger.credits_cents()} cents of credit; expected 0"
                ),
                _has_no_credit,
            ),
        ),
    ),
    AuditRule(
        entry_declaration=entries.MACHINE_RELEASED,
        allowed_machine_states=_SERVICE_MENU_STATES,
        stored_before=_IN_TOURNAMENT_PATTERN,
        record={"digest": "$digest"},
        stored_after={"tournament": None},
        permission=Permission.CONFIGURE,
        extra_checks=(
            check_signed_in_to_menu,
            _CHECK_NO_ROUND,
        ),
    ),
    AuditRule(
        entry_declaration=entries.ENTRY_SOLD,
        allowed_machine_states=_SERVICE_MENU_STATES,
        stored_before=_INSTALLED_RULES_PATTERN,
        record={"digest": "$digest", "fee_cents": "$fee:cents"},
        expected_transfers=DerivedValue(lambda context: [("fees:participants", "fees:sold", context["fee"])]),
        permission=Permission.PAY_BY_HAND,
        extra_checks=(check_signed_in_to_menu,),
    ),
    AuditRule(
        entry_declaration=entries.ENTRY_VOIDED,
        allowed_machine_states=_SERVICE_MENU_STATES,
        stored_before=_INSTALLED_RULES_PATTERN,
        record={"digest": "$digest", "fee_cents": "$fee:cents"},
        expected_transfers=DerivedValue(lambda context: [("fees:sold", "fees:participants", context["fee"])]),
        permission=Permission.RULE_ON_MONEY,
        extra_checks=(check_signed_in_to_menu,),
    ),
    AuditRule(
        entry_declaration=entries.PRIZE_PAID,
        allowed_machine_states=_SERVICE_MENU_STATES,
        stored_before={**_INSTALLED_RULES_PATTERN, "tournament": None},
        record={"digest": "$digest", "amount_cents": "$prize:cents"},
        expected_transfers=DerivedValue(
            lambda context: [("fees:prizes", "fees:participants", context["prize"])]
        ),
        permission=Permission.RULE_ON_MONEY,
        extra_checks=(check_signed_in_to_menu,),
    ),
    AuditRule(
        entry_declaration=entries.ROUND_STARTED,
        allowed_machine_states=_SERVICE_MENU_STATES,
        stored_before=_IN_TOURNAMENT_PATTERN,
        record={**_TOURNAMENT_ENTRY_FIELDS_PATTERN, "round": "$round:positive", "points": "$points:positive"},
        stored_after={"purse": "$:object", "selection": "$:object"},
        expected_transfers=DerivedValue(
            lambda context: [("tournament:entry", name_points_account(context.position), context["points"])]
        ),
        permission=Permission.PAY_BY_HAND,
        extra_checks=(
            check_signed_in_to_menu,
            _CHECK_POSITION_FREE,
        ),
    ),
    AuditRule(
        entry_declaration=entries.ROUND_ENDED,
        allowed_machine_states=STATES_AFTER_SELF_TEST,
        stored_before=_IN_TOURNAMENT_PATTERN,
        record=_TOURNAMENT_ENTRY_FIELDS_PATTERN,
        stored_after={"purse": "$:object"},
        expected_transfers=DerivedValue(_derive_point_removal),
        extra_checks=(_CHECK_BETWEEN_GAMES,),
    ),
    AuditRule(
        entry_declaration=entries.TOURNAMENT_GAME_START,
        allowed_machine_states=single_state(State.TOURNAMENT),
        id="{play}.start",
        stored_before={"purse_game": None, **_IN_TOURNAMENT_PATTERN},
        record={
            "play_id": "$play",
            "game": {"id": "$:text", "version": "$:text", "digest": "$game_digest"},
            "steps": [{"choice": None, "draws": "$:list"}],
        },
        stored_after={**_OPEN_GAME_PATTERN, "definition:{game_digest}?": "$:text", "purse?": "$:object"},
        expected_transfers=DerivedValue(_derive_stake),
        extra_checks=(
            require_new_id("play", "play"),
            _CHECK_BETWEEN_GAMES,
        ),
    ),
    AuditRule(
        entry_declaration=entries.TOURNAMENT_GAME_CHOICE,
        allowed_machine_states=single_state(State.PLAYING),
        id="{play}.choice-{n:n}",
        stored_before=_OPEN_GAME_PATTERN,
        record={"play_id": "$play"},
        expected_transfers=DerivedValue(_derive_stake),
    ),
    AuditRule(
        entry_declaration=entries.TOURNAMENT_GAME_END,
        allowed_machine_states=STATES_SHOWING_OUTCOME,
        id="{play}.end",
        stored_before=_OPEN_GAME_PATTERN,
        record={"play_id": "$play"},
        stored_after={"purse_game": None, "purse": "$:object"},
        expected_transfers=DerivedValue(_derive_winnings),
    ),
    AuditRule(
        entry_declaration=entries.TOURNAMENT_GAME_VOID,
        allowed_machine_states=STATES_FOR_RULINGS,
        id="{play}.void",
        stored_before=_OPEN_GAME_PATTERN,
        record={"play_id": "$play"},
        stored_after={"purse_game": None, "fault:game_defective?": None},
        expected_transfers=DerivedValue(_derive_refund),
        permission=Permission.RULE_ON_MONEY,
        persons_min=2,
        extra_checks=(check_signed_in_if_menu_open,),
    ),
)
