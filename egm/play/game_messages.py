"""Build screen messages for the open game: its outcome, or the decision it is waiting for."""

from egm.kernel import messages
from egm.kernel.machine import PositionMachine
from egm.play import prizes_in_kind
from egm.play.records.game_record import GameRecord
from egm.play.records.games import GameInProgress, find_open_game, find_tournament_game
from egm.play.records.tables import read_table
from egm.play.records.tournament_round import read_playable_points
from egm.play.stepped_game import SteppedGame, UnreplayableGame
from egm.progressive import game_levels
from egm.progressive.keys import ProgressiveKey
from meters.transaction import JSON
from paytables import WHEEL_DECISION_KIND, Decision, Settlement


def find_pending_decision(machine: PositionMachine) -> Decision | None:
    """Return the open game's pending decision, or None.

    Options that the player's credits or the profile's limits do not allow are left out.
    """
    game_record, stepped_game = find_open_game(machine), machine.component(GameInProgress).stepped_game
    decision: Decision | None = None if stepped_game is None else stepped_game.decision
    if game_record is None or decision is None or not decision.stakes:
        return decision
    table = (
        None if game_record.table_state is None else read_table(machine, game_record.game_reference.digest)
    )
    total_stake_cents = game_record.staked_cents + (0 if table is None else table.standing_bets_cents)
    if find_tournament_game(machine) is not None:
        return decision.limit_to_credits(read_playable_points(machine))
    affordable_cents = min(machine.credit_cents, machine.profile.play.bet_max_cents - total_stake_cents)
    return decision.limit_to_credits(max(affordable_cents, 0) // game_record.denomination_cents)


def build_message(
    machine: PositionMachine, *, is_resumed: bool
) -> messages.GameOutcome | messages.DecisionRequest | None:
    """Return the screen message for the open game, or None if there is nothing to show.

    ``is_resumed``: the message is sent after an interruption, such as a restart or a new connection of a screen.
    """
    game_record = find_open_game(machine)
    stepped_game: SteppedGame | UnreplayableGame | None = machine.component(GameInProgress).stepped_game
    if game_record is None or (
        stepped_game is None and machine.memory.get(ProgressiveKey.GAME_AWAITING_AWARD) is None
    ):
        return None
    cues = _list_step_animation_cues(stepped_game)
    outcome = game_record.outcome
    if outcome is not None:
        return messages.GameOutcome(
            play_id=game_record.play_id,
            game_id=game_record.game_reference.id,
            bet_credits=game_record.bet_credits,
            returned_credits=outcome.returned_credits,
            paid_cents=game_record.returned_cents
            + game_levels.sum_progressive_award_cents(machine, game_record),
            progressives=game_levels.list_hits_for_screen(machine, game_record),
            prizes=prizes_in_kind.build_prize_views(prizes_in_kind.list_won_prizes(machine, game_record)),
            display=dict(outcome.display),
            is_resumed=is_resumed,
            settlements=_encode_settlements(outcome.settlements),
            cues=cues,
        )
    decision = find_pending_decision(machine)
    if decision is None or stepped_game is None:
        return None
    return messages.DecisionRequest(
        play_id=game_record.play_id,
        kind=decision.kind,
        options=tuple(decision.options) if _is_decision_of_this_position(game_record, decision) else (),
        display={
            key: value
            for key, value in decision.prompt.items()
            if key != "advice" or machine.profile.play.allows_advice
        },
        step=len(game_record.steps),
        costs=list_answer_costs(decision),
        seat=decision.seat,
        settlements=_encode_settlements(stepped_game.settlements),
        cues=cues,
    )


def list_answer_costs(decision: Decision) -> dict[str, int]:
    """Return the cost of each option of a decision in credits, by option; free options are left out.

    The cost is what the answer adds to the stake; in a poker room, what it moves from the table stakes to the
    pot.
    """
    costs = ((str(option), decision.get_added_credits(option)) for option in decision.options)
    added_credits = {option: credits_ for option, credits_ in costs if credits_}
    return {**added_credits, **decision.prompt.get("costs", {})}


def _is_decision_of_this_position(game_record: GameRecord, decision: Decision) -> bool:
    """Return whether this position's player makes the decision, not a wheel or another seat."""
    return decision.kind != WHEEL_DECISION_KIND and decision.seat == (game_record.wager.seat or 0)


def send_screen_update(machine: PositionMachine, *, is_resumed: bool) -> None:
    """Send the open game's outcome or pending decision to the screen."""
    screen_message = build_message(machine, is_resumed=is_resumed)
    if screen_message is not None:
        machine.screen_outbox.send_message(screen_message)


def _list_step_animation_cues(
    stepped_game: SteppedGame | UnreplayableGame | None,
) -> tuple[dict[str, JSON], ...]:
    """Return the animation cues of the game's last step as JSON."""
    cues = () if stepped_game is None else stepped_game.cues
    return tuple(cue.to_json() for cue in cues)


def _encode_settlements(settlements: tuple[Settlement, ...]) -> tuple[dict[str, JSON], ...]:
    """Return the settled bets as JSON; prizes without a separate stake, such as on reels, are left out."""
    return tuple(settlement.to_json() for settlement in settlements if settlement.staked_credits)
