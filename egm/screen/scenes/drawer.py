"""The drawer of a simulated cabinet: insert bills, coins and tickets; open doors; turn keys; cause faults.

It exists only if the screen was started with the bench. Its controls send commands to the bench, never to the machine.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from egm.kernel.messages import BenchCommand
from egm.screen.layout import Layout
from egm.screen.painter import Rect, TextStyle
from egm.screen.scenes.drawing_context import BLACK, WHITE, DrawingContext, draw_button
from egm.screen.text import Texts
from egm.screen.theme import mix_colours
from egm.screen.view import View, compute_drawer_share

#: The doors that the drawer can open and close.
DRAWER_DOORS: Final = ("main", "logic", "belly", "drop", "cash_box", "stacker", "top", "hopper")
#: The key switches that the drawer can turn.
DRAWER_KEY_SWITCHES: Final = ("attendant", "operator", "audit")
#: The lamps of the tower light, with their colours.
_TOWER_LAMP_COLOURS: Final = (
    ("service", "amber"),
    ("door", "sapphire"),
    ("jackpot", "emerald"),
    ("tilt", "ruby"),
)
#: The colour of the text on a lit lamp of a colour on which white would be unreadable.
_TEXT_COLOUR_BY_LAMP_COLOUR: Final = {"amber": BLACK, "emerald": BLACK}
#: Columns and rows of the controls in each section.
_CONTROL_GRID_BY_SECTION: Final = {
    "bills": (3, 2),
    "coins": (4, 2),
    "doors": (2, 4),
    "keys": (3, 1),
    "faults": (2, 1),
}
#: Columns and rows of the controls in each section of a telephone's drawer, which is as wide as its page.
_CONTROL_GRID_ON_TELEPHONE: Final = _CONTROL_GRID_BY_SECTION | {"bills": (6, 1), "doors": (4, 2)}
#: Distance from the drawer's top to its first section, in units.
_FIRST_SECTION_TOP: Final = 130.0
#: Height of a row of controls with the gap below it, in units.
_CONTROL_ROW_HEIGHT: Final = 57.0
#: The height of the heading between two sections, in units.
_SECTION_HEADING_HEIGHT: Final = 28.0

#: The maximum number of bill values that have a control.
_BILL_CONTROLS_MAX: Final = 6
#: Function that returns the rectangle of the ``index``-th control of a section, optionally for ``column_count`` in
#: its row.
ComputeControlRect = Callable[..., Rect]
#: How many seconds the drawer shows the result of the last command.
COMMAND_RESULT_SHOWN_SECONDS: Final = 6.0


@dataclass(frozen=True, slots=True)
class DrawerControl:
    """One control in the drawer of simulated devices.

    It has a rectangle, a text, its commands for the bench, and whether it is switched on.
    """

    rect: Rect
    label: str
    commands: tuple[BenchCommand, ...]
    is_on: bool = False


def _find_simulated_device(view: View, state_key: str) -> str | None:
    """Return the name of the first simulated device whose state has the key ``state_key``, or None."""
    return next((name for name, state in view.state_by_device.items() if state_key in state), None)


def _compute_control_scale(rect: Rect) -> float:
    """Return the factor by which the drawer's controls are enlarged. It is higher in portrait."""
    return min(1.6, max(1.0, rect[3] / 830.0))


def _find_section_tops(layout: Layout) -> dict[str, float]:
    """Return the top of each section's first row, by the section's name, in units from the top of the drawer."""
    top_by_section, y = {}, _FIRST_SECTION_TOP
    for section, (_, row_count) in (
        _CONTROL_GRID_ON_TELEPHONE if layout.is_telephone else _CONTROL_GRID_BY_SECTION
    ).items():
        top_by_section[section] = y
        y += (
            row_count * (_CONTROL_ROW_HEIGHT if not layout.is_telephone else layout.touch_size_min + 7)
            + _SECTION_HEADING_HEIGHT
        )
    scale = 1.0 if layout.is_telephone else _compute_control_scale(layout.drawer)
    return {section: scale * y for section, y in top_by_section.items()}


