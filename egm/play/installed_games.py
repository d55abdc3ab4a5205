"""Installed games: loaded, analysed, and admitted only above the jurisdiction's floor.

The return is computed here from the very definition that is about to be played, every time the machine
starts. Where the place wants a certificate, one is wanted besides: of this digest, for this place, with this
return; no certificate can go stale, for none stands in for the computation.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from typing import Final

from babel.numbers import format_currency

from egm.config.cabinet_file import GameSlot
from egm.config.levels import LevelSlot
from egm.errors import OperatorError
from egm.kernel.machine import Machine
from egm.kernel.messages import Chances, LongOdds
from egm.kernel.standing_faults import note_fault
from egm.play.odds import chances, long_odds
from egm.play.prize_limits import Prizes, largest_prizes, largest_win_cents
from egm.profiles import Profile
from egm.progressive.pools import Pools, available_bets, pools_of
from egm.verify.certificate import Certificate
from paytables import Analysis, BetAnalysis, Depth, Game, PaytableError, analyse, load_game
from paytables.odds import awards
from paytables.wording import percent

#: The fault of a machine that does not offer all that its cabinet file names.
_FAULT: Final = "cabinet_file"


@dataclass(frozen=True, slots=True)
class InstalledGame:
    """A game admitted to this cabinet, with its least exact return over every way to bet.

    ``long_odds`` are those of its awards that the place wants told.
    """

    game: Game
    denominations_cents: tuple[int, ...]
    least_return: Fraction
    pools: Pools
    long_odds: tuple[LongOdds, ...] = ()
    certificate: Certificate | None = None
    chances: tuple[Chances, ...] = ()
    returns: Mapping[str, str] = field(default_factory=dict)
    """Of a table, the return of each kind of bet by its group, in percent; the main bet is the first."""

    @property
    def return_percent(self) -> str:
        """The least return as people read it: hundredths of a percent, rounded down."""
        return percent(self.least_return)


@dataclass(frozen=True, slots=True)
class Certifying:
    """Whose certificates count (a public key in hex, or empty), and whether every game must have one."""

    key: str = ""
    required: bool = False

    def certificate(
        self, slot: GameSlot, game: Game, profile: Profile, least: Fraction
    ) -> Certificate | None:
        """The game's certificate, held against it. Raises OperatorError where it is missing or of another."""
        if slot.certificate is None:
            if self.required:
                raise OperatorError(
                    f"{game.id}: has no certificate, and the profile {profile.id} wants one of every game"
                )
            return None
        if not self.key:
            raise OperatorError(f"{game.id}: has a certificate, and machine.certifier names no key")
        found = Certificate.read(slot.certificate, self.key)
        found.hold(game.id, game.digest, profile.id, least)
        return found


@dataclass(frozen=True, slots=True)
class Refusal:
    """A game this cabinet will not offer, and why."""

    game: str
    reason: str


def admit(
    slots: tuple[GameSlot, ...],
    profile: Profile,
    levels: tuple[LevelSlot, ...] = (),
    prizes: Prizes = largest_prizes,
    certifying: Certifying = Certifying(),
    doing: Callable[[int, str], None] = lambda _number, _game: None,
    *,
    has_wheel: bool = False,
) -> tuple[Mapping[str, InstalledGame], tuple[Refusal, ...]]:
    """Load each game and admit it, or say why not (Québec ss. 85, 93, 122).

    ``levels``: what the cabinet file says of the games' progressive levels. ``prizes`` knows the largest
    prize of a game, where the profile limits prizes. ``certifying``: whose certificates count. ``doing`` is
    told each game, and its number, before it is examined. ``has_wheel``: a real wheel is there to decide one.
    """
    admitted: dict[str, InstalledGame] = {}
    refused: list[Refusal] = []
    for number, slot in enumerate(slots, 1):
        doing(number, slot.game)
        try:
            resident = _examine(slot, profile, levels, prizes, certifying, has_wheel=has_wheel)
        except (PaytableError, OperatorError) as error:
            refused.append(Refusal(slot.game, str(error)))
            continue
        if resident.game.id in admitted:
            refused.append(Refusal(slot.game, f"a game with the id {resident.game.id!r} is already resident"))
            continue
        admitted[resident.game.id] = resident
    return admitted, tuple(refused)


