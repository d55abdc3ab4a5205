"""The end of a game after it was shown: stakes returned, and the win credited or reserved for a hand-pay.

A returned stake (a push, a bet taken down) is not a win. It returns to the kinds of credit from which it was
staked, as a separate entry before the game's end, even if the win is paid by hand.
"""

from egm.kernel.credits import CreditKind, divide_stakes_among_amounts
from egm.kernel.events import Event
from egm.kernel.machine import PositionMachine
from egm.kernel.messages import HandpayKind
from egm.kernel.rules import refusal_code
from egm.money.keys import MoneyKey
from egm.money.records.money import HandpayRecord
from egm.play import player_protection, prizes_in_kind
from egm.play.entries import (
    GAME_DOUBLE_UP,
    GAME_END,
    GAME_END_WITH_HANDPAY,
    GAME_PUSH,
    DoubleUpStakes,
    GameEnd,
    GameEndWithHandpay,
    GamePush,
)
from egm.play.events import OutcomeShown
from egm.play.keys import PlayKey, TableKey
from egm.play.records.game_record import AccountAndCents, GameRecord, LastGame, TableRecord
from egm.play.records.games import PUSH_ACCOUNT, GameInProgress, find_open_game, list_stakes
from egm.play.records.tables import extract_player_state_by_digest, read_table
from egm.play.rounds import require_open_game
from egm.progressive import game_levels
from meters import Transfer


# ---------------------------------------------------------------------------------------------- guards
@refusal_code("is_this_game")
def outcome_is_of_open_game(machine: PositionMachine, event: Event) -> bool:
    """Return whether the outcome just shown belongs to the open game, and the game is decided."""
    game_record = find_open_game(machine)
    return (
        game_record is not None
        and game_record.outcome is not None
        and event.read_payload(OutcomeShown).play_id == game_record.play_id
    )


def win_is_paid_by_hand(machine: PositionMachine, _: Event) -> bool:
    """Return whether an attendant must pay the open game's win.

    The win is large or taxable, or it includes a progressive level paid by hand or a prize in kind.
    """
    game_record = require_open_game(machine)
    won_cents = game_record.win_cents + game_levels.sum_progressive_award_cents(machine, game_record)
    taxable_win_min_cents = machine.profile.handpay.taxable_win_min_cents
    return (
        won_cents >= machine.profile.pay_out.large_win_cents
        or (taxable_win_min_cents is not None and won_cents >= taxable_win_min_cents)
        or game_levels.must_attendant_pay_award(machine, game_record)
        or bool(prizes_in_kind.list_won_prizes(machine, game_record))
    )


# ---------------------------------------------------------------------------------------------- effects
def end_game(machine: PositionMachine, _: Event) -> None:
    """Close the open game and credit its win as cashable credit, even if another kind of credit was wagered."""
    game_record = require_open_game(machine)
    won_cents = game_record.win_cents
    game_levels.register_hits(machine, game_record, "credit")
    standing_stakes = _return_stakes_and_list_standing(machine, game_record)
    credit_account = machine.name_credit_account(CreditKind.CASHABLE)
    source = "house:double_up_win" if _post_double_up(machine, game_record) else "house:win"
    win_transfers = (Transfer(source, credit_account, won_cents),) if won_cents else ()
    transfers = (*win_transfers, *game_levels.build_payment_transfers(machine, game_record, credit_account))
    machine.post(
        GAME_END,
        GameEnd(play_id=game_record.play_id, win_cents=won_cents, push_cents=game_record.push_cents),
        entry_id=f"{game_record.play_id}.end",
        transfers=transfers,
        dims=game_record.meter_dimensions,
        counts={_find_result_meter(game_record, transfers): 1},
        state={
            **_build_closing_state(machine, game_record, transfers, standing_stakes),
            **game_levels.build_closing_state(machine, game_record, "credit"),
        },
    )
    machine.component(GameInProgress).stepped_game = None


def end_game_with_handpay(machine: PositionMachine, _: Event) -> None:
    """Close the open game with its whole win reserved for a hand-pay (NZ 1.16.6; Monaco art. 19.4)."""
    game_record = require_open_game(machine)
    won_cents = game_record.win_cents
    prizes = prizes_in_kind.list_won_prizes(machine, game_record)
    game_levels.register_hits(machine, game_record, "hand")
    _post_double_up(machine, game_record)
    standing_stakes = _return_stakes_and_list_standing(machine, game_record)
    prizes_in_kind.record_prizes_won(machine, game_record, prizes)
    win_transfers = (
        (Transfer("house:attendant_jackpot", "out:handpay_jackpot", won_cents),) if won_cents else ()
    )
    level_transfers = game_levels.build_payment_transfers(machine, game_record, "out:handpay_progressive")
    reservation_id = f"{game_record.play_id}.end"
    kind: HandpayKind = "progressive" if level_transfers else "merchandise" if prizes else "jackpot"
    total_cents = sum(transfer.amount_cents for transfer in (*win_transfers, *level_transfers))
    progressive_pools = game_levels.format_paid_pools(machine, game_record)
    machine.post(
        GAME_END_WITH_HANDPAY,
        GameEndWithHandpay(
            play_id=game_record.play_id, win_cents=won_cents, push_cents=game_record.push_cents, prizes=prizes
        ),
        entry_id=reservation_id,
        transfers=(*win_transfers, *level_transfers, *prizes_in_kind.build_prize_transfers(prizes)),
        dims=game_record.meter_dimensions,
        state={
            **_build_closing_state(machine, game_record, (*win_transfers, *level_transfers), standing_stakes),
            **game_levels.build_closing_state(machine, game_record, "hand"),
            MoneyKey.HANDPAY: HandpayRecord(
                id=reservation_id,
                kind=kind,
                amount_cents=total_cents,
                prizes=prizes,
                progressive_pools=progressive_pools,
                play_id=game_record.play_id if progressive_pools else "",
            ),
        },
    )
    machine.component(GameInProgress).stepped_game = None


