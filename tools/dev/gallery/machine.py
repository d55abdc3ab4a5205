"""Build the scenes of the machine itself: start, out of service, payment, player protection, service."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from egm.features.tournament.example import EXAMPLE_RULES_FILE
from egm.features.tournament.notice import NOTICE_LANGUAGES, list_sections
from egm.features.tournament.rules import parse_rules
from egm.kernel.messages import (
    BenchReply,
    GameView,
    HandpayView,
    HostLock,
    Notice,
    PayoutView,
    PlayerProtectionView,
    PlayerSessionView,
    PrizeInKind,
    Reminder,
    ResidualCreditView,
    Tilt,
    TournamentView,
)
from egm.screen.input_reducer import apply_action
from egm.screen.message_reducer import apply_bench_reply, mark_machine_connection_lost
from egm.screen.theme import Theme
from egm.screen.view import Action, View
from tools.dev.gallery.pages import iter_page_scenes, iter_sample_pages
from tools.lab.views import PICTURE_TIME_UTC, UNIT_CENTS, build_idle_view


def _iter_protection_scenes(
    games: tuple[GameView, ...], language: str, theme: Theme
) -> Iterator[tuple[str, View]]:
    """Yield the scenes of player protection: reminders, reached limits, and the page where a player sets limits."""
    protection_fields = {
        "protection": PlayerProtectionView(
            must_show_clock=True,
            can_set_limits=True,
            help_line={"en": "Help: 1 800 461-0140", "fr": "Aide : 1 800 461-0140"},
        ),
        "session": PlayerSessionView(
            since_utc="2026-11-21T16:00:00+00:00", spent_cents=3450, limit_minutes=60
        ),
    }
    for kind, until_utc in (
        ("time", ""),
        ("spend", ""),
        ("time_limit", "2026-11-21T17:20:00+00:00"),
        ("spend_limit", ""),
    ):
        reminder = Reminder.model_validate(
            {"kind": kind, "minutes": 65, "spent_cents": 3450, "until_utc": until_utc}
        )
        acknowledge_inputs = ("acknowledge",) if kind in {"time", "spend"} else ()
        accepted_inputs = (*acknowledge_inputs, "cash_out", "language", "service")
        idle_view = build_idle_view(
            games, games[0], language, reminder=reminder, accepted_inputs=accepted_inputs, **protection_fields
        )
        yield f"reminder-{kind}", idle_view
    idle_view = build_idle_view(
        games, games[0], language, accepted_inputs=("limit", "language", "service"), **protection_fields
    )
    view, _ = apply_action(idle_view, Action("help"), theme)
    yield "limits", replace(view, sheet_index=-1)
    yield "help-line", replace(view, sheet_index=-2)


def _iter_tournament_scenes(
    games: tuple[GameView, ...], language: str, theme: Theme
) -> Iterator[tuple[str, View]]:
    """Yield the scenes of a machine in a tournament, and the pages of its published rules."""
    rules = parse_rules(EXAMPLE_RULES_FILE.read_text(encoding="utf-8"))
    announced = TournamentView(
        name={"en": rules.name.en, "fr": rules.name.fr},
        rules={
            notice_language: list_sections(rules, notice_language) for notice_language in NOTICE_LANGUAGES
        },
        is_on=False,
    )
    round_values = {"is_on": True, "entry": 14, "round": 1, "points": 291, "won_points": 57, "games_left": 97}
    for name, changes in (
        ("waits", {"is_on": True}),
        ("round", round_values),
        ("time", {**round_values, "games_left": None, "minutes_left": 18}),
        ("over", {**round_values, "points": 0, "is_round_over": True}),
    ):
        tournament = announced.model_copy(update=changes)
        yield (
            f"tournament-{name}",
            build_idle_view(
                games,
                games[0],
                language,
                state="tournament",
                tournament=tournament,
                credit_cents=tournament.points * UNIT_CENTS,
                accepted_inputs=("play", "language", "service"),
            ),
        )
    idle_view = build_idle_view(
        games, games[0], language, tournament=announced, accepted_inputs=("language", "service")
    )
    view, _ = apply_action(idle_view, Action("help"), theme)
    for n, _ in enumerate(announced.rules[language]):
        yield f"tournament-rules-{n + 1}", replace(view, sheet_index=n)


def iter_machine_scenes(
    games: tuple[GameView, ...], language: str, theme: Theme
) -> Iterator[tuple[str, View]]:
    """Yield the scenes of the machine that do not depend on a game."""
    game = games[0]

    def stopped(**changes: Any) -> View:
        return build_idle_view(games, game, language, accepted_inputs=("language", "service"), **changes)

    idle_view = build_idle_view(games, game, language)
    yield "boot", View(now=1.2)
    yield "self-test", stopped(state="self_test")
    yield "link-lost", replace(mark_machine_connection_lost(idle_view), now=idle_view.now + 1.0)
    yield "games", apply_action(idle_view, Action("games"), theme)[0]
    for kind in ("cancelled_credit", "jackpot", "progressive", "bonus"):
        yield (
            f"handpay-{kind}",
            stopped(state="handpay", handpay=HandpayView(kind=kind, amount_cents=1234567)),
        )
    hamper = PrizeInKind(
        id="hamper", names={"en": "Orchard hamper", "fr": "Panier du verger"}, value_cents=12000
    )
    for name, extra_values in (("delivered", {}), ("or-cash", {"amount_cents": 1850, "can_take_cash": True})):
        handpay_values = {"kind": "merchandise", "amount_cents": 0, "prizes": (hamper,), **extra_values}
        yield (
            f"handpay-prize-{name}",
            stopped(state="handpay", handpay=HandpayView.model_validate(handpay_values)),
        )
    for method in ("ticket", "coins", "aft"):
        paying_view = stopped(state="paying", payout=PayoutView(method=method, amount_cents=4725))
        yield f"paying-{method}", replace(paying_view, now=101.5, scene_began_at=100.0)
    yield from _iter_stopped_machine_scenes(stopped)
    yield from _iter_credit_scenes(games, game, language)
    yield from _iter_money_scenes(games, game, language)
    for name, cash_out in (("transfer", False), ("cash-out", True)):
        lock = HostLock(host="main", is_cash_out=cash_out, until_utc="2026-11-21T17:05:08+00:00")
        yield (
            f"locked-{name}",
            replace(stopped(state="locked", host_lock=lock), now=101.5, scene_began_at=100.0),
        )
    yield from _iter_protection_scenes(games, language, theme)
    yield from _iter_tournament_scenes(games, language, theme)
    yield from iter_page_scenes(stopped(), iter_sample_pages(), theme)
    yield "drawer", _build_device_drawer_view(idle_view)
    yield (
        "refused",
        build_idle_view(
            games, game, language, notices=(Notice(code="refused.bet_is_covered", severity="warning"),)
        ),
    )


def _iter_stopped_machine_scenes(stopped: Callable[..., View]) -> Iterator[tuple[str, View]]:
    """Yield the scenes of a stopped machine: open doors, tilts, and a memory that cannot be used."""
    yield "door", stopped(state="door_open", open_doors=("main", "cash_box"))
    for code, cleared_by in (
        ("io_board.communication", "self"),
        ("bill_acceptor.disputed", "attendant"),
        ("game_defective", "technician"),
    ):
        tilt = Tilt.model_validate({"code": code, "since": PICTURE_TIME_UTC, "cleared_by": cleared_by})
        yield f"tilt-{cleared_by}", stopped(state="tilt", tilts=(tilt,))
    tilts = [
        Tilt.model_validate({"code": code, "since": PICTURE_TIME_UTC, "cleared_by": cleared_by})
        for code, cleared_by in (
            ("ticket_printer.paper_out", "attendant"),
            ("hopper.hopper_empty", "attendant"),
            ("bill_acceptor.stacker_full", "technician"),
        )
    ]
    yield "tilt-several", stopped(state="tilt", tilts=tuple(tilts))
    cabinet_file_tilt = Tilt.model_validate(
        {
            "code": "cabinet_file_unusable",
            "since": PICTURE_TIME_UTC,
            "cleared_by": "technician",
            "detail": "cabinet.toml: line 12: machine.licence_holder: tickets bear it, and it is missing",
        }
    )
    yield "tilt-cabinet-file", stopped(state="tilt", tilts=(cabinet_file_tilt,))
    memory_tilt = Tilt(code="memory_damaged", since=PICTURE_TIME_UTC, cleared_by="memory_clear")
    yield "tilt-memory", stopped(state="tilt", tilts=(memory_tilt,))
    yield "out-of-service", stopped(state="out_of_service")


def _iter_money_scenes(
    games: tuple[GameView, ...], game: GameView, language: str
) -> Iterator[tuple[str, View]]:
    """Yield the scenes of a machine out of service, and of notices about money in and out."""
    for code in ("disabled.host", "disabled.progressive", "disabled.operator", "out_of_service.self_test"):
        notices = (Notice(code=code, severity="warning", is_lasting=True),)
        accepted_inputs = ("cash_out", "language")
        out_of_service_view = build_idle_view(
            games, game, language, state="out_of_service", accepted_inputs=accepted_inputs, notices=notices
        )
        yield f"out-{code.partition('.')[2]}", out_of_service_view
    for code in ("bill_accepted", "ticket_accepted", "coins_accepted", "ticket_printed", "ticket_returned"):
        values: dict[str, int | str] = {} if code == "ticket_returned" else {"amount_cents": 2000}
        notice_view = build_idle_view(games, game, language, notices=(Notice(code=code, values=values),))
        yield f"value-{code}", replace(notice_view, now=101.2)


def _iter_credit_scenes(
    games: tuple[GameView, ...], game: GameView, language: str
) -> Iterator[tuple[str, View]]:
    """Yield scenes with several kinds of credit and with residual credit."""
    yield (
        "credit-restricted",
        build_idle_view(games, game, language, credit_cents=1500, restricted_cents=1500),
    )
    kinds = {"credit_cents": 123450, "restricted_cents": 100000, "nonrestricted_cents": 2500}
    yield "credit-promotional", build_idle_view(games, game, language, **kinds)
    accepted_inputs = ("language", "service", "residual")
    idle_values = {
        "credit_cents": 3,
        "residual_credit": ResidualCreditView(amount_cents=3),
        "accepted_inputs": accepted_inputs,
    }
    yield "residual", build_idle_view(games, game, language, **idle_values)
    played_residual_credit = ResidualCreditView(amount_cents=3, prize_cents=5)
    yield (
        "residual-played",
        build_idle_view(games, game, language, **{**idle_values, "residual_credit": played_residual_credit}),
    )
    disabled_notices = (Notice(code="disabled.host", severity="warning", is_lasting=True),)
    out_of_service_values = {"state": "out_of_service", "notices": disabled_notices, **idle_values}
    yield "residual-out", build_idle_view(games, game, language, **out_of_service_values)


def _build_device_drawer_view(idle_view: View) -> View:
    """Return a view with the drawer of simulated devices open, with every kind of device."""
    state_by_device: dict[str, dict[str, Any]] = {
        "bill": {
            "inside_cents": 0,
            "powered": True,
            "status": "idle",
            "stuck": None,
            "jams_next": False,
            "notes_cents": [100, 500, 1000, 2000, 5000, 10000],
        },
        "coins": {"coins_cents": [5, 10, 25, 100]},
        "printer": {
            "ticket_in_path": False,
            "printed": [{"barcode": "001234567890123456", "barcode_complete": True}],
        },
        "io": {"doors_open": ["belly"], "keys_on": ["operator"], "tower": ["service"]},
    }
    drawer_view = replace(
        idle_view,
        has_device_drawer=True,
        drawer_opening_began_at=90.0,
        is_bench_connected=True,
        state_by_device=state_by_device,
        now=101.0,
    )
    return apply_bench_reply(drawer_view, BenchReply(ok=True, text="2000 cents inserted"))
