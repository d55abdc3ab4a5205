"""Caribbean Stud with its progressive bet on a machine that keeps the jackpot, and the cards a test wants."""

from pathlib import Path

from rigs.cards import remove_cards

from egm.config.levels import ProgressiveLevelTable
from egm.kernel.events import EventType
from egm.progressive.keys import ProgressiveKey
from egm.progressive.level import Level
from egm.testing.machine import MachineRig, ScriptedChance
from paytables.cards import Shoe, parse_cards
from tools.audit.games import GameFiles
from tools.audit.verify import Auditor

GAME, POOL = "quebec-caribbean-stud", "quebec-caribbean-stud.jackpot.100"
OWN = (ProgressiveLevelTable(game=GAME, level="jackpot"),)
ROYAL, STRAIGHT_FLUSH = "As Ks Qs Js Ts", "9h 8h 7h 6h 5h"
QUADS, FULL, FLUSH, PAIR = "4s 4h 4d 4c 9s", "4s 4h 4d 9c 9s", "As 9s 7s 4s 2s", "As Ad 9c 5h 3s"
#: The bank's: it does not open with them, nor does any hand above need one of them.
BANK = "Kd Jd 8c 6d 2c"


def numbers(*deals: str) -> list[int]:
    """What is drawn of a fresh deck so that these cards come, one deal of them after the other."""
    shoe, found = Shoe.from_decks(), []
    for card in (card for deal in deals for card in parse_cards(deal)):
        found.append(sum(shoe.counts[:card]))
        remove_cards(shoe, card)
    return found


def room_of(folder: Path, *hands: str, levels=OWN, cents=100, **options) -> MachineRig:
    """A machine with the game at a denomination; the player is dealt ``hands``, the bank always the same."""
    script = [number for hand in hands for number in numbers(hand, BANK)]
    chance = ScriptedChance(*script) if hands else None
    denominations = () if cents is None else (cents,)
    return MachineRig(
        folder, games=(GAME,), levels=levels, chance=chance, denominations_cents=denominations, **options
    )


def bet(rig: MachineRig, **bets: int) -> None:
    """Choose bets on spots."""
    rig.engine.handle(EventType.BET, value=sum(bets.values()), options={"bets": bets})


def begin(rig: MachineRig, **bets: int) -> None:
    """Bet and be dealt a hand; the bank shows a card."""
    bet(rig, **(bets or {"ante": 1, "progressive": 1}))
    rig.play()


def decide(rig: MachineRig, answer: str = "raise") -> None:
    """Raise or fold, and see the bank's cards."""
    rig.engine.handle(EventType.CHOOSE, value=answer)


def one_game(rig: MachineRig, answer: str = "raise", **bets: int) -> None:
    """A whole game."""
    begin(rig, **bets)
    decide(rig, answer)
    rig.report_shown()


def level(rig: MachineRig, pool: str = POOL) -> Level:
    """The jackpot as it stands."""
    return Level.from_json(rig.journal.state(f"{ProgressiveKey.LEVEL}{pool}"))


def list_findings(rig: MachineRig) -> list[object]:
    """What an audit of the whole journal finds."""
    rig.journal.self_audit()
    return Auditor(GameFiles()).audit_entries(rig.journal.iter_bodies()).findings
