"""Build service pages of every layout: sign-in, menu, meters, form, keyboard, tests and game recall."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any, Final

from egm.kernel.events import EventType
from egm.kernel.messages import GameView
from egm.kernel.service_pages import PageAction, PageRow, PageTable, PageText, Prompt, Replay, ServicePage
from egm.people import Role
from egm.play.wager_texts import describe_choice
from egm.screen.message_reducer import apply_message
from egm.screen.theme import Theme
from egm.screen.view import View, build_view_timeline
from egm.staff.page_texts import build_text
from egm.testing.machine import MachineRig
from egm.testing.service_menu import MenuUser
from paytables import Decision as Asked
from paytables import Outcome

_PAGE_TIME_UTC: Final = "2026-11-21T17:05:00+00:00"
#: Steps of the game recalled.
_RECALLED_STEP_COUNT: Final = 3


def build_bilingual_text(en: str, fr: str) -> PageText:
    """Return a text in both languages."""
    return PageText(kind="local", values={"en": en, "fr": fr})


def build_untranslated_text(value: str) -> PageText:
    """Return a value as text that needs no translation."""
    return PageText(kind="plain", value=value)


_BACK_ACTION: Final = PageAction(id="back", label=build_bilingual_text("Back", "Retour"), style="back")
_SIGNED_IN_PERSON_TEXT: Final = build_bilingual_text("Attendant · M. Tremblay", "Préposée · M. Tremblay")
_SAMPLE_METERS: Final = (
    ("Coin-in", "Mises totales", 128_450_75),
    ("Coin-out", "Lots payés par la machine", 117_204_50),
    ("Bills in", "Billets acceptés", 15_320_00),
    ("Coins to the drop", "Pièces à la caisse", 1_204_25),
    ("Tickets in", "Coupons acceptés", 4_110_00),
    ("Tickets out", "Coupons imprimés", 12_930_40),
    ("Attendant-paid jackpots", "Gros lots payés par un préposé", 5_000_00),
    ("Attendant-paid cancelled credit", "Crédits payés par un préposé", 840_10),
    ("Physical coins out", "Pièces payées", 960_00),
    ("Games played", "Parties jouées", 41_204),
    ("Games won", "Parties gagnées", 11_870),
    ("Games lost", "Parties perdues", 29_334),
)


def build_sign_in_page() -> ServicePage:
    """Return a page that asks for a PIN."""
    prompt = Prompt(
        label=build_bilingual_text("Your PIN", "Votre NIP"), kind="pin", value="1234", length_max=8
    )
    notice = build_bilingual_text("Staff number or PIN not valid", "Numéro d'employé ou NIP invalide")
    return ServicePage(
        id="sign-in",
        title=build_bilingual_text("Sign in", "Identification"),
        notice=notice,
        notice_severity="warning",
        prompt=prompt,
        actions=(_BACK_ACTION,),
    )


def build_menu_page() -> ServicePage:
    """Return a page with actions of every style, one of them disabled; :func:`list_real_pages` has the real menu."""
    entries = (
        ("Meters", "Compteurs", "go", True),
        ("Events", "Événements", "go", True),
        ("Game recall", "Rappel des parties", "go", True),
        ("Tickets, bills, hand-pays", "Coupons, billets, paiements", "go", True),
        ("Diagnostics", "Diagnostics", "go", True),
        ("Configuration", "Configuration", "go", False),
        ("Software", "Logiciel", "go", True),
        ("Progressives", "Lots progressifs", "go", True),
        ("Hand-pay", "Paiement manuel", "confirm", True),
        ("Out of service", "Mettre hors service", "danger", True),
    )
    actions = [
        PageAction.model_validate(
            {"id": f"a{i}", "label": build_bilingual_text(en, fr), "style": style, "enabled": is_enabled}
        )
        for i, (en, fr, style, is_enabled) in enumerate(entries)
    ]
    sign_out_action = PageAction(id="out", label=build_bilingual_text("Sign out", "Quitter"), style="back")
    return ServicePage(
        id="menu",
        title=build_bilingual_text("Service menu", "Menu de service"),
        person=_SIGNED_IN_PERSON_TEXT,
        notice=build_bilingual_text(
            "Configuration needs the logic door open",
            "La configuration exige que la porte logique soit ouverte",
        ),
        actions=(*actions, sign_out_action),
    )


def build_meters_page() -> ServicePage:
    """Return a page of long tables that can only be read."""
    rows = tuple(
        PageRow(
            cells=(
                build_bilingual_text(en, fr),
                PageText(kind="number" if "ames" in en else "money", value=value),
            )
        )
        for en, fr, value in _SAMPLE_METERS
    )
    events = tuple(
        PageRow(
            cells=(
                PageText(kind="moment", value=_PAGE_TIME_UTC),
                build_bilingual_text("Main door opened", "Porte principale ouverte"),
                build_untranslated_text(str(4812 - i)),
            ),
            icon="alarm" if i % 5 == 0 else "good" if i % 5 == 1 else "warning",
        )
        for i in range(16)
    )
    heads = (
        build_bilingual_text("When", "Date et heure"),
        build_bilingual_text("What", "Événement"),
        build_bilingual_text("Number", "Numéro"),
    )
    return ServicePage(
        id="meters",
        title=build_bilingual_text(
            "Master meters and the last events", "Compteurs permanents et derniers événements"
        ),
        person=_SIGNED_IN_PERSON_TEXT,
        tables=(
            PageTable(title=build_bilingual_text("Master meters", "Compteurs permanents"), rows=rows),
            PageTable(title=build_bilingual_text("Events", "Événements"), columns=heads, rows=events),
        ),
        actions=(
            _BACK_ACTION,
            PageAction(id="print", label=build_bilingual_text("Print", "Imprimer")),
            PageAction(id="period", label=build_bilingual_text("Period meters", "Compteurs de période")),
        ),
    )


def build_amount_page() -> ServicePage:
    """Return a form page with its subject and a field for an amount."""
    rows = (
        PageRow(
            cells=(
                build_bilingual_text("Kind", "Nature"),
                build_bilingual_text("Cancelled credit", "Crédits annulés"),
            )
        ),
        PageRow(cells=(build_bilingual_text("Recorded", "Inscrit"), PageText(kind="money", value=123_450))),
        PageRow(
            cells=(build_bilingual_text("Since", "Depuis"), PageText(kind="moment", value=_PAGE_TIME_UTC))
        ),
    )
    ask = Prompt(
        label=build_bilingual_text("Amount paid", "Montant payé"), kind="amount", value="123450", length_max=9
    )
    return ServicePage(
        id="amount",
        title=build_bilingual_text("Hand-pay", "Paiement manuel"),
        person=_SIGNED_IN_PERSON_TEXT,
        tables=(PageTable(title=build_bilingual_text("Hand-pay", "Paiement manuel"), rows=rows),),
        prompt=ask,
        actions=(_BACK_ACTION,),
    )


def build_text_page() -> ServicePage:
    """Return a page that shows a keyboard."""
    ask = Prompt(label=build_bilingual_text("Why", "Motif"), kind="text", value="Cleared a bill jam")
    return ServicePage(
        id="text",
        title=build_bilingual_text("Intervention", "Intervention"),
        person=_SIGNED_IN_PERSON_TEXT,
        prompt=ask,
        actions=(_BACK_ACTION,),
    )


def build_choice_page() -> ServicePage:
    """Return a page with a choice among several lines."""
    doors = (
        ("Main door", "Porte principale"),
        ("Logic door", "Porte logique"),
        ("Drop door", "Porte de la caisse à pièces"),
    )
    choices = tuple(
        PageAction(id=str(i), label=build_bilingual_text(en, fr)) for i, (en, fr) in enumerate(doors)
    )
    ask = Prompt(label=build_bilingual_text("Which door?", "Quelle porte?"), kind="choice", choices=choices)
    return ServicePage(
        id="choice",
        title=build_bilingual_text("Door test", "Essai des portes"),
        person=_SIGNED_IN_PERSON_TEXT,
        prompt=ask,
        actions=(_BACK_ACTION,),
    )


def build_pattern_page(kind: str) -> ServicePage:
    """Return a page that shows a test pattern of the given kind on the screen."""
    names = {
        "display": ("Display test", "Essai de l'écran"),
        "touch": ("Touch test", "Essai du tactile"),
        "calibrate": ("Calibrate the touch screen", "Calibrer l'écran tactile"),
        "sound": ("Sound test", "Essai du son"),
    }
    return ServicePage.model_validate(
        {
            "id": kind,
            "title": build_bilingual_text(*names[kind]),
            "person": _SIGNED_IN_PERSON_TEXT,
            "test": True,
            "pattern": kind,
            "actions": () if kind == "calibrate" else (_BACK_ACTION,),
        }
    )


def build_recall_page(game: GameView, recalled: Outcome | Asked, step: int) -> ServicePage:
    """Return the page of a recalled game: its outcome, or a decision it asked for."""
    is_decision = isinstance(recalled, Asked)
    display: dict[str, Any] = (
        dict(recalled.prompt) if isinstance(recalled, Asked) else recalled.to_json()["display"]
    )
    options: dict[str, Any] = {}
    if isinstance(recalled, Asked):
        answer = recalled.options[-1]
        options = {"decision_kind": recalled.kind, "options": recalled.options, "answer": answer}
        options["answered"] = describe_choice(recalled.kind, answer)
    win = None if isinstance(recalled, Asked) else recalled.returned_credits
    replay = Replay(
        play_id="play-4812",
        game_id=game.id,
        game_version=game.version,
        time_utc=_PAGE_TIME_UTC,
        denomination_cents=25,
        bet_credits=max(game.bet_options),
        credit_before_cents=123_450,
        returned_credits=win,
        paid_cents=None if win is None else win * 25,
        step=step,
        steps=_RECALLED_STEP_COUNT,
        display=display,
        **options,
    )
    earlier = PageAction(
        id="earlier", label=build_text("service.recall.earlier"), style="back", enabled=step > 1
    )
    later = PageAction(
        id="later", label=build_text("service.recall.later"), enabled=step < _RECALLED_STEP_COUNT
    )
    figures = PageAction(id="figures", label=build_text("service.recall.figures"))
    return ServicePage(
        id=f"recall-{is_decision}-{step}",
        title=build_bilingual_text("Game recall", "Rappel des parties"),
        person=_SIGNED_IN_PERSON_TEXT,
        actions=(_BACK_ACTION, earlier, later, figures),
        replay=replay,
    )


def iter_page_scenes(
    idle_view: View, named_pages: Iterator[tuple[str, ServicePage]], theme: Theme
) -> Iterator[tuple[str, View]]:
    """Yield each page as a view of an idle machine on which it is open."""
    assert idle_view.snapshot is not None
    for name, page in named_pages:
        view = apply_message(idle_view, idle_view.snapshot.model_copy(update={"service_page": page}))
        line = build_view_timeline(view.recalled_view, theme) if view.recalled_view is not None else None
        yield name, replace(view, now=100.0 + (line.roll_up_end_seconds + 0.1 if line is not None else 1.0))


#: Maximum number of pages of the walk.
VISITED_PAGES_MAX: Final = 110


def _list_links(page: ServicePage) -> list[str]:
    """Return the ids of a page's actions that only open other pages: plain buttons, and rows that can be touched."""
    action_ids = [action.id for action in page.actions if action.enabled and action.style == "go"]
    return action_ids + [row.action for table in page.tables for row in table.rows[:30] if row.action]


