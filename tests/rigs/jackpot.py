"""Caribbean Stud with a stand-alone jackpot, and cards that the test chooses."""

from pathlib import Path

from rigs.cards import remove_cards

from egm.config.levels import ProgressiveLevelTable
from egm.kernel.events import EventType
from egm.progressive.keys import ProgressiveKey
from egm.progressive.level import Level
from egm.testing.machine import MachineRig, ScriptedGenerator
from paytables.cards import Shoe, parse_cards
from tools.audit.games import GameFiles
from tools.audit.verify import Auditor

GAME, POOL = "quebec-caribbean-stud", "quebec-caribbean-stud.jackpot.100"
OWN = (ProgressiveLevelTable(game=GAME, level="jackpot"),)
ROYAL, STRAIGHT_FLUSH = "As Ks Qs Js Ts", "9h 8h 7h 6h 5h"
QUADS, FULL, FLUSH, PAIR = "4s 4h 4d 4c 9s", "4s 4h 4d 9c 9s", "As 9s 7s 4s 2s", "As Ad 9c 5h 3s"
#: The bank's cards. The bank does not qualify with them, and no hand above contains one of them.
BANK = "Kd Jd 8c 6d 2c"


def list_draws(*deals: str) -> list[int]:
    """Return the draws from a full deck that deal these cards, one deal after the other."""
    shoe, found = Shoe.from_decks(), []
    for card in (card for deal in deals for card in parse_cards(deal)):
        found.append(sum(shoe.counts[:card]))
        remove_cards(shoe, card)
    return found


def make_jackpot_machine(folder: Path, *hands: str, levels=OWN, cents=100, **options) -> MachineRig:
    """Return a machine with the game; the player is dealt ``hands`` in turn, the bank always the same cards."""
    script = [number for hand in hands for number in list_draws(hand, BANK)]
    generator = ScriptedGenerator(*script) if hands else None
    denominations = () if cents is None else (cents,)
    return MachineRig(
        folder,
        games=(GAME,),
        levels=levels,
        generator=generator,
        denominations_cents=denominations,
        **options,
    )


def choose_bets(rig: MachineRig, **bets: int) -> None:
    """Choose bets on spots."""
    rig.engine.handle(EventType.SELECT_BET, value=sum(bets.values()), options={"bets": bets})


def start_game(rig: MachineRig, **bets: int) -> None:
    """Bet and deal a hand; the game then waits for the player's decision."""
    choose_bets(rig, **(bets or {"ante": 1, "progressive": 1}))
    rig.play()


def decide(rig: MachineRig, answer: str = "raise") -> None:
    """Raise or fold, which ends the game."""
    rig.engine.handle(EventType.CHOOSE, value=answer)


def play_game(rig: MachineRig, answer: str = "raise", **bets: int) -> None:
    """Play a game from the bets to the end of its display."""
    start_game(rig, **bets)
    decide(rig, answer)
    rig.report_shown()


def read_level(rig: MachineRig, pool: str = POOL) -> Level:
    """Return the jackpot's stored level."""
    return Level.from_json(rig.journal.state(f"{ProgressiveKey.OWN_LEVEL}{pool}"))


def audit_journal(rig: MachineRig) -> list[object]:
    """Return the findings of an audit of the whole journal."""
    rig.journal.self_audit()
    return Auditor(GameFiles()).audit_entries(rig.journal.iter_bodies()).findings
