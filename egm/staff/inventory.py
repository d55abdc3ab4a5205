"""The machine's entry in the venue's inventory, and its technical sheet of all changes (Monaco arts 19.1-19.4).

The cabinet file's data about the machine are recorded at every start at which they have changed. So the journal
has every move, every change of a game's return and every certification date (Q-08, Q-10, Q-16, Q-17). The
number of the base (stand) is permanent (art. 19.2): a file with another one is refused.
"""

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from egm.config.cabinet_file import InventoryTable
from egm.errors import OperatorError
from egm.kernel.games import InstalledGames
from egm.kernel.machine import PositionMachine
from egm.kernel.service_pages import PageTable, PageText
from egm.staff.entries import INVENTORY_CHANGED, InventoryChanged, InventoryEntry, InventoryGame
from egm.staff.keys import StaffKey
from egm.staff.page_texts import build_plain_text, build_text, build_time_text, build_two_column_table
from egm.verify.certificate import Certificate
from meters import JournalView
from meters.entry import StoredEntry
from meters.recall import read_details
from paytables import Game
from paytables.wording import format_percent

#: Kind of the entry that records a change.
INVENTORY_ENTRY_KIND: Final = INVENTORY_CHANGED.kind
#: Fields of a complete inventory, as the cabinet file names them (Monaco art. 19.3).
_MANDATORY_FIELDS: Final = ("kind", "manufacturer", "model", "base_number", "photograph")
#: The fields of the technical sheet, in order; the text key of a field's label is ``inventory.<field>``.
_SHEET_FIELDS: Final = (
    "kind",
    "manufacturer",
    "model",
    "made",
    "serial",
    "operator_number",
    "base_number",
    "site",
    "location",
    "photograph",
    "profile",
)


def build_inventory_entry(
    machine: PositionMachine, inventory: InventoryTable, certificates: Mapping[str, Certificate | None]
) -> InventoryEntry:
    """Return the machine's inventory entry from the cabinet file and the games installed now.

    Raises OperatorError if the photograph cannot be read.
    """
    identity = machine.identity
    certificate_by_game = {
        name: certificate for name, certificate in certificates.items() if certificate is not None
    }
    return InventoryEntry(
        kind=inventory.machine_type,
        manufacturer=inventory.manufacturer,
        model=inventory.model,
        manufacture_date="" if inventory.manufacture_date is None else inventory.manufacture_date.isoformat(),
        serial=identity.serial,
        operator_number=identity.operator_number,
        base_number=inventory.base_number,
        site=identity.venue.site,
        location=inventory.location,
        photograph=_describe_photograph(inventory),
        profile=machine.profile.id,
        games=tuple(
            InventoryGame(
                game_id=game.id,
                version=game.version,
                digest=game.digest,
                return_percent=_format_return(machine, game),
                commission_percent=""
                if game.rules.commission_rate is None
                else format_percent(game.rules.commission_rate, 4),
                certified_on=str(
                    certificate_by_game[game.id].certified_on
                    if game.id in certificate_by_game
                    else inventory.certification_date_by_game.get(game.id, "")
                ),
                certified_by=certificate_by_game[game.id].signer_key_hex
                if game.id in certificate_by_game
                else None,
            )
            for game in machine.component(InstalledGames).game_by_id.values()
        ),
    )


def _format_return(machine: PositionMachine, game: Game) -> str:
    """Return a game's lowest return in percent, or "" if it is unknown.

    Also "" for a game with a commission (the operator's share, as at poker): the inventory states the commission
    instead.
    """
    lowest_return = machine.component(InstalledGames).lowest_return_by_game.get(game.id)
    return (
        ""
        if lowest_return is None or game.rules.commission_rate is not None
        else format_percent(lowest_return, 4)
    )