def _examine(
    slot: GameSlot,
    profile: Profile,
    levels: tuple[LevelSlot, ...],
    prizes: Prizes,
    certifying: Certifying,
    *,
    has_wheel: bool,
) -> InstalledGame:
    game = load_game(slot.game)
    if game.rules.by_wheel and not has_wheel:
        raise OperatorError(f"{game.id}: a real wheel decides it, and no device of the cabinet is one")
    missing = [code for code in profile.languages if code not in game.title or code not in game.help]
    if missing:
        raise OperatorError(f"{game.id}: no title or help text in {', '.join(missing)}")
    if game.prizes_in_kind() and profile.by_hand.prizes_in_kind == "refused":
        raise OperatorError(
            f"{game.id}: it can win merchandise; the profile {profile.id} has prizes of money"
        )
    floor = profile.returns.floor(game.family)
    counted = profile.progressives.counted
    analysis = analyse(game, Depth.PRIZES)
    bets = _bets_offered(game, analysis, levels)
    returns = {bet.bet: bet.rtp_counting(counted) for bet in bets}
    least, name = min(returns.values()), floor.refused(returns)
    if name is not None:
        raise OperatorError(
            f"{game.id}: returns {percent(returns[name], 4)} % at bet {name}; "
            f"the profile {profile.id} requires at least {percent(floor.least)} % of a {game.family} game"
        )
    certificate = certifying.certificate(slot, game, profile, least)
    _chance_decides(game, analysis, profile)
    denominations_cents = _denominations(game, slot, profile, prizes)
    pools = pools_of(game, denominations_cents, levels)
    _within_limit(pools, profile)
    stored = tuple(cents for cents in denominations_cents if available_bets(pools, game, cents))
    if not stored:
        raise OperatorError(f"{game.id}: no controller's level is named for any of its stakes")
    return InstalledGame(
        game,
        stored,
        least,
        pools,
        long_odds(bets, profile.awards),
        certificate,
        chances(bets),
        bet_returns(game, bets),
    )


def bet_returns(game: Game, bets: Iterable[BetAnalysis]) -> dict[str, str]:
    """The least return of each kind of bet at a table, in percent, by the group of its spots.

    The main bet is the first. One that is staked with others of its own (an ante with what goes with it) is
    known by the spot that they go with.
    """
    spots = {spot.id: spot for spot in game.rules.layout()}
    least: dict[str, Fraction] = {}
    for bet in bets:
        laid = [spot for spot, credits_ in bet.options.get("bets", {}).items() if credits_ > 0]
        if laid and laid[0] in spots and all(spots[name].needs in laid for name in laid[1:]):
            group = spots[laid[0]].group
            least[group] = min(bet.rtp, least.get(group, bet.rtp))
    return {group: percent(each) for group, each in least.items()}


def _bets_offered(game: Game, analysis: Analysis, levels: tuple[LevelSlot, ...]) -> tuple[BetAnalysis, ...]:
    """The ways to bet here: without those that play for a side bet's level that the house does not keep."""
    kept = {slot.level for slot in levels if slot.game == game.id}
    missing = {play.level for play in game.every_level() if play.spots} - kept
    return tuple(bet for bet in analysis.bets if missing.isdisjoint(each.level for each in bet.progressives))


