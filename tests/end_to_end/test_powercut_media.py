"""Power cuts at random instants of real sessions, on file systems of media that lose unflushed data.

Everything that a killed machine must satisfy (:mod:`test_kill`) must hold here too; here, data is on the media only
if the machine has flushed it. A disk that ignores flushes must be detected, or the test would prove nothing.
``--kills N`` sets the number of cuts.
"""

import asyncio

import pytest
from kill_rig import Aim
from powercut_rig import PowerRig, list_missing_requirements
from rigs.moments import get_real_now
from test_kill import (  # noqa: F401 (the same tests, on the campaign of this module)
    test_an_interrupted_game_ends_with_its_recorded_outcome,
    test_every_accepted_coin_is_credited,
    test_every_acknowledged_credit_is_in_the_journal,
    test_every_bill_and_ticket_in_the_box_is_credited_exactly_once,
    test_money_in_equals_money_out,
    test_recorded_draws_give_the_recorded_outcomes,
    test_the_audit_derives_every_progressive_level,
    test_the_killed_machine_ends_the_campaign_in_order,
)

from meters import Journal, JournalError

#: Three hundred cuts take some 25 minutes on a computer with four times its work to do.
pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(5400),
    pytest.mark.skipif(
        bool(list_missing_requirements()),
        reason=f"needs root, FUSE and loop devices; missing: {list_missing_requirements()}",
    ),
]


@pytest.fixture(scope="module")
def campaign(tmp_path_factory, request):
    rig = PowerRig(tmp_path_factory.mktemp("power"), seed=20261122)
    try:
        asyncio.run(rig.campaign(request.config.getoption("--kills")))
        assert not rig.witness.contradictions, f"{rig.witness.contradictions[:3]}\n{rig.read_last_log()}"
        repairs = sum(medium.repairs for medium in rig.media)
        lost = f"{rig.sectors_lost} sectors lost that nobody had asked to keep"
        print(f" [{rig.witness.kills} cuts; {lost}; {repairs} file systems repaired]")
        with Journal.open(rig.folder.root, now=get_real_now, second_folder=rig.second) as journal:
            yield rig, journal, list(journal.entries())
    finally:
        rig.close()


def play_and_cut_power(root, *, ignores_flushes):
    """Play one game, cut the power and lose all unflushed data; return the last entry sent and the last stored."""
    rig = PowerRig(root, seed=7, ignores_flushes=ignores_flushes)
    rig.survival = 0.0

    async def life():
        await rig.begin()
        await rig._run_once(Aim.GAME)
        await rig.end()

    try:
        asyncio.run(life())
        stored_sequence = max(rig.witness.snapshots)
        try:
            with Journal.open(rig.folder.root, now=get_real_now, second_folder=rig.second) as journal:
                return stored_sequence, max((entry.sequence for entry in journal.entries()), default=0)
        except JournalError:
            return stored_sequence, 0
    finally:
        rig.close()


@pytest.mark.requirement("A-08")
def test_acknowledged_entries_survive_a_power_cut_that_loses_all_unsynced_data(tmp_path):
    acknowledged, recovered = play_and_cut_power(tmp_path, ignores_flushes=False)
    assert acknowledged <= recovered


def test_a_disk_that_reports_false_syncs_is_detected(tmp_path):
    """This is the negative control."""
    acknowledged, recovered = play_and_cut_power(tmp_path, ignores_flushes=True)
    assert acknowledged > recovered
