"""The games that live on this cabinet: loaded, analysed, and admitted only above the jurisdiction's floor.

The return is computed here from the very definition that is about to be played, every time the machine
starts: no certificate can go stale, because none is trusted.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from egm.config import GameSlot
from egm.errors import OperatorError
from egm.profiles import Profile
from paytables import DefinitionError, Depth, Game, analyse, load_game


@dataclass(frozen=True, slots=True)
class Resident:
    """A game admitted to this cabinet, with its least exact return over every way to bet."""

    game: Game
    denominations_cents: tuple[int, ...]
    least_return: Fraction

    @property
    def return_percent(self) -> str:
        """The least return as people read it: hundredths of a percent, rounded down."""
        hundredths = self.least_return * 10_000
        whole = hundredths.numerator // hundredths.denominator
        return f"{whole // 100}.{whole % 100:02d}"


@dataclass(frozen=True, slots=True)
class Refusal:
    """A game this cabinet will not offer, and why."""

    game: str
    reason: str


def admit(
    slots: tuple[GameSlot, ...], profile: Profile
) -> tuple[Mapping[str, Resident], tuple[Refusal, ...]]:
    """Load each game and admit it, or say why not (Québec ss. 85, 93, 122)."""
    admitted: dict[str, Resident] = {}
    refused: list[Refusal] = []
    for slot in slots:
        try:
            resident = _examine(slot, profile)
        except (DefinitionError, OperatorError) as error:
            refused.append(Refusal(slot.game, str(error)))
            continue
        if resident.game.id in admitted:
            refused.append(Refusal(slot.game, f"a game with the id {resident.game.id!r} is already resident"))
            continue
        admitted[resident.game.id] = resident
    return admitted, tuple(refused)


def _examine(slot: GameSlot, profile: Profile) -> Resident:
    game = load_game(slot.game)
    missing = [code for code in profile.languages if code not in game.title or code not in game.help]
    if missing:
        raise OperatorError(f"{game.id}: no title or help text in {', '.join(missing)}")
    shown = game.presentation()
    for kind in ("progressives", "merchandise"):
        if shown.get(kind):
            raise OperatorError(f"{game.id}: it can win {kind}, which this machine cannot pay yet")
    floor = profile.returns.floor(game.family)
    least = min(analyse(game, Depth.RETURN).bets, key=lambda bet: bet.rtp)
    if least.rtp < floor:
        raise OperatorError(
            f"{game.id}: returns {float(least.rtp):.4%} at bet {least.bet}; "
            f"the profile {profile.id} requires at least {float(floor):.2%} of a {game.family} game"
        )
    denominations = slot.denominations_cents or game.denominations_cents
    foreign = sorted(set(denominations) - set(game.denominations_cents))
    if foreign:
        raise OperatorError(f"{game.id}: the definition does not offer denominations {foreign} (minor units)")
    smallest_bet = min(game.bet_options) * min(denominations)
    if smallest_bet > profile.play.bet_limit_cents:
        raise OperatorError(
            f"{game.id}: its smallest bet, {smallest_bet} minor units, is over the profile's limit"
        )
    return Resident(game, tuple(sorted(denominations)), least.rtp)
