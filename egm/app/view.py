"""Snapshot of the machine for its screens: what a person may see of the machine and its games."""

from collections.abc import Iterable, Iterator, Mapping
from datetime import timedelta
from typing import Literal

from egm.features.tournament.games import find_tournament_bet
from egm.features.tournament.installed import is_in_tournament
from egm.features.tournament.view import build_tournament_view, find_last_purse_game
from egm.kernel.credits import CreditKind
from egm.kernel.engine import StateMachineEngine
from egm.kernel.events import Event, EventType, Payload
from egm.kernel.feature import Features
from egm.kernel.machine import PositionMachine
from egm.kernel.messages import (
    ArtFile,
    GameArt,
    GameView,
    HandpayView,
    HostLock,
    Notice,
    PayoutView,
    Snapshot,
    Tilt,
)
from egm.kernel.positions import Position
from egm.money import hand_pays, ticket_for_handpay
from egm.money.events import CashOut
from egm.money.host_money import HostMoney
from egm.money.host_restrictions import find_allowed_sound
from egm.money.keys import MoneyKey
from egm.money.records.held_money import find_held_cents
from egm.money.records.money import CashOutRecord, HandpayRecord
from egm.play import player_protection, prizes_in_kind, residual_credit
from egm.play.events import (
    BetRequest,
    DenominationRequest,
    GameRequest,
    LanguageRequest,
    LimitOptions,
    LimitRequest,
)
from egm.play.installed_games import InstalledGame
from egm.play.last_results import list_last_results
from egm.play.records.games import find_last_game, find_open_game, has_cashed_out_since_game
from egm.play.records.tournament_round import find_open_round, read_playable_points
from egm.play.selections import find_highest_stake_credits
from egm.play.standing_bets import read_table_view
from egm.progressive import level_views
from egm.progressive.bet import find_current_bet
from egm.progressive.pools import ProgressivePools
from egm.staff.desk import ServiceDesk
from egm.staff.events import FilledForm
from egm.staff.keys import StaffKey
from paytables import AnalysisDepth, Game, analyse
from paytables.wording import format_percent

#: Requests without a value, whose lamp is lit if the state table would accept them now.
_EVENTS_WITH_BUTTON_LAMPS = (
    EventType.PLAY,
    EventType.CASH_OUT,
    EventType.TOGGLE_SERVICE_CALL,
    EventType.OPEN_SERVICE_MENU,
    EventType.DISMISS_REMINDER,
    EventType.USE_RESIDUAL_CREDIT,
)


def build_snapshot(engine: StateMachineEngine[PositionMachine]) -> Snapshot:
    """Return the complete machine snapshot for a screen; it shows the state after the journal's last transaction."""
    machine = engine.machine
    selection = machine.selection
    in_tournament = is_in_tournament(machine)
    find_last = find_last_purse_game if in_tournament else find_last_game
    last_game_record, last_win = find_last(machine) or (None, None)
    open_game_record = find_open_game(machine)
    if last_game_record is not None and last_game_record.game_reference.id != selection.game_id:
        last_game_record, last_win = None, None  # the result of another game is not shown
    standing_credits_by_spot, closed_spots, felt_state = read_table_view(machine)
    handpay = machine.memory.read(HandpayRecord, MoneyKey.HANDPAY)
    cash_out = machine.memory.read(CashOutRecord, MoneyKey.PAY_OUT)
    return Snapshot(
        journal_sequence=machine.journal.sequence,
        state=engine.state.value,
        time_utc=machine.clock.now().isoformat(timespec="seconds"),
        time_zone=machine.identity.venue.time_zone,
        site=machine.identity.venue.site,
        serial=machine.identity.serial,
        operator_number=machine.identity.operator_number,
        currency=machine.profile.currency,
        language=selection.language,
        languages=machine.profile.languages,
        game_id=(selection.game_id if open_game_record is None else open_game_record.game_reference.id)
        or None,
        denomination_cents=selection.denomination_cents,
        bet_credits=selection.bet_credits,
        bet_wager=dict(selection.options),
        standing_credits_by_spot=standing_credits_by_spot,
        closed_spots=closed_spots,
        felt_state=felt_state,
        staked_cents=0 if open_game_record is None else open_game_record.staked_cents,
        bet_min_cents=machine.profile.play.bet_min_cents,
        bet_max_cents=_find_highest_bet_cents(machine),
        round_stake_max_cents=_find_highest_round_stake_cents(machine),
        bet_credit_needed_cents=_compute_credit_needed_for_bet_cents(machine),
        credit_cents=read_playable_points(machine) * selection.denomination_cents
        if in_tournament
        else machine.credit_cents,
        restricted_cents=machine.read_credit_cents(CreditKind.RESTRICTED),
        nonrestricted_cents=machine.read_credit_cents(CreditKind.NONRESTRICTED),
        paid_cents=0
        if last_game_record is None
        or last_win is None
        or (not in_tournament and has_cashed_out_since_game(machine, last_game_record))
        else last_win.paid_cents,
        last_display=None
        if last_game_record is None or last_game_record.outcome is None
        else dict(last_game_record.outcome.display),
        last_results=() if in_tournament else list_last_results(machine),
        accepted_inputs=_list_accepted_inputs(engine),
        notices=tuple(_iter_notices(machine)),
        tilts=tuple(
            Tilt(
                code=code,
                since=fault["since"],
                cleared_by=fault["cleared_by"],
                detail=fault["detail"],
                held_cents=find_held_cents(machine, code),
            )
            for code, fault in machine.active_faults.items()
            if fault["locks"]
        ),
        handpay=None if handpay is None else _build_handpay_view(machine, handpay),
        payout=None
        if cash_out is None
        else PayoutView(method=cash_out.payout_method, amount_cents=cash_out.amount_cents),
        host_lock=_find_host_lock(machine),
        residual_credit=residual_credit.build_residual_view(machine),
        open_doors=machine.open_doors,
        progressives=level_views.build_level_views(machine),
        defect_rule=machine.profile.pay_out.defect_rule,
        journal_head=machine.journal_head,
        allowed_sound=find_allowed_sound(machine),
        loudness_percent=machine.profile.sound.loudness_percent_max,
        touch_calibration=tuple(machine.memory.get(StaffKey.TOUCH_CALIBRATION) or ()),
        reminder=player_protection.build_reminder_view(machine),
        session=player_protection.build_session_view(machine),
        protection=player_protection.build_protection_view(machine),
        tournament=build_tournament_view(machine),
        service_page=machine.component(ServiceDesk).build_page(machine),
    )


