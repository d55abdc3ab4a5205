"""Power cuts while a computer is set up: at a first start, on another board, during the restoration of a backup.

Afterwards the machine either asks everything again, or runs with the file that two persons have signed and with the
enrolment that they confirmed; and the audit has no findings. ``--kills N`` sets the number of cuts.
"""

import random
import time

import pytest
from first_start_rig import CUT, DONE, Campaign, Kind, run_in_child
from powercut_rig import Medium, list_missing_requirements


@pytest.fixture(scope="module")
def campaign(tmp_path_factory):
    root = tmp_path_factory.mktemp("cut")
    (root / "state").mkdir(mode=0o700)
    return Campaign(root, root / "state")


@pytest.mark.parametrize(
    ("kind", "write"), [(Kind.FIRST_START_MARKER_FILE_NAME, 12), (Kind.ANOTHER_BOARD, 2)]
)
def test_a_setup_that_ends_at_a_write_is_started_again(campaign, kind, write):
    """A few writes on a file system that loses nothing; the slow test covers all writes on one that does."""
    campaign.prepare(kind)
    assert run_in_child(campaign.list_acts(kind), under=campaign.setting.state.root, writes=write) == CUT
    assert campaign.check_result(kind) == "asks"


class Forgetful:
    """The campaign's state folder on a medium that loses unflushed data."""

    def __init__(self, root, generator):
        mount_point = root / "state"
        # As large as to have a second superblock, as the image's have: half of the first may be lost.
        self.medium = Medium(mount_point, root, generator, mib=256)
        self.medium.mount()
        mount_point.chmod(0o700)

    def cut(self):
        """Cut the power and mount what the medium has stored."""
        self.medium.disk.cut_power()
        self.medium.disk.fail_waiting_requests()
        self.medium.unmount()
        lost = self.medium.disk.restore_power()
        self.medium.mount()
        return lost


@pytest.mark.slow
@pytest.mark.timeout(5400)
@pytest.mark.skipif(
    bool(list_missing_requirements()),
    reason=f"needs root, FUSE and loop devices; missing: {list_missing_requirements()}",
)
def test_setup_survives_power_cuts_at_any_write_on_media_that_lose_unsynced_data(tmp_path, request):
    """Each cut takes about five seconds."""
    generator, seen, lost = random.Random(20261123), {kind: [] for kind in Kind}, 0
    media = Forgetful(tmp_path, generator)
    try:
        campaign = Campaign(tmp_path, tmp_path / "state")
        took, writes = {}, {}
        for kind in Kind:  # the duration, so that random instants are within it
            campaign.prepare(kind)
            began = time.monotonic()
            assert run_in_child(campaign.list_acts(kind)) == DONE
            took[kind] = time.monotonic() - began
            writes[kind] = 40 if kind is Kind.FIRST_START_MARKER_FILE_NAME else 16
        for number in range(request.config.getoption("--kills")):
            kind = generator.choice([*Kind, Kind.FIRST_START_MARKER_FILE_NAME])
            campaign.prepare(kind)
            write_number = generator.randrange(writes[kind]) if number % 2 else None
            seconds = None if number % 2 else generator.random() * took[kind]
            run_in_child(
                campaign.list_acts(kind), under=tmp_path / "state", writes=write_number, seconds=seconds
            )
            lost += media.cut()
            seen[kind].append(campaign.check_result(kind))
    finally:
        media.medium.close()
    summary = {
        kind.value: {found: all_.count(found) for found in ("asks", "runs")} for kind, all_ in seen.items()
    }
    print(f" [{sum(map(len, seen.values()))} cuts, {lost} sectors lost: {summary}]")
    assert lost
    assert {found for all_ in seen.values() for found in all_} == {"asks", "runs"}
