"""The screens of lock-ups: door, tilt, hand-pay, paying, a host's lock, out of service, connection lost.

Each says what happened, what to do, and what ends it. The credit stays visible below.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from typing import Final, NamedTuple

import pygame

from egm.kernel.messages import HandpayView, HostLock, Snapshot, Tilt
from egm.links.screen.start_up_activity import StartUpActivity
from egm.links.systemd import MACHINE_START_SECONDS_MAX
from egm.screen.art.files import render_own_picture
from egm.screen.art.paths import build_ellipse, build_regular_polygon, build_rounded_box
from egm.screen.art.vector_canvas import LinearGradient, VectorCanvas
from egm.screen.motion import ease_out
from egm.screen.painter import FACT_SEPARATOR, Rect, TextStyle
from egm.screen.scenes.drawing_context import BLACK, WHITE, DrawingContext, format_message, format_prize_names
from egm.screen.scenes.moving_money import draw_item_at_slot
from egm.screen.text import LOCALE_BY_LANGUAGE, CatalogueError, Texts, format_fault
from egm.screen.theme import Colour, mix_colours
from egm.screen.view import Scene, View, compute_seconds_since


class _PlateStyle(NamedTuple):
    """The colour and the pictogram of a lock-up's plate.

    Players who cannot tell the colours apart recognise the kind of lock-up by the pictogram.
    """

    colour: str
    pictogram: str


#: The style of the plate in each scene.
_PLATE_STYLE_BY_SCENE: Final = {
    Scene.STARTING: _PlateStyle("info", "clock"),
    Scene.CONNECTION_LOST: _PlateStyle("info", "clock"),
    Scene.PAYING: _PlateStyle("emerald", "note"),
    Scene.LOCKED_BY_HOST: _PlateStyle("info", "clock"),
    Scene.HANDPAY: _PlateStyle("gold", "note"),
    Scene.DOOR: _PlateStyle("alarm", "door"),
    Scene.TILT: _PlateStyle("amber", "warning"),
    Scene.OUT_OF_SERVICE: _PlateStyle("steel", "stop"),
}

#: Height of the pictogram on a plate, in units.
_PICTOGRAM_HEIGHT: Final = 132.0
#: The share of the pictogram's height that stands above the plate.
_PICTOGRAM_SHARE_ABOVE_PLATE: Final = 0.42
#: Scenes that show the journal head: once staff have noted it on paper, the journal cannot be replaced
#: unnoticed.
_SCENES_WITH_JOURNAL_HEAD: Final = frozenset({Scene.HANDPAY, Scene.DOOR, Scene.TILT, Scene.OUT_OF_SERVICE})
#: The maximum number of lines of a fault's technical detail.
_DETAIL_LINES_MAX: Final = 3
#: Seconds without a machine link before the screen asks to call an attendant.
CONNECTION_LOST_SECONDS_UNTIL_CALL: Final = 60.0
#: What it takes to clear a fault, from the least to the most. These are the values of :attr:`Tilt.cleared_by`.
_CLEARANCES_IN_ASCENDING_ORDER: Final = ("self", "attendant", "technician", "ruling", "memory_clear")


def draw_lockup(context: DrawingContext, scene: Scene) -> None:
    """Dim the picture above the meters, and draw the plate of a lock-up over it, sliding in from above."""
    entrance_share = (
        1.0
        if context.view.is_motion_reduced
        else ease_out(
            (context.view.now - context.view.scene_began_at) / context.theme.motion.lockup_entrance_seconds
        )
    )
    context.painter.fill_rounded_rect(
        context.layout.area_above_meters, (4, 2, 10, round(190 * entrance_share))
    )
    text = describe_lockup_with_journal_head(context, scene)
    width = min(1180.0, context.layout.size[0] - 80.0)
    height = max(560.0, _compute_needed_height(context, scene, text, width))
    x = (context.layout.size[0] - width) / 2
    y = _find_plate_top(context, height) - 40 * (1 - entrance_share)
    _draw_plate(context, (x, y, width, height), scene, text)


def _find_plate_top(context: DrawingContext, height: float) -> float:
    """Return the top of a lock-up's plate, which is ``height`` units high.

    The plate is centred, or lower if the pictogram above the plate would cover the game's title.
    """
    layout = context.layout
    _, y, _, h = layout.title_sign
    top_min = min(
        y + h + _PICTOGRAM_HEIGHT * _PICTOGRAM_SHARE_ABOVE_PLATE, layout.area_above_meters[3] - height - 20
    )
    return max((layout.area_above_meters[3] - height) / 2, top_min)


def _compute_needed_height(context: DrawingContext, scene: Scene, text: "LockupText", width: float) -> float:
    """Return the height of a lock-up's plate that has room for all of its texts."""
    style = TextStyle("text", "body", "text")
    line_count = sum(len(context.painter.wrap_text(line, width - 160, style)) for line in text.lines)
    heading_height = 210 + (0 if not text.headline else 126 if text.is_about_money else 84)
    picture_height = 150 if scene is Scene.PAYING and _choose_payout_picture(context) else 0
    foot_height = 52 + 36 * max(2, len(_wrap_remedy(context, text, width)))
    return (
        heading_height
        + line_count * context.theme.size_by_name["body"] * 1.35
        + 4 * len(text.lines)
        + foot_height
        + picture_height
    )