def _post_double_up(machine: PositionMachine, game_record: GameRecord) -> bool:
    """Post the transfers of the game's double-ups: the wins that the player staked on them (D-08).

    Return whether there were any; do nothing if they are posted already. The amount left after the last
    double-up is the game's win. These transfers leave the credit meter unchanged.
    """
    stakes = () if game_record.outcome is None else game_record.outcome.double_up_stakes
    stakes_cents = [stake * game_record.denomination_cents for stake in stakes]
    entry_id = f"{game_record.play_id}.double_up"
    if stakes_cents and not machine.journal.has_entry(entry_id):  # otherwise posted before a power loss
        credit_account = machine.name_credit_account(CreditKind.CASHABLE)
        transfers: list[Transfer] = []
        for number, stake_cents in enumerate(stakes_cents):
            source = "house:double_up_win" if number else "house:win"
            transfers += [
                Transfer(source, credit_account, stake_cents),
                Transfer(credit_account, "house:double_up_bet", stake_cents),
            ]
        machine.post(
            GAME_DOUBLE_UP,
            DoubleUpStakes(play_id=game_record.play_id, stakes_cents=tuple(stakes_cents)),
            entry_id=entry_id,
            transfers=tuple(transfers),
            dims=game_record.meter_dimensions,
        )
    return bool(stakes_cents)


def _find_result_meter(game_record: GameRecord, win_transfers: tuple[Transfer, ...]) -> str:
    """Return the name of the meter that counts a game's result.

    It is games won if a win or a progressive level was paid, games pushed if only stakes were returned, and
    otherwise games lost.
    """
    return "games_won" if win_transfers else "games_pushed" if game_record.push_cents else "games_lost"


def _return_stakes_and_list_standing(
    machine: PositionMachine, game_record: GameRecord
) -> tuple[AccountAndCents, ...]:
    """Credit the stakes that the game returns, unless that is done already; list those that stay on the table.

    Each is a pair: the account from which it was staked, and its amount in minor units. A stake that is
    returned or stays on the table may have been placed in an earlier game.
    """
    if not (game_record.push_cents or game_record.standing_bets_cents):
        return ()
    table = (
        None if game_record.table_state is None else read_table(machine, game_record.game_reference.digest)
    )
    all_stakes = (*(() if table is None else table.standing_stakes), *list_stakes(machine, game_record))
    decided_cents = (
        sum(cents for _, cents in all_stakes) - game_record.push_cents - game_record.standing_bets_cents
    )
    _, standing_stakes, pushed_stakes = divide_stakes_among_amounts(
        all_stakes, (decided_cents, game_record.standing_bets_cents, game_record.push_cents), machine.position
    )
    if pushed_stakes and not _has_returned_stakes(machine, game_record):
        machine.post(
            GAME_PUSH,
            GamePush(play_id=game_record.play_id, push_cents=game_record.push_cents),
            entry_id=f"{game_record.play_id}.push",
            transfers=tuple(Transfer(PUSH_ACCOUNT, account, cents) for account, cents in pushed_stakes),
            dims=game_record.meter_dimensions,
            state=player_protection.build_session_change(machine, won_cents=game_record.push_cents),
        )
    return standing_stakes


def _has_returned_stakes(machine: PositionMachine, game_record: GameRecord) -> bool:
    """Return whether the game's returned stakes are posted already: before a power loss, or before a memory clear."""
    return game_record.has_returned_stakes or machine.journal.has_entry(f"{game_record.play_id}.push")


def _build_closing_state(
    machine: PositionMachine,
    game_record: GameRecord,
    win_transfers: tuple[Transfer, ...],
    standing_stakes: tuple[AccountAndCents, ...],
) -> dict[str, object]:
    """Return the changes of the machine's stored state at the end of a game."""
    total_cents = sum(transfer.amount_cents for transfer in win_transfers)
    return {
        PlayKey.GAME: None,
        PlayKey.LAST_GAME: LastGame(
            play_id=game_record.play_id, paid_cents=total_cents + game_record.push_cents
        ),
        **player_protection.build_session_change(machine, won_cents=total_cents),
        **_build_table_state(machine, game_record, standing_stakes),
    }


def _build_table_state(
    machine: PositionMachine, game_record: GameRecord, standing_stakes: tuple[AccountAndCents, ...]
) -> dict[str, object]:
    """Return the state change that stores the table as the game leaves it; empty if the game has no table."""
    digest = game_record.game_reference.digest
    stored_table_state = (
        None
        if game_record.outcome is None
        else extract_player_state_by_digest(machine, digest, game_record.outcome.table_state)
    )
    if (
        stored_table_state is None
        and extract_player_state_by_digest(machine, digest, game_record.table_state) is None
    ):
        return {}
    table = TableRecord(
        game_reference=game_record.game_reference,
        denomination_cents=game_record.denomination_cents,
        table_state=stored_table_state,
        standing_stakes=standing_stakes,
    )
    return {f"{TableKey.TABLE_STATE}{digest}": None if stored_table_state is None else table}
