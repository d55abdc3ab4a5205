"""Staff of a demonstration, whose PINs are printed for the person who starts it; never used with real devices.

The roster and the file of PINs beside it are marked as belonging to a demonstration. A state folder that was used
for a demonstration stays one: its money never belonged to anybody.
"""

from typing import Final

from egm.config.cabinet_file import CabinetFile, StateFolder
from egm.errors import OperatorError
from egm.people.roster import Roster

#: The name of the file with the PINs of a demonstration's staff, in clear text.
DEMONSTRATION_FILE_NAME: Final = "demonstration-staff.json"
#: The author that the roster states for the staff of a demonstration; not a valid staff number.
DEMONSTRATION_ENROLLER: Final = "demonstration"


def require_no_demonstration(cabinet: CabinetFile, folder: StateFolder) -> None:
    """Raise OperatorError if the state folder belongs to a demonstration but a device of the cabinet is real."""
    port_descriptions = cabinet.hardware_port_descriptions
    if not port_descriptions:
        return
    is_marked = (folder.root / DEMONSTRATION_FILE_NAME).exists()
    if is_marked or any(
        change.changed_by == DEMONSTRATION_ENROLLER for change in Roster.load(folder.roster_file).changes
    ):
        raise OperatorError(
            f"state folder {folder.root}: its staff is a demonstration's, whose PINs were printed, but "
            f"{port_descriptions[0]} is real: give this machine its own state folder, and enrol its staff"
        )