def _wrap_remedy(context: DrawingContext, text: "LockupText", width: float) -> list[str]:
    """Return the text that says what ends the lock-up, in lines that fit into ``width`` units."""
    return (
        context.painter.wrap_evenly(text.remedy, width - 80, TextStyle("strong", "body"))
        if text.remedy
        else []
    )


@dataclass(frozen=True, slots=True)
class LockupText:
    """The texts of a lock-up: title, one large line (an amount or a text), explanation, and remedy."""

    title: str
    headline: str = ""
    lines: tuple[str, ...] = ()
    remedy: str = ""
    """What ends the lock-up, and who can do it; empty if it ends by itself."""
    is_about_money: bool = False
    pictogram: str = ""
    """The name of the drawing above the plate; empty for the one that belongs to the scene."""


def describe_lockup_with_journal_head(context: DrawingContext, scene: Scene) -> LockupText:
    """Return the texts of a lock-up.

    If staff should note the journal head (the number and hash of the last journal entry), it is among them.
    """
    text, snapshot = describe_lockup(context, scene), context.view.snapshot
    if snapshot is None or not snapshot.journal_head or scene not in _SCENES_WITH_JOURNAL_HEAD:
        return text
    journal_head_text = context.texts.translate("tilt.journal", head=snapshot.journal_head)
    return replace(text, lines=(*text.lines, journal_head_text))


def describe_lockup(context: DrawingContext, scene: Scene) -> LockupText:
    """Return the texts that say what a lock-up is about and what to do."""
    translate, snapshot = context.texts.translate, context.view.snapshot
    if scene is Scene.HANDPAY and snapshot is not None and snapshot.handpay is not None:
        return _describe_handpay(context, snapshot.handpay)
    if scene is Scene.TILT and snapshot is not None and snapshot.tilts:
        return _describe_tilts(context, snapshot.tilts)
    if scene is Scene.OUT_OF_SERVICE and snapshot is not None:
        return _describe_out_of_service(context, snapshot)
    if scene is Scene.LOCKED_BY_HOST and snapshot is not None and snapshot.host_lock is not None:
        return _describe_host_lock(context, snapshot.host_lock)
    doors = (
        FACT_SEPARATOR.join(_format_door(context, door) for door in snapshot.open_doors) if snapshot else ""
    )
    payout = snapshot.payout if snapshot is not None else None
    amount_text = context.format_money(payout.amount_cents) if payout else ""
    text_key = (
        f"paying.{payout.method}"
        if payout and context.texts.has_text(f"paying.{payout.method}")
        else "paying.other"
    )
    if scene is Scene.STARTING and (snapshot is None or context.view.start_up_activity is not None):
        return _describe_start_up(context)
    return {
        Scene.DOOR: LockupText(
            translate("door.title"),
            doors,
            (translate("door.say"),),
            translate(_choose_door_remedy_key(snapshot)),
        ),
        Scene.TILT: LockupText(
            translate("tilt.title"), "", (translate("tilt.say"),), translate("tilt.cleared_attendant")
        ),
        Scene.PAYING: LockupText(
            translate("status.cashing_out"), amount_text, (translate(text_key),), is_about_money=True
        ),
        Scene.LOCKED_BY_HOST: LockupText(translate("locked.title"), "", (translate("locked.say"),)),
        Scene.CONNECTION_LOST: _describe_unresponsive_machine(context),
    }.get(scene, LockupText(translate("boot.title"), "", (translate("boot.self_test"),)))


