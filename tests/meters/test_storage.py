"""Syncing the files of both media at the same time."""

import pytest

from meters import JournalUnwritable
from meters.storage import DiskStorage


class RecordingFile:
    """A file that counts its syncs; ``error`` is raised by each."""

    def __init__(self, error=None):
        self.error = error
        self.synced = 0

    def sync(self):
        self.synced += 1
        if self.error is not None:
            raise self.error


@pytest.mark.parametrize("failing", [0, 1], ids=["the first medium", "the second medium"])
def test_all_files_are_synced_and_the_error_of_either_medium_is_raised(failing):
    storage, intact = DiskStorage(), [RecordingFile(), RecordingFile()]
    storage.sync_together(intact)
    files = [RecordingFile(), RecordingFile()]
    files[failing].error = JournalUnwritable("planted")
    with pytest.raises(JournalUnwritable, match="planted"):
        storage.sync_together(files)
    storage.sync_together(intact)
    assert [file.synced for file in (*intact, *files)] == [2, 2, 1, 1]


def test_one_file_is_synced_while_the_second_medium_is_missing():
    only = RecordingFile()
    DiskStorage().sync_together([only])
    assert only.synced == 1
