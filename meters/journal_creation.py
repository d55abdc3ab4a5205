"""Creation of a journal: creates the machine's key at a first start, and refuses to begin where a journal was lost."""

from typing import Final

from meters.copies import JournalLocation
from meters.errors import JournalDamaged
from meters.machine_key import KEY_FILE_NAME, MachineKey
from meters.storage import replace_file

#: Name of a marker file that exists from before the key is created until the first journal entry is durable.
FIRST_START_MARKER_FILE_NAME: Final = "first-start"


def check_missing_journal_is_allowed(location: JournalLocation) -> None:
    """Raise JournalDamaged if the machine's journal has been lost; call this only if no journal is found.

    A machine with a key has been started before, so it must have a journal, except if its very first start was
    interrupted.
    """
    has_key = any(location.storage.exists(folder / KEY_FILE_NAME) for folder in location.medium_folders)
    if has_key and not location.storage.exists(location.state_folder / FIRST_START_MARKER_FILE_NAME):
        raise JournalDamaged(
            str(location.state_folder),
            "there is a machine key, but the journal that it authenticated is missing: "
            "an authorised memory clear is needed",
        )


def complete_first_start(location: JournalLocation) -> None:
    """Remove the marker of an uncompleted first start; call this once the journal's first entry is durable."""
    if location.storage.exists(location.state_folder / FIRST_START_MARKER_FILE_NAME):
        location.storage.remove(location.state_folder / FIRST_START_MARKER_FILE_NAME)
        location.storage.sync_folder(location.state_folder)


def load_or_create_key(location: JournalLocation) -> MachineKey:
    """Load the machine key; if there is neither a key nor any part of a journal, create one.

    Raises :class:`JournalDamaged` if there is a journal but no key.
    """
    key = MachineKey.load(location.storage, *location.medium_folders, repair=True)
    if key is not None:
        return key
    if location.has_journal:
        raise JournalDamaged(
            str(location.state_folder / KEY_FILE_NAME),
            "the machine key is missing, although there is a journal that it authenticates",
        )
    replace_file(location.storage, location.state_folder / FIRST_START_MARKER_FILE_NAME, b"")
    return MachineKey.create(location.storage, *location.medium_folders)