def _choose_door_remedy_key(snapshot: Snapshot | None) -> str:
    """Return the catalogue key of the text that says how to end a door lock-up: close the door.

    If the logic door was open, the text says that a technician must examine the logic board too.
    """
    must_be_examined = snapshot is not None and any(tilt.code == "logic_access" for tilt in snapshot.tilts)
    return "door.examined" if must_be_examined else "door.attendant"


def _is_start_overdue(view: View) -> bool:
    """Return whether the machine has been disconnected for longer than a start may take."""
    return view.now - view.disconnected_at >= MACHINE_START_SECONDS_MAX


def _describe_unresponsive_machine(context: DrawingContext) -> LockupText:
    """Return the texts while the machine sends nothing: please wait and, after some time, call an attendant."""
    translate = context.texts.translate
    waited_seconds = context.view.now - context.view.scene_began_at
    if waited_seconds < CONNECTION_LOST_SECONDS_UNTIL_CALL and not _is_start_overdue(context.view):
        return LockupText(translate("lost.title"), "", (translate("lost.say"),))
    return LockupText(
        translate("lost.title_long"),
        "",
        (translate("lost.say_long"),),
        translate("lost.attendant"),
        pictogram="warning",
    )


@cache
def _load_catalogue(language: str) -> Texts:
    """Return the texts of a language. Each catalogue is loaded once."""
    return Texts(language)


def _describe_start_up(context: DrawingContext) -> LockupText:
    """Return the texts about the progress of the machine's start; if it takes too long, that an attendant must come.

    The progress is shown in every language, because at its first start the machine has not reported its language yet.
    """
    if _is_start_overdue(context.view):
        return _describe_unresponsive_machine(context)
    activity = context.view.start_up_activity or StartUpActivity("link")
    catalogues = [_load_catalogue(language) for language in LOCALE_BY_LANGUAGE]
    key = (
        f"boot.{activity.activity_code}"
        if catalogues[0].has_text(f"boot.{activity.activity_code}")
        else "boot.link"
    )
    try:
        lines = tuple(texts.translate(key, **activity.values) for texts in catalogues)
    except CatalogueError:  # the file of another version of the machine, with other values
        lines = tuple(texts.translate("boot.link") for texts in catalogues)
    return LockupText(FACT_SEPARATOR.join(texts.translate("boot.title") for texts in catalogues), "", lines)


#: The attendant's next action in a hand-pay, by the progress of a ticket that replaces it.
_ATTENDANT_ACTION_BY_TICKET_PROGRESS: Final = {
    "": "handpay.attendant",
    "offered": "handpay.attendant_offered",
    "asked": "handpay.attendant_ticket",
}


def _describe_handpay(context: DrawingContext, handpay: HandpayView) -> LockupText:
    """Return the texts of a hand-pay: its amount or prizes, what the player must do, and who pays it."""
    translate, kind, prizes = context.texts.translate, handpay.kind, handpay.prizes
    title, text, wait_text = (
        translate(f"handpay.title_{kind}"),
        translate(f"handpay.say_{kind}"),
        translate("handpay.wait"),
    )
    facts_text = _format_handpay_facts(context, handpay)
    form_lines = (translate("handpay.form_first"),) if handpay.needs_form else ()
    if not prizes:
        amount_text = context.format_money(handpay.amount_cents)
        reason_lines = (
            (translate(f"handpay.why.{handpay.reason}"),)
            if handpay.reason and not handpay.ticket_option
            else ()
        )
        owed_text = context.format_money(handpay.owed_cents)
        coins_text = context.format_money(handpay.paid_in_coins_cents)
        coin_lines = (
            (translate("handpay.in_coins", owed=owed_text, coins=coins_text, rest=amount_text),)
            if handpay.paid_in_coins_cents
            else ()
        )
        ticket_lines = (
            (translate(f"handpay.ticket_{handpay.ticket_option}"),) if handpay.ticket_option else ()
        )
        remedy_text = translate(_ATTENDANT_ACTION_BY_TICKET_PROGRESS[handpay.ticket_option])
        instructions = ticket_lines or (text, wait_text)
        return LockupText(
            title,
            amount_text,
            (*reason_lines, *coin_lines, *instructions, *form_lines, facts_text),
            remedy_text,
            is_about_money=True,
        )
    value_cents = sum(prize.value_cents for prize in prizes)
    lines = (
        translate("handpay.say_merchandise"),
        translate("handpay.prize_value", amount=context.format_money(value_cents)),
        *([translate("handpay.prize_instead")] if handpay.can_take_cash else []),
        *(
            [translate("handpay.prize_money", amount=context.format_money(handpay.amount_cents))]
            * bool(handpay.amount_cents)
        ),
        wait_text,
        *form_lines,
        facts_text,
    )
    return LockupText(
        title,
        format_prize_names(context, prizes),
        lines,
        translate("handpay.attendant_prize"),
        pictogram="gift",
    )


