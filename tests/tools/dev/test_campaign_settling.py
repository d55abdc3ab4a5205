"""The link campaign treats a machine as settled only if it was not killed by its last message."""

import asyncio
import random
from collections import Counter
from contextlib import suppress
from fractions import Fraction

from rigs.moments import NOW

from egm.config.levels import LevelScope, ProgressiveLinkTable
from egm.progressive.definition import LevelDefinition, LevelStakeAndHitRate
from egm.progressive.level import LevelTerms
from egm.progressive.messages import MysteryPrizeMessage
from egm.progressive.pools import LevelKeeper, ProgressivePool
from egm.progressive.trigger import MysteryTrigger
from tools.dev.progressive.faults import CampaignMachine, ProcessKilled
from tools.floor.progressive.certificates import AUTHORITY_CERTIFICATE_NAME, make_authority, make_certificate

TERMS = LevelTerms(base_cents=100, increment=Fraction(1, 3), ceiling_cents=110, is_mystery=True)
LEVEL = LevelDefinition(
    id="M",
    names={"en": "M", "fr": "M"},
    scope=LevelScope.LINKED,
    terms=TERMS,
    stake_and_hit_rate=LevelStakeAndHitRate(stake_cents=7, hit_rate=Fraction(1, 5)),
)
POOL = ProgressivePool(definition=LEVEL, game_id="campaign", level_name="top", keeper=LevelKeeper.CONTROLLER)


class Five:
    def below(self, bound, purpose):
        del purpose
        return 5 % bound


def test_machine_killed_by_its_prize_message_is_not_settled(tmp_path):
    trigger = MysteryTrigger.draw("M", 1, Fraction(100), TERMS, 7, Five())
    won = MysteryPrizeMessage(claim="mystery.M.1", sequence=1, amount_cents=102, order=1, trigger=trigger)
    now = NOW
    make_authority(tmp_path, now)
    make_certificate(tmp_path, "ONE", now)
    nobody = ProgressiveLinkTable(
        port=9,
        authority=tmp_path / f"{AUTHORITY_CERTIFICATE_NAME}.crt",
        certificate=tmp_path / "ONE.crt",
        key=tmp_path / "ONE.key",
    )

    async def session():
        seat = CampaignMachine("ONE", POOL, nobody, random.Random(1), Counter())
        assert seat.is_settled  # nothing was paid, and nothing is owed
        seat.kill_after("award received")
        with suppress(ProcessKilled):
            seat.machine._handle_mystery_win(won)
        assert seat.machine.is_settled  # its memory, which the prize did not reach
        assert not seat.is_settled
        await seat.end()

    asyncio.run(session())
