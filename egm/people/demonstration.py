"""The staff of a demonstration, whose PINs are told to whoever starts it: never where a real device is.

The roster itself bears the mark, in who made its changes, and so does the file of the PINs beside it. A state
folder that was a demonstration's stays one: its money was never anybody's.
"""

from typing import Final

from egm.config.cabinet_file import CabinetFile, StateFolder
from egm.errors import OperatorError
from egm.people.roster import Roster

FILE_NAME: Final = "demonstration-staff.json"
"""Where the PINs are, in clear."""
BY: Final = "demonstration"
"""Who enrolled the staff of a demonstration; no staff number can be this."""


def refuse_demonstration(cabinet: CabinetFile, folder: StateFolder) -> None:
    """Raise OperatorError where a real port is named and the state folder is a demonstration's."""
    ports = cabinet.real_ports
    if not ports:
        return
    marked = (folder.root / FILE_NAME).exists()
    if marked or any(change.by == BY for change in Roster.load(folder.staff).changes):
        raise OperatorError(
            f"state folder {folder.root}: its staff are a demonstration's, whose PINs were told, and "
            f"{ports[0]} is real: give this machine a state folder of its own, and enrol its people"
        )
