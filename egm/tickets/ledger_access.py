"""Access to a machine's ticket ledger by other programs: the cage, reports, and tests of stored data."""

from pathlib import Path

from egm.errors import OperatorError
from egm.tickets.store import LEDGER_HEAD_MAC_PURPOSE, TicketStore
from meters.copies import SECOND_FOLDER
from meters.machine_key import MachineKey
from meters.storage import DiskStorage


def read_machine_key(folder: Path, second_folder: Path | None = None) -> MachineKey:
    """Return the key of the machine whose state folder is ``folder``; it authenticates the ticket ledger.

    ``second_folder`` is the folder on the second medium, by default the one inside ``folder``. Raises
    :class:`OperatorError` if no machine was ever started in ``folder``.
    """
    key = MachineKey.load(DiskStorage(), folder, second_folder or folder / SECOND_FOLDER)
    if key is None:
        raise OperatorError(f"{folder}: no machine has been started in this folder: there is no key")
    return key


def open_machine_ledger(
    folder: Path, *, second_folder: Path | None = None, read_only: bool = True
) -> TicketStore:
    """Open the existing ticket ledger of the machine whose state folder is ``folder``.

    With ``read_only`` nothing in it can be changed. Raises the errors of :meth:`TicketStore.open` and
    :func:`read_machine_key`.
    """
    second_folder = second_folder or folder / SECOND_FOLDER
    key = read_machine_key(folder, second_folder).derive_key(LEDGER_HEAD_MAC_PURPOSE)
    return TicketStore.open(
        folder, key=key, second_folder=second_folder, create_missing=False, verify=False, read_only=read_only
    )
