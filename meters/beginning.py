"""The first start of a machine: its key is made, and no journal is begun where one was lost."""

from typing import Final

from meters.copies import Place
from meters.errors import JournalDamaged
from meters.keys import FILE_NAME as KEY_NAME
from meters.keys import MachineKey
from meters.storage import replace_file

FIRST_START: Final = "first-start"
"""A file that is there from before the key is made until the first journal stands."""


def check_beginning(place: Place) -> None:
    """A key without a journal is what is left of one, unless the very first start was cut short."""
    left = any(place.storage.exists(folder / KEY_NAME) for folder in place.media)
    if left and not place.storage.exists(place.state_dir / FIRST_START):
        raise JournalDamaged(
            str(place.state_dir), "there is a machine key, and the journal it sealed is gone: have it cleared"
        )


def has_begun(place: Place) -> None:
    """The first entry is durable: the first start is over."""
    if place.storage.exists(place.state_dir / FIRST_START):
        place.storage.remove(place.state_dir / FIRST_START)
        place.storage.sync_folder(place.state_dir)


def key_of(place: Place) -> MachineKey:
    """Load the machine key, or make it where no journal was ever begun."""
    key = MachineKey.load(place.storage, *place.media, mend=True)
    if key is not None:
        return key
    if place.used:
        raise JournalDamaged(str(place.state_dir / KEY_NAME), "the machine key is missing")
    replace_file(place.storage, place.state_dir / FIRST_START, b"")
    return MachineKey.create(place.storage, *place.media)