def _build_handpay_view(machine: PositionMachine, handpay: HandpayRecord) -> HandpayView:
    """Return the hand-pay for the screen: the amount, its reason and time, and whether a form must come first."""
    reservation = machine.journal.get(handpay.id)
    payment_request = Event(EventType.CASH_OUT, CashOut())  # only evaluated by the guards, not submitted
    ticket_option: Literal["", "offered", "asked"] = ""
    if ticket_for_handpay.ticket_may_replace_handpay(machine, payment_request):
        is_requested = ticket_for_handpay.ticket_is_requested(machine, payment_request)
        ticket_option = "asked" if is_requested else "offered"
    return HandpayView(
        kind=handpay.kind,
        amount_cents=handpay.amount_cents,
        prizes=prizes_in_kind.build_prize_views(handpay.prizes),
        can_take_cash=prizes_in_kind.prize_can_be_exchanged_for_money(
            machine, Event(EventType.EXCHANGE_PRIZE, FilledForm())
        ),
        reason=handpay.reason_without_ticket,
        owed_cents=0 if handpay.coin_payout is None else handpay.coin_payout.owed_cents,
        paid_in_coins_cents=0 if handpay.coin_payout is None else handpay.coin_payout.paid_cents,
        since="" if reservation is None else reservation.time_utc.isoformat(timespec="seconds"),
        slip_number=0
        if _has_other_handpay(machine)
        else int(machine.memory.get(MoneyKey.LAST_SLIP_NUMBER) or 0) + 1,
        position=machine.position.number if machine.position.position_count > 1 else 0,
        needs_form=not hand_pays.handpay_can_be_settled(machine, payment_request),
        ticket_option=ticket_option,
    )


def _has_other_handpay(machine: PositionMachine) -> bool:
    """Return whether another position has a hand-pay too, so that the next slip number is not known yet.

    Slip numbers follow the order of payment.
    """
    position_number, count = machine.position.number, machine.position.position_count
    other_positions = (Position(number, count) for number in range(1, count + 1) if number != position_number)
    return any(
        machine.journal.state(machine.storage_keys.build_stored_name(MoneyKey.HANDPAY, other)) is not None
        for other in other_positions
    )


def _find_host_lock(machine: PositionMachine) -> HostLock | None:
    """Return the host that has locked the machine for a transfer and the latest end of the lock; None if not locked."""
    money = machine.component(HostMoney)
    transfer_lock = money.transfer_lock
    if transfer_lock is None or not transfer_lock.is_granted:
        return None
    remaining_time = timedelta(
        microseconds=max(0, transfer_lock.end_ns - machine.clock.monotonic_ns()) // 1000
    )
    lock_end = (machine.timekeeper.now() + remaining_time).isoformat(timespec="seconds")
    return HostLock(
        host=money.money_line_name, is_cash_out=transfer_lock.is_cash_out_offer, until_utc=lock_end
    )