def _format_handpay_facts(context: DrawingContext, handpay: HandpayView) -> str:
    """Return what an attendant notes about a hand-pay.

    It states the number of the payment, since when it is owed, the machine and the player position.
    """
    translate, snapshot = context.texts.translate, context.view.snapshot
    detail_lines = [translate("handpay.number", number=handpay.slip_number)] if handpay.slip_number else []
    if handpay.since:
        detail_lines.append(translate("tilt.since", time=context.texts.format_date_and_time(handpay.since)))
    if snapshot is not None:
        detail_lines.append(translate("handpay.machine", number=snapshot.operator_number))
    if handpay.position:
        detail_lines.append(translate("handpay.position", number=handpay.position))
    return FACT_SEPARATOR.join(detail_lines)


def _describe_host_lock(context: DrawingContext, host_lock: HostLock) -> LockupText:
    """Return the texts of a lock by a host: the reason, the host, and that the machine will continue by itself."""
    translate = context.texts.translate
    seconds = max(0, math.ceil(-compute_seconds_since(context.view, host_lock.until_utc)))
    text_key = "locked.cash_out" if host_lock.is_cash_out else "locked.transfer"
    lines = (
        translate("locked.by", host=host_lock.host),
        translate("locked.goes_on", count=seconds),
        translate("locked.say"),
    )
    return LockupText(translate("locked.title"), translate(text_key), lines)


def _format_door(context: DrawingContext, door: str) -> str:
    """Return a door's name in the player's language."""
    key = f"door.{door}"
    return (
        context.texts.translate(key)
        if context.texts.has_text(key)
        else context.texts.translate("door.other", name=door)
    )


def _describe_tilts(context: DrawingContext, tilts: tuple[Tilt, ...]) -> LockupText:
    """Return the texts of active tilts.

    The tilt that occurred last is the headline; up to three others are named below it. One line says what it takes to
    clear them all.
    """
    translate, last_tilt = context.texts.translate, tilts[-1]
    facts_text = translate("tilt.since", time=context.texts.format_date_and_time(last_tilt.since))
    # Only a fault without its own text needs its code.
    if not context.texts.has_text(f"tilt.text.{last_tilt.code}"):
        facts_text = f"{translate('tilt.code', code=last_tilt.code)}  ·  {facts_text}"
    other_tilt_texts = [format_fault(context.texts, tilt.code) for tilt in tilts[:-1]]
    further_lines = (
        (translate("tilt.also", faults=FACT_SEPARATOR.join(other_tilt_texts[-3:])),)
        if other_tilt_texts
        else ()
    )
    detail_key = f"tilt.detail.{last_tilt.code}"
    detail_lines = (
        last_tilt.detail.splitlines()[:_DETAIL_LINES_MAX] if context.texts.has_text(detail_key) else []
    )
    examine_keys = dict.fromkeys(f"tilt.examine.{tilt.code}" for tilt in tilts)
    further_lines = (
        *(translate(detail_key, detail=line) for line in detail_lines),
        *(translate(key) for key in examine_keys if context.texts.has_text(key)),
        *further_lines,
    )
    # Faults of one device may concern the same money: each device counts once, with the highest amount of its faults.
    held_cents_by_device: dict[str, int] = {}
    for tilt in tilts:
        device = tilt.code.partition(".")[0]
        held_cents_by_device[device] = max(tilt.held_cents, held_cents_by_device.get(device, 0))
    held_cents = sum(held_cents_by_device.values())
    if held_cents:
        further_lines = (translate("tilt.held", amount=context.format_money(held_cents)), *further_lines)
    highest_clearance = max((tilt.cleared_by for tilt in tilts), key=_CLEARANCES_IN_ASCENDING_ORDER.index)
    lines = (
        translate("tilt.say" if highest_clearance != "memory_clear" else "tilt.say_memory"),
        facts_text,
        *further_lines,
    )
    return LockupText(
        translate("tilt.title"),
        format_fault(context.texts, last_tilt.code),
        lines,
        translate(f"tilt.cleared_{highest_clearance}"),
    )