def lay_out_controls(layout: Layout, view: View, texts: Texts, slide: float = 0.0) -> list[DrawerControl]:
    """Return every control of the drawer of simulated devices.

    ``slide`` is how far the drawer is moved to the right, in units, while it opens or closes.
    """
    left = layout.drawer[0] + slide + 26
    width = layout.drawer[2] - 52
    top_by_section = _find_section_tops(layout)
    height = (
        layout.touch_size_min
        if layout.is_telephone
        else _compute_control_scale(layout.drawer) * (_CONTROL_ROW_HEIGHT - 7)
    )
    row_pitch = height + 7 * (1.0 if layout.is_telephone else _compute_control_scale(layout.drawer))

    def compute_control_rect(section: str, index: int, column_count: int = 0, row: int = 0) -> Rect:
        """Return the rectangle of a control.

        ``section`` is the name of a section of the drawer. Control 0 of the section is at the left of row ``row``, and
        ``index`` counts from it. A row has ``column_count`` controls; 0 means the usual count of the section.
        """
        column_count = (
            column_count
            or (_CONTROL_GRID_ON_TELEPHONE if layout.is_telephone else _CONTROL_GRID_BY_SECTION)[section][0]
        )
        column_width = (width - 10 * (column_count - 1)) / column_count
        y = layout.drawer[1] + top_by_section[section] + (row + index // column_count) * row_pitch
        return (left + (index % column_count) * (column_width + 10), y, column_width, height)

    def build_money_control(device: str | None, cents: int, rect: Rect) -> DrawerControl:
        """Return the control that inserts a bill or coin of ``cents`` minor units into ``device``."""
        command = BenchCommand(device=device or "", action="insert", values={"amount_cents": cents})
        return DrawerControl(rect, texts.format_amount(cents), (command,))

    bill_acceptor = _find_simulated_device(view, "inside_cents")
    io_board = _find_simulated_device(view, "doors_open")
    coin_acceptor = _find_simulated_device(view, "coins_cents")
    controls: list[DrawerControl] = []
    if bill_acceptor is not None:
        bill_values_cents = list(view.state_by_device[bill_acceptor].get("notes_cents", ()))[
            :_BILL_CONTROLS_MAX
        ]
        controls += [
            build_money_control(bill_acceptor, cents, compute_control_rect("bills", i))
            for i, cents in enumerate(bill_values_cents)
        ]
    if coin_acceptor is not None:
        coin_values_cents = list(view.state_by_device[coin_acceptor]["coins_cents"])[:4]
        controls += [
            build_money_control(
                coin_acceptor, cents, compute_control_rect("coins", i, len(coin_values_cents))
            )
            for i, cents in enumerate(coin_values_cents)
        ]
    barcode = find_last_ticket_barcode(view)
    if bill_acceptor is not None and barcode:
        command = BenchCommand(device=bill_acceptor, action="insert_ticket", values={"barcode": barcode})
        controls.append(
            DrawerControl(
                compute_control_rect("coins", 0, 1, 1), texts.translate("drawer.ticket"), (command,)
            )
        )
    if io_board is not None:
        controls += _lay_out_io_board_controls(io_board, view, texts, compute_control_rect)
    if bill_acceptor is not None:
        controls += _lay_out_fault_controls(bill_acceptor, view, texts, compute_control_rect)
    return controls


def find_last_ticket_barcode(view: View) -> str:
    """Return the bar code of the last complete ticket from the simulated printer, or ""."""
    printer = _find_simulated_device(view, "ticket_in_path")
    for job in reversed(view.state_by_device[printer].get("printed", [])) if printer is not None else []:
        if job.get("barcode_complete") and job.get("barcode"):
            return str(job["barcode"])
    return ""


def _lay_out_io_board_controls(
    io_board: str, view: View, texts: Texts, compute_control_rect: ComputeControlRect
) -> list[DrawerControl]:
    """Return the controls of doors and key switches, which are inputs of the I/O board.

    The attendant's key springs back when released. The other keys stay as they were turned.
    """
    open_doors = view.state_by_device[io_board]["doors_open"]
    controls = []
    for i, door in enumerate(DRAWER_DOORS):
        values: dict[str, int | str | bool] = {"name": door, "open": door not in open_doors}
        command = BenchCommand(device=io_board, action="door", values=values)
        text = texts.translate(f"door.{door}")
        controls.append(DrawerControl(compute_control_rect("doors", i), text, (command,), door in open_doors))
    for i, key in enumerate(DRAWER_KEY_SWITCHES):
        is_turned = key in view.state_by_device[io_board].get("keys_on", ())
        states_to_send = (True, False) if key == DRAWER_KEY_SWITCHES[0] else (not is_turned,)
        commands = tuple(
            BenchCommand(device=io_board, action="key", values={"name": key, "on": is_on})
            for is_on in states_to_send
        )
        controls.append(
            DrawerControl(
                compute_control_rect("keys", i), texts.translate(f"input.key.{key}"), commands, is_turned
            )
        )
    return controls


def _lay_out_fault_controls(
    bill_acceptor: str, view: View, texts: Texts, compute_control_rect: ComputeControlRect
) -> list[DrawerControl]:
    """Return the controls that simulate faults of the bill acceptor.

    One control jams the acceptor or, if it is jammed, clears the jam. The other switches the acceptor's power.
    """
    has_power = bool(view.state_by_device[bill_acceptor].get("powered", True))
    is_stuck, will_jam = (
        bool(view.state_by_device[bill_acceptor].get(key)) for key in ("stuck", "jams_next")
    )
    jam_control = ("clear", True) if is_stuck or will_jam else ("jam", False)
    controls = []
    for i, (action, is_on) in enumerate(
        (jam_control, ("power_off" if has_power else "power_on", not has_power))
    ):
        command = BenchCommand(device=bill_acceptor, action=action)
        controls.append(
            DrawerControl(
                compute_control_rect("faults", i), texts.translate(f"drawer.{action}"), (command,), is_on
            )
        )
    return controls


def draw_drawer(context: DrawingContext) -> None:
    """Draw the tab of the drawer of simulated devices, and the part of the drawer that is open."""
    view = context.view
    if not view.has_device_drawer:
        return
    painter, layout, translate = context.painter, context.layout, context.texts.translate
    open_share = compute_drawer_share(view, context.theme.motion)
    slide = layout.drawer[2] * (1 - open_share)
    tab = compute_drawer_tab_rect(context.layout.drawer_tab, layout.drawer, open_share)
    painter.draw_panel(
        (tab[0], tab[1], tab[2] + 20, tab[3]),
        radius=16,
        fill=(44, 40, 66, 240),
        edge_paint=(140, 130, 180, 255),
    )
    painter.draw_text(
        "»" if view.is_drawer_open else "«",
        (tab[0] + tab[2] / 2, tab[1] + tab[3] / 2),
        TextStyle("heavy", "lead", "text"),
    )
    if open_share <= 0:
        return
    x, y, w, h = layout.drawer
    x += slide
    painter.draw_panel(
        (x, y - 20, w + 30, h + 20),
        radius=22,
        fill=(24, 22, 36, 252),
        edge_paint=(120, 112, 160, 255),
        edge_width=3,
    )
    painter.draw_text(
        translate("drawer.title"),
        (x + 26, y + 46),
        TextStyle("heavy", "lead", "text"),
        align="left",
        width_max=w - 160,
    )
    io_board = _find_simulated_device(view, "doors_open")
    for section, top in _find_section_tops(layout).items():
        if view.state_by_device and io_board is None and section in {"doors", "keys"}:
            continue  # A second player position has none.
        painter.draw_text(
            translate(f"drawer.{section}"),
            (x + 26, y + top - 16),
            TextStyle("strong", "caption", "text_dim"),
            align="left",
            width_max=w - 52,
        )
    for control in lay_out_controls(layout, view, context.texts, slide):
        draw_button(
            context,
            control.rect,
            control.label,
            is_enabled=view.is_bench_connected,
            is_active=control.is_on,
        )
    _draw_tower_light(context, (x + w - 118, y + 18, 96, 52))
    if not view.is_bench_connected:
        painter.draw_text(
            translate("drawer.closed_bench"),
            (x + 26, y + 86),
            TextStyle("text", "caption", "amber"),
            align="left",
            width_max=w - 52,
        )
    elif (
        view.bench_reply is not None
        and view.bench_commands
        and view.now - view.bench_reply_at < COMMAND_RESULT_SHOWN_SECONDS
    ):
        text_key = "drawer.done" if view.bench_reply.ok else "drawer.refused"
        painter.draw_text(
            translate(text_key, text=describe_last_commands(context)),
            (x + 26, y + 86),
            TextStyle("text", "caption", "text_dim" if view.bench_reply.ok else "amber"),
            align="left",
            width_max=w - 52,
        )


def describe_last_commands(context: DrawingContext) -> str:
    """Return a text that says what the last touch of a control in the drawer did, such as inserting an amount."""
    translate, command = context.texts.translate, context.view.bench_commands[0]
    cents, name = command.values.get("amount_cents"), str(command.values.get("name", ""))
    match command.action:
        case "insert" if isinstance(cents, int):
            return translate("drawer.did_insert", amount=context.format_money(cents))
        case "door":
            door_state = "open" if command.values.get("open") else "closed"
            return translate(f"drawer.did_{door_state}", door=translate(f"door.{name}"))
        case "key":
            return translate("drawer.did_key", name=translate(f"input.key.{name}"))
        case "insert_ticket":
            return translate("drawer.ticket")
    return context.texts.format_code_text("drawer", command.action)


def _draw_tower_light(context: DrawingContext, rect: Rect) -> None:
    """Draw the lamps of the tower light, as the I/O board reports them."""
    io_board = _find_simulated_device(context.view, "doors_open")
    lit_lamps = context.view.state_by_device[io_board].get("tower", []) if io_board is not None else []
    x, y, w, h = rect
    for i, (name, colour) in enumerate(_TOWER_LAMP_COLOURS):
        is_lit = name in lit_lamps
        lamp_colour = (
            context.theme.get_colour(colour)
            if is_lit
            else mix_colours(context.theme.get_colour(colour), (0, 0, 0, 255), 0.78)
        )
        context.painter.draw_panel(
            (x + i * w / 4 + 2, y, w / 4 - 4, h), radius=6, fill=lamp_colour, edge_paint=(140, 134, 170, 255)
        )
        context.painter.draw_text(
            name[:1].upper(),
            (x + (i + 0.5) * w / 4, y + h / 2),
            TextStyle(
                "heavy",
                "caption",
                _TEXT_COLOUR_BY_LAMP_COLOUR.get(colour, WHITE) if is_lit else (206, 202, 224, 255),
            ),
        )


def compute_drawer_tab_rect(tab: Rect, drawer: Rect, share: float) -> Rect:
    """Return the rectangle of the tab that opens the drawer.

    It moves with the edge of the drawer; ``share`` is the fraction of the drawer that is open.
    """
    return (tab[0] - drawer[2] * share, tab[1], tab[2], tab[3])