def _chance_decides(game: Game, analysis: Analysis, profile: Profile) -> None:
    """Something is drawn, every prize of the pay table can be won, and within the odds the place allows."""
    limit = profile.awards.longest_one_in
    for bet in analysis.bets:
        if bet.cycle == 1:
            raise OperatorError(f"{game.id}: its first result is always the same: nothing is left to chance")
        for prize in bet.never_won:
            raise OperatorError(f"{game.id}: no result of bet {bet.bet} wins {prize.name}")
        for award in awards(bet):
            if limit is not None and award.rate * limit < 1:
                raise OperatorError(
                    f"{game.id}: {award.name} is won once in {award.one_in:,} games at bet {bet.bet}; "
                    f"the profile {profile.id} wants once in {limit:,} at least"
                )
    if profile.awards.every_prize_at_every_bet:
        for bet_name, names in analysis.not_bought().items():
            raise OperatorError(
                f"{game.id}: bet {bet_name} cannot win {', '.join(names)}; "
                f"the profile {profile.id} wants every prize at every bet"
            )


def _money(amount_cents: int, profile: Profile) -> str:
    """An amount of the place's money, for the operator."""
    return format_currency(Decimal(amount_cents).scaleb(-2), profile.currency, locale="en_CA")


def _within_limit(pools: Pools, profile: Profile) -> None:
    """Where the place limits prizes, every level of the game must have a ceiling within it (Québec VLT)."""
    cap_cents = profile.play.win_limit_cents
    if cap_cents is None:
        return
    for pool in pools.by_id.values():
        ceiling_cents = pool.definition.terms.ceiling_cents
        if ceiling_cents is None or ceiling_cents > cap_cents:
            shown = (
                "has no ceiling" if ceiling_cents is None else f"may show {_money(ceiling_cents, profile)}"
            )
            raise OperatorError(
                f"{pool.game}: its progressive level {pool.level} {shown}; "
                f"the profile {profile.id} allows prizes of {_money(cap_cents, profile)}"
            )


def _denominations(game: Game, slot: GameSlot, profile: Profile, prizes: Prizes) -> tuple[int, ...]:
    """The denominations the cabinet file asks for and the profile allows; OperatorError without any."""
    asked = slot.denominations_cents or game.denominations_cents
    foreign = sorted(set(asked) - set(game.denominations_cents))
    if foreign:
        raise OperatorError(f"{game.id}: the definition does not offer denominations {foreign} (minor units)")
    rules = profile.play
    offered = [
        cents for cents in sorted(asked) if not rules.credit_limit_cents or cents <= rules.credit_limit_cents
    ]
    least = min(map(game.round_cost, game.bet_options))
    offered = [cents for cents in offered if least * cents <= rules.bet_limit_cents]
    if not offered:
        raise OperatorError(
            f"{game.id}: its smallest bet, {least} credits at {sorted(asked)} minor units, "
            f"is over the limits of the profile {profile.id}"
        )
    cap_cents = rules.win_limit_cents
    if cap_cents is None:
        return tuple(offered)
    largest: dict[int, int] = {}
    for cents in offered:
        most = largest_win_cents(game, cents, rules.bet_limit_cents, prizes(game))
        if most is None:
            raise OperatorError(
                f"{game.id}: its largest prize has no exact figure, and this profile limits prizes"
            )
        if game.rules.layout():  # each wager is judged by itself, before it is taken
            most = min(win * cents for win, _ in prizes(game) if win is not None)
        largest[cents] = most
    within = tuple(cents for cents in offered if largest[cents] <= cap_cents)
    if not within:
        raise OperatorError(
            f"{game.id}: it can win {_money(largest[offered[0]], profile)} in one game at "
            f"{_money(offered[0], profile)} a credit; "
            f"the profile {profile.id} allows {_money(cap_cents, profile)}"
        )
    return within


def note_cabinet_file(machine: Machine, why: str) -> None:
    """Tell staff that the machine does not offer all that its cabinet file names, or that it does now."""
    standing = machine.faults.get(_FAULT)
    if standing is not None and standing["detail"] != why:
        note_fault(machine, _FAULT, "")
    note_fault(machine, _FAULT, why)