def _describe_out_of_service(context: DrawingContext, snapshot: Snapshot) -> LockupText:
    """Return the texts of a machine that is out of service: why, what the player can do, and what ends the lock-up.

    At most three causes are named, the first one in large type.
    """
    translate, texts = context.texts.translate, context.texts
    cause_notices = [
        notice
        for notice in snapshot.notices
        if notice.code.partition(".")[0] in {"disabled", "out_of_service"}
    ]
    reasons = [format_message(context, f"notice.{notice.code}", notice.values) for notice in cause_notices]
    remedy_keys = [f"out.by_{notice.code.partition('.')[2]}" for notice in cause_notices]
    key = next((text_key for text_key in remedy_keys if texts.has_text(text_key)), "out.attendant")
    cash_out_lines = (translate("out.cash_out"),) if "cash_out" in snapshot.accepted_inputs else ()
    lines = (translate("out.say"), *cash_out_lines, *reasons[1:3])
    return LockupText(translate("out.title"), reasons[0] if reasons else "", lines, translate(key))


def _draw_plate(context: DrawingContext, rect: Rect, scene: Scene, text: LockupText) -> None:
    """Draw the plate of a lock-up with its pictogram, texts and picture."""
    painter, (x, y, w, h) = context.painter, rect
    colour = context.theme.get_colour(_PLATE_STYLE_BY_SCENE[scene].colour)
    painter.draw_cached_picture(
        ("plate", scene), (x, y, w, h), lambda size: _render_plate_background(size, (w, h), colour)
    )
    painter.draw_cached_picture(
        ("pictogram", scene, text.pictogram),
        (
            x + w / 2 - _PICTOGRAM_HEIGHT / 2,
            y - _PICTOGRAM_HEIGHT * _PICTOGRAM_SHARE_ABOVE_PLATE,
            _PICTOGRAM_HEIGHT,
            _PICTOGRAM_HEIGHT,
        ),
        lambda size: _render_lockup_pictogram(
            size, text.pictogram or _PLATE_STYLE_BY_SCENE[scene].pictogram, colour
        ),
    )
    title, headline, lines, remedy_text = text.title, text.headline, text.lines, text.remedy
    top = y + 148
    painter.draw_label(
        title, (x + 50, top - 36, w - 100, 72), TextStyle("heavy", "title", "text"), wrapped_size_name="body"
    )
    top += 62
    if headline:
        style = (
            TextStyle("numbers", "hero", "meter")
            if text.is_about_money
            else TextStyle(
                "heavy",
                "title",
                mix_colours(colour, WHITE, 0.35 if scene is not Scene.OUT_OF_SERVICE else 0.75),
            )
        )
        if text.is_about_money:
            painter.draw_text(headline, (x + w / 2, top + 52), style, width_max=w - 120)
        else:
            painter.draw_label(headline, (x + 60, top - 12, w - 120, 80), style, wrapped_size_name="body")
        top += 126 if text.is_about_money else 84
    for line in lines:
        top += (
            painter.draw_paragraph(
                line,
                (x + 80, top, w - 160, 200),
                TextStyle("text", "body", "text"),
                align="centre",
                leading=1.35,
            )
            + 4
        )
    if remedy_text:
        remedy_lines = _wrap_remedy(context, text, w)
        height = 8 + 36.0 * max(2, len(remedy_lines))
        painter.fill_rounded_rect(
            (x + 10, y + h - 12 - height, w - 20, height), (*mix_colours(colour, BLACK, 0.65)[:3], 235), 18
        )
        style = TextStyle("strong", "body", mix_colours(colour, WHITE, 0.6))
        for i, line_text in enumerate(remedy_lines):
            middle = y + h - 12 - height / 2 + (i - (len(remedy_lines) - 1) / 2) * 36
            painter.draw_text(line_text, (x + w / 2, middle), style, width_max=w - 80)
    elif scene is Scene.PAYING and _choose_payout_picture(context):
        elapsed_seconds = context.view.now - context.view.scene_began_at
        draw_item_at_slot(
            context,
            _choose_payout_picture(context),
            (x + w / 2 - 110, y + h - 196, 220, 170),
            elapsed_seconds % 3.2,
            is_leaving=True,
        )
    elif scene in {Scene.STARTING, Scene.CONNECTION_LOST, Scene.PAYING, Scene.LOCKED_BY_HOST}:
        _draw_progress_beads(context, (x, y, w, h), colour)