def record_inventory_change(
    machine: PositionMachine,
    inventory: InventoryTable,
    certificates: Mapping[str, Certificate | None] | None = None,
    *,
    must_be_complete: bool = False,
) -> None:
    """At start-up, record the machine's inventory entry if it has changed.

    ``certificates`` are the games' certificates by game id. Raises OperatorError if the base number differs
    from the first one recorded, if data are missing although ``must_be_complete`` requires all of them, or if the
    photograph cannot be read.
    """
    inventory_entry = build_inventory_entry(machine, inventory, certificates or {})
    previous_entry = machine.memory.read(InventoryEntry, StaffKey.INVENTORY)
    missing_fields = [name for name in _MANDATORY_FIELDS if not getattr(inventory_entry, name)]
    if must_be_complete and missing_fields:
        raise OperatorError(
            f"inventory: {', '.join(missing_fields)}: must be given, because the profile {machine.profile.id} "
            "requires the complete entry"
        )
    if inventory_entry == previous_entry:
        return
    if (
        previous_entry is not None
        and previous_entry.base_number
        and inventory_entry.base_number != previous_entry.base_number
    ):
        raise OperatorError(
            f"inventory.base_number: {inventory_entry.base_number!r}; this machine's base is number "
            f"{previous_entry.base_number!r}, which is fixed for good"
        )
    change = InventoryChanged(inventory_before=previous_entry, inventory_after=inventory_entry)
    machine.post(INVENTORY_CHANGED, change, state={StaffKey.INVENTORY: inventory_entry})


def _describe_photograph(inventory: InventoryTable) -> str:
    """Return the name and digest of the file with the machine's photograph."""
    if inventory.photograph is None:
        return ""
    try:
        digest = hashlib.sha256(inventory.photograph.read_bytes()).hexdigest()
    except OSError as error:
        raise OperatorError(f"inventory.photograph: {inventory.photograph}: {error.strerror}") from error
    return f"{inventory.photograph.name} {digest}"


# ---------------------------------------------------------------------------------------------- the sheet
@dataclass(frozen=True, slots=True)
class TechnicalSheet:
    """The machine's technical sheet: its current inventory entry and every change since its first start."""

    current_values: Mapping[str, Any]
    changes: tuple[tuple[str, str], ...]
    """The changes of the inventory entry, each as its time (ISO 8601 UTC) and a description."""

    def build_tables(self) -> tuple[PageTable, ...]:
        """Return the tables of the technical sheet, as shown on the screen and printed."""
        return (
            build_two_column_table(
                (f"inventory.{name}", build_plain_text(self.current_values.get(name, "")))
                for name in _SHEET_FIELDS
            ),
            build_two_column_table(
                (_build_game_row(game_values) for game_values in self.current_values.get("games", ())),
                build_text("service.inventory.games"),
            ),
            build_two_column_table(
                (
                    (build_time_text(time_text), build_plain_text(description))
                    for time_text, description in self.changes
                ),
                build_text("service.inventory.life"),
            ),
        )


def _build_game_row(game_values: Mapping[str, str]) -> tuple[PageText, PageText]:
    """Return the row of the technical sheet about a game: its name and version, its return and certificate date."""
    name = build_plain_text(f"{game_values['game']} {game_values['version']}")
    date = game_values["certified_on"] or "-"
    if game_values.get("levy"):
        return name, build_text("service.inventory.levy", percent=game_values["levy"], date=date)
    return name, build_text("service.inventory.return", percent=game_values["return"], date=date)


def format_certified_figure(game_values: Mapping[str, str]) -> str:
    """Return a game's certified figure as text: its commission (printed as "levy") if it has one, else its return."""
    return f"levy {game_values['levy']} %" if game_values.get("levy") else f"{game_values['return']} %"


def read_technical_sheet(view: JournalView) -> TechnicalSheet:
    """Return the technical sheet of the machine that wrote a journal; empty if no inventory entry was recorded."""
    entries = list(view.entries(INVENTORY_ENTRY_KIND))
    current_values = read_details(entries[-1])["after"] if entries else {}
    return TechnicalSheet(
        current_values, tuple(change for entry in entries for change in _iter_changes(entry))
    )


def _iter_changes(entry: StoredEntry) -> Iterator[tuple[str, str]]:
    """Yield the changes of the inventory that a journal entry records, each as its time and a description."""
    record = read_details(entry)
    previous_values, current_values = record["before"] or {}, record["after"]
    time_text = entry.time_utc.isoformat()
    for name in _SHEET_FIELDS:
        if previous_values.get(name, "") != current_values[name]:
            yield time_text, f"{name}: {previous_values.get(name, '')} -> {current_values[name]}"
    previous_game_by_id = {
        game_values["game"]: game_values for game_values in previous_values.get("games", ())
    }
    for game_values in current_values["games"]:
        if previous_game_by_id.get(game_values["game"]) != game_values:
            yield (
                time_text,
                (
                    f"{game_values['game']}: {game_values['version']}, {format_certified_figure(game_values)}, "
                    f"{game_values['certified_on'] or '-'}"
                ),
            )
    for name in previous_game_by_id.keys() - {game_values["game"] for game_values in current_values["games"]}:
        yield time_text, f"{name}: -"
