"""First start of a machine's memory: creates its key, and refuses to begin a journal where one was lost."""

from typing import Final

from meters.copies import Place
from meters.errors import JournalDamaged
from meters.keys import FILE_NAME as KEY_NAME
from meters.keys import MachineKey
from meters.storage import replace_file

FIRST_START: Final = "first-start"
"""A marker file that exists from before the key is created until the first journal entry is durable."""


def check_beginning(place: Place) -> None:
    """Raise JournalDamaged if there is a key but no journal, unless the very first start was interrupted."""
    left = any(place.storage.exists(folder / KEY_NAME) for folder in place.media)
    if left and not place.storage.exists(place.state_dir / FIRST_START):
        raise JournalDamaged(
            str(place.state_dir), "there is a machine key, and the journal it sealed is gone: have it cleared"
        )


def complete_first_start(place: Place) -> None:
    """Mark the first start as completed, after the first entry is durable."""
    if place.storage.exists(place.state_dir / FIRST_START):
        place.storage.remove(place.state_dir / FIRST_START)
        place.storage.sync_folder(place.state_dir)


def load_or_create_key(place: Place) -> MachineKey:
    """Load the machine key, or create it if no journal was ever started."""
    key = MachineKey.load(place.storage, *place.media, mend=True)
    if key is not None:
        return key
    if place.has_journal:
        raise JournalDamaged(str(place.state_dir / KEY_NAME), "the machine key is missing")
    replace_file(place.storage, place.state_dir / FIRST_START, b"")
    return MachineKey.create(place.storage, *place.media)