def _choose_payout_picture(context: DrawingContext) -> str:
    """Return the name of the picture of what is being paid out (a ticket or coins); "" for none."""
    payout = context.view.snapshot.payout if context.view.snapshot is not None else None
    return payout.method if payout is not None and payout.method in {"ticket", "coins"} else ""


def _draw_progress_beads(context: DrawingContext, rect: Rect, colour: Colour) -> None:
    """Draw five beads, lit one after another, as a sign that the machine is working."""
    x, y, w, h = rect
    lit_index = 2 if context.view.is_motion_reduced else int(context.view.now * 2) % 5
    for i in range(5):

        def render_bead(size: tuple[int, int], is_lit: bool = i == lit_index) -> pygame.Surface:  # noqa: FBT001 (bound to the loop's value)
            canvas = VectorCanvas(size)
            canvas.fill_path(build_ellipse(50, 50, 48), mix_colours(colour, BLACK, 0.1 if is_lit else 0.7))
            return canvas.finish_surface()

        size = 26.0
        context.painter.draw_cached_picture(
            ("bead", i == lit_index, colour),
            (x + w / 2 + (i - 2) * 52 - size / 2, y + h - 90, size, size),
            render_bead,
        )


def _render_plate_background(
    size: tuple[int, int], size_units: tuple[float, float], colour: Colour
) -> pygame.Surface:
    """Return the drawing of a lock-up's empty plate, with an edge in ``colour``."""
    w, h = size_units
    canvas = VectorCanvas(size, size_units, 2)
    canvas.fill_path(build_rounded_box(0, 0, w, h, 34), (0, 0, 0, 200))
    canvas.fill_path(
        build_rounded_box(3, 3, w - 6, h - 6, 32),
        LinearGradient(
            ((0, mix_colours(colour, WHITE, 0.45)), (0.5, colour), (1, mix_colours(colour, BLACK, 0.6)))
        ),
    )
    canvas.fill_path(
        build_rounded_box(9, 9, w - 18, h - 18, 27),
        LinearGradient(((0, (38, 30, 62, 255)), (0.5, (20, 15, 36, 255)), (1, (12, 9, 22, 255)))),
    )
    canvas.fill_inside(
        build_rounded_box(9, 9, w - 18, h - 18, 27),
        build_ellipse(w / 2, -h * 0.2, w * 0.8, h * 0.5),
        (255, 255, 255, 14),
    )
    return canvas.finish_surface()


def _render_lockup_pictogram(size: tuple[int, int], pictogram: str, colour: Colour) -> pygame.Surface:
    """Return the drawing above a lock-up's plate.

    Its outline and its content tell the lock-ups apart, so that colour is not needed.
    """
    canvas = VectorCanvas(size)
    build_body_path: Callable[[float], list[tuple[float, float]]] = {
        "warning": lambda r: build_regular_polygon(50, 56, r * 1.12, 3),
        "stop": lambda r: build_regular_polygon(50, 50, r, 8, -67.5),
        "door": lambda r: build_rounded_box(50 - r, 50 - r, 2 * r, 2 * r, 16),
    }.get(pictogram, lambda r: build_ellipse(50, 50, r))
    canvas.fill_path(build_body_path(49), BLACK)
    canvas.fill_path(
        build_body_path(45.5),
        LinearGradient(
            ((0, mix_colours(colour, WHITE, 0.6)), (0.5, colour), (1, mix_colours(colour, BLACK, 0.3)))
        ),
    )
    if pictogram == "door":
        canvas.fill_path([(32, 22), (58, 30), (58, 86), (32, 78)], WHITE)
    surface = canvas.finish_surface()
    pictogram_surface = render_own_picture(
        f"sign_{pictogram}", size, WHITE if pictogram == "stop" else mix_colours(colour, BLACK, 0.78)
    )
    surface.blit(pictogram_surface, (0, 0), special_flags=pygame.BLEND_PREMULTIPLIED)
    return surface