def build_game_art(game: Game) -> GameArt:
    """Return a game's own pictures and sounds; empty for a game without files."""

    def list_art_files(names: Mapping[str, str]) -> dict[str, ArtFile]:
        """Return a game's picture or sound files, by their names, with the path and digest that the screen needs."""
        available_assets = {key: game.assets[name] for key, name in names.items() if name in game.assets}
        return {
            key: ArtFile(path=str(file.path), sha256=file.digest) for key, file in available_assets.items()
        }

    return GameArt(
        look=game.art.look or "",
        pictures=list_art_files(game.art.pictures),
        sounds=list_art_files(game.art.sounds),
    )


def build_game_view(installed_game: InstalledGame, *, includes_advice: bool = True) -> GameView:
    """Return what the screen needs to draw a game and print its rules; with ``includes_advice`` also its strategy."""
    game = installed_game.game
    presentation = game.build_presentation()
    return GameView(
        id=game.id,
        family=game.family,
        version=game.version,
        digest=game.digest,
        title=dict(game.title),
        help=dict(game.help),
        departures=game.departures,
        bet_options=tuple(game.bet_options),
        denominations_cents=installed_game.denominations_cents,
        return_percent=installed_game.lowest_return_percent,
        presentation={key: value for key, value in presentation.items() if key != "chart" or includes_advice},
        long_odds=installed_game.long_odds,
        art=build_game_art(game),
        chances=installed_game.bet_chances,
        returns=dict(installed_game.return_percent_by_spot_group),
        commission_percent=""
        if game.rules.commission_rate is None
        else format_percent(game.rules.commission_rate),
        main_bet=next(iter(installed_game.return_percent_by_spot_group), ""),
    )


def build_withdrawn_game_view(game: Game, denomination_cents: int) -> GameView:
    """Return the screen's view of an open game that is no longer offered, so that it can be played to its end."""
    lowest_return = min(bet.rtp for bet in analyse(game, AnalysisDepth.RETURN).bets)
    return build_game_view(
        InstalledGame(game, (denomination_cents,), lowest_return, ProgressivePools())
    ).model_copy(update={"is_offered": False})


def _find_highest_round_stake_cents(machine: PositionMachine) -> int | None:
    """Return the highest stake of one round of the selected game, in minor units, or None if no game is selected."""
    game_id, denomination_cents = machine.selection.game_id, machine.selection.denomination_cents
    return (
        find_highest_stake_credits(machine, game_id, denomination_cents) * denomination_cents
        if game_id in machine.games
        else None
    )


def _find_highest_bet_cents(machine: PositionMachine) -> int:
    """Return the highest bet that the player may place, in minor units.

    In a tournament it is the fixed bet of the tournament. Otherwise it is the limit of the jurisdiction or of the
    operator, whichever is lower.
    """
    tournament_round = find_open_round(machine)
    if tournament_round is None:
        return machine.profile.play.bet_max_cents
    return tournament_round.bet_points * machine.selection.denomination_cents


def _compute_credit_needed_for_bet_cents(machine: PositionMachine) -> int:
    """Return the credit that the current bet needs for its whole round, in minor units; 0 without a bet."""
    bet = find_tournament_bet(machine) if is_in_tournament(machine) else find_current_bet(machine)
    return 0 if bet is None else bet.bet_cents + bet.raise_reserve_cents


def _list_accepted_inputs(engine: StateMachineEngine[PositionMachine]) -> tuple[str, ...]:
    """Return the names of the player's inputs that the machine accepts now."""
    accepted_names = [event.value for event in _EVENTS_WITH_BUTTON_LAMPS if engine.accepts_event_type(event)]
    machine = engine.machine
    game_id = machine.selection.game_id
    game = machine.games.get(game_id)
    bets = () if game is None else game.bet_options
    denominations = machine.denominations_cents.get(game_id, ())
    requests: tuple[tuple[EventType, Iterable[Payload]], ...] = (
        (EventType.SELECT_BET, (BetRequest(bet_credits=bet) for bet in bets)),
        (EventType.SELECT_GAME, (GameRequest(game_id=game_id) for game_id in machine.games)),
        (
            EventType.SELECT_DENOMINATION,
            (DenominationRequest(denomination_cents=cents) for cents in denominations),
        ),
        (EventType.SELECT_LANGUAGE, (LanguageRequest(language=code) for code in machine.profile.languages)),
        (EventType.SET_OWN_LIMIT, (LimitRequest(limit=1, options=LimitOptions(quantity="minutes")),)),
    )
    accepted_names += [
        event.value
        for event, payloads in requests
        if any(engine.accepts_event(Event(event, payload)) for payload in payloads)
    ]
    return tuple(accepted_names)


def _iter_notices(machine: PositionMachine) -> Iterator[Notice]:
    """Yield the notices (texts for the person at the screen): that of the last event, then those of every feature."""
    if machine.notice is not None:
        yield machine.notice
    yield from machine.component(Features).iter_notices(machine)