def _reopen_if_closed(menu: MenuUser) -> bool:
    """Sign in to the menu again if the last touch closed it; return whether that was necessary."""
    if menu.is_open:
        return False
    menu.open().identify(Role.MANAGER)
    return True


def _iter_menu_pages(menu: MenuUser) -> Iterator[ServicePage]:
    """Yield the pages that are at most two touches from the main menu, one per layout, and each form's first prompt."""
    seen_layouts = set()
    yield menu.page
    all_actions = sorted(menu.collect_all_actions())
    for first_action in [*_list_links(menu.home().page), *all_actions]:
        menu.home().touch(first_action)
        if _reopen_if_closed(menu):
            continue
        page = menu.page
        page_layout = (page.title.value, len(page.tables), page.prompt is None)
        if page_layout in seen_layouts:
            continue
        seen_layouts.add(page_layout)
        yield page
        for second_action in _list_links(page)[:4]:
            if (
                not menu.is_open
                or menu.page.title != page.title
                or second_action not in _list_links(menu.page)
            ):
                menu.home().touch(first_action)
            menu.touch(second_action)
            if not _reopen_if_closed(menu):
                yield menu.page


def list_real_pages(folder: Path) -> list[ServicePage]:
    """Return pages of a real machine's service menu after three games; its state is in ``folder``."""
    rig = MachineRig(folder).boot().insert(2000)
    for _ in range(3):
        rig.engine.handle(EventType.PLAY)
        rig.report_shown()
    menu = MenuUser(rig)
    pages = [menu.open().page]
    menu.identify(Role.MANAGER)
    pages.append(menu.home().touch("recall").page)
    pages.append(menu.touch(next(row.action for row in menu.page.tables[0].rows)).page)
    pages.append(menu.touch("show").page)
    menu.home()
    pages += islice(_iter_menu_pages(menu), VISITED_PAGES_MAX - len(pages))
    rig.close()
    return pages


def iter_real_page_scenes(
    idle_view: View, pages: list[ServicePage], theme: Theme
) -> Iterator[tuple[str, View]]:
    """Yield pages of a real machine as views, one of each title and layout, numbered in order."""
    shapes = {
        (page.title.value, len(page.tables), page.prompt and page.prompt.kind): page
        for page in reversed(pages)
    }
    distinct_pages = [page for page in pages if page in shapes.values()]
    names = [
        f"menu-{i:02}-{str(page.title.value).removesuffix('.title').rpartition('.')[2]}"
        for i, page in enumerate(distinct_pages, 1)
    ]
    yield from iter_page_scenes(idle_view, iter(zip(names, distinct_pages, strict=True)), theme)


def iter_sample_pages() -> Iterator[tuple[str, ServicePage]]:
    """Yield one sample page of each layout, with its name."""
    for page in (
        build_sign_in_page(),
        build_meters_page(),
        build_amount_page(),
        build_text_page(),
        build_choice_page(),
        build_pattern_page("display"),
        build_pattern_page("calibrate"),
        build_pattern_page("touch"),
        build_pattern_page("sound"),
    ):
        yield f"service-{page.id}", page
