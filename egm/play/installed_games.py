"""Installed games: loaded, analysed, and offered only if their return is at least the jurisdiction's minimum.

The return is computed at every start of the machine from the definition that will be played. A profile may also
require a certificate that states digest, jurisdiction and return of the game. A certificate never replaces the
computation, so an outdated one is detected.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from typing import Final

from babel.numbers import format_currency

from egm.config.cabinet_file import GameTable
from egm.config.levels import ProgressiveLevelTable
from egm.errors import OperatorError
from egm.kernel.active_faults import raise_or_clear_fault
from egm.kernel.machine import PositionMachine
from egm.kernel.messages import BetChances, LongOdds
from egm.play.award_chances import list_bet_chances, list_long_odds
from egm.play.prize_limits import ComputeLargestPrizes, compute_largest_prizes, compute_largest_win_cents
from egm.profiles import Profile
from egm.progressive.pools import ProgressivePools, create_pools, list_available_bets
from egm.verify.certificate import Certificate
from paytables import Analysis, AnalysisDepth, BetAnalysis, Game, PaytableError, analyse, load_game
from paytables.odds import list_awards
from paytables.wording import format_percent

#: The fault of a machine that does not offer everything its cabinet file names.
_CABINET_FILE_FAULT: Final = "cabinet_file"


@dataclass(frozen=True, slots=True)
class InstalledGame:
    """A game that this cabinet may offer, with its denominations, returns and odds."""

    game: Game
    denominations_cents: tuple[int, ...]
    lowest_return: Fraction
    """The lowest exact return of all ways to bet on the game."""
    progressive_pools: ProgressivePools
    long_odds: tuple[LongOdds, ...] = ()
    """The odds of rare awards that the profile requires to be displayed."""
    certificate: Certificate | None = None
    bet_chances: tuple[BetChances, ...] = ()
    return_percent_by_spot_group: Mapping[str, str] = field(default_factory=dict)
    """For a table: the lowest return of each kind of bet in percent; the key is the group of its betting spots."""

    @property
    def lowest_return_percent(self) -> str:
        """Return the lowest return of all ways to bet as text: in percent, rounded down to hundredths."""
        return format_percent(self.lowest_return)


@dataclass(frozen=True, slots=True)
class CertificateRules:
    """The rules for game certificates: the certifier's public key, and whether every game needs a certificate."""

    public_key_hex: str = ""
    are_certificates_required: bool = False

    def verify_certificate(
        self, game_table: GameTable, game: Game, profile: Profile, lowest_return: Fraction
    ) -> Certificate | None:
        """Return the game's certificate after verifying it, or None if it has none and needs none.

        Raises OperatorError if a required certificate is missing, if a certificate does not match, or if the cabinet
        file has no key to verify it with.
        """
        if game_table.certificate is None:
            if self.are_certificates_required:
                raise OperatorError(
                    f"{game.id}: has no certificate, but the profile {profile.id} requires one for every game"
                )
            return None
        if not self.public_key_hex:
            raise OperatorError(f"{game.id}: has a certificate, but machine.certifier names no key")
        certificate = Certificate.read(game_table.certificate, self.public_key_hex)
        certificate.check_certifies(game.id, game.digest, profile.id, lowest_return)
        return certificate


@dataclass(frozen=True, slots=True)
class RefusedGame:
    """A game of the cabinet file that this cabinet does not offer, and the reason."""

    game_id_or_path: str
    reason: str


def admit_games(
    game_tables: tuple[GameTable, ...],
    profile: Profile,
    level_tables: tuple[ProgressiveLevelTable, ...] = (),
    compute_prizes: ComputeLargestPrizes = compute_largest_prizes,
    certificate_rules: CertificateRules = CertificateRules(),
    report_progress: Callable[[int, str], None] = lambda _number, _game: None,
    *,
    has_wheel: bool = False,
) -> tuple[Mapping[str, InstalledGame], tuple[RefusedGame, ...]]:
    """Load the games of the cabinet file, check them (Québec ss. 85, 93, 122), and separate offered from refused ones.

    Return the games that may be offered, by id, and the refused ones with the reason.

    ``level_tables``: the progressive levels in the cabinet file. ``compute_prizes`` returns the largest prizes
    of a game, for profiles that limit them. Before each game is checked, ``report_progress`` is called with its
    number (from 1) and its id. ``has_wheel``: whether the cabinet has a real roulette wheel.
    """
    installed_game_by_id: dict[str, InstalledGame] = {}
    refused_games: list[RefusedGame] = []
    for number, game_table in enumerate(game_tables, 1):
        report_progress(number, game_table.game)
        try:
            installed_game = _examine_game(
                game_table, profile, level_tables, compute_prizes, certificate_rules, has_wheel=has_wheel
            )
        except (PaytableError, OperatorError) as error:
            refused_games.append(RefusedGame(game_table.game, str(error)))
            continue
        if installed_game.game.id in installed_game_by_id:
            refused_games.append(
                RefusedGame(
                    game_table.game, f"another game with the id {installed_game.game.id!r} is installed"
                )
            )
            continue
        installed_game_by_id[installed_game.game.id] = installed_game
    return installed_game_by_id, tuple(refused_games)


def _examine_game(
    game_table: GameTable,
    profile: Profile,
    level_tables: tuple[ProgressiveLevelTable, ...],
    compute_prizes: ComputeLargestPrizes,
    certificate_rules: CertificateRules,
    *,
    has_wheel: bool,
) -> InstalledGame:
    """Return the game with the denominations, returns and odds that this machine may offer.

    Raises OperatorError if the machine or its profile cannot offer it.
    """
    game = load_game(game_table.game)
    if game.rules.is_decided_by_wheel and not has_wheel:
        raise OperatorError(f"{game.id}: needs a real wheel, but the cabinet file has no wheel device")
    missing_languages = [
        code for code in profile.languages if code not in game.title or code not in game.help
    ]
    if missing_languages:
        raise OperatorError(f"{game.id}: no title or help text in {', '.join(missing_languages)}")
    if game.list_prizes_in_kind() and profile.handpay.prizes_in_kind == "refused":
        raise OperatorError(
            f"{game.id}: it can win merchandise, but the profile {profile.id} allows only money prizes"
        )
    required_minimum = profile.returns.find_minimum(game.family)
    counted_levels = profile.progressives.part_counted_in_return
    analysis = analyse(game, AnalysisDepth.PRIZES)
    bets = _list_offered_bets(game, analysis, level_tables)
    return_by_bet = {bet.bet: bet.compute_rtp_including_levels(counted_levels) for bet in bets}
    lowest_return = min(return_by_bet.values())
    bet_below_minimum = required_minimum.find_bet_below(
        {bet.bet: return_by_bet[bet.bet] for bet in bets if not bet.is_covered_by_players}
    )
    if bet_below_minimum is not None:
        raise OperatorError(
            f"{game.id}: returns {format_percent(return_by_bet[bet_below_minimum], 4)} % at bet {bet_below_minimum}; "
            f"the profile {profile.id} requires at least {format_percent(required_minimum.required_return)} % "
            f"of a {game.family} game"
        )
    certificate = certificate_rules.verify_certificate(game_table, game, profile, lowest_return)
    _check_draws_and_prize_odds(game, analysis, profile)
    denominations_cents = _list_allowed_denominations(game, game_table, profile, compute_prizes)
    pools = create_pools(game, denominations_cents, level_tables)
    _check_prize_limit(pools, profile)
    offered_denominations = tuple(
        cents for cents in denominations_cents if list_available_bets(pools, game, cents)
    )
    if not offered_denominations:
        raise OperatorError(f"{game.id}: the cabinet file names no controller level for any of its stakes")
    return InstalledGame(
        game,
        offered_denominations,
        lowest_return,
        pools,
        list_long_odds(bets, profile.awards.odds_limits),
        certificate,
        list_bet_chances(bets),
        list_return_percents(game, bets),
    )


def list_return_percents(game: Game, bets: Iterable[BetAnalysis]) -> dict[str, str]:
    """Return the lowest return of each kind of bet at a table, in percent, by the group of its betting spots.

    The main bet is first. Bets that can only be made together (an ante with its raises) are listed under the group
    of the spot on which they all depend.
    """
    spot_by_id = {spot.id: spot for spot in game.rules.list_spots()}
    lowest_return_by_group: dict[str, Fraction] = {}
    for bet in bets:
        staked_spot_ids = [
            spot_id for spot_id, credits_ in bet.options.get("bets", {}).items() if credits_ > 0
        ]
        if (
            staked_spot_ids
            and staked_spot_ids[0] in spot_by_id
            and all(spot_by_id[spot_id].required_spot in staked_spot_ids for spot_id in staked_spot_ids[1:])
        ):
            group = spot_by_id[staked_spot_ids[0]].group
            lowest_return_by_group[group] = min(bet.rtp, lowest_return_by_group.get(group, bet.rtp))
    return {group: format_percent(rtp) for group, rtp in lowest_return_by_group.items()}


def _list_offered_bets(
    game: Game, analysis: Analysis, levels: tuple[ProgressiveLevelTable, ...]
) -> tuple[BetAnalysis, ...]:
    """Return the ways to bet on this machine, without side bets whose progressive level is not in the cabinet file."""
    configured_levels = {level_table.level_name for level_table in levels if level_table.game_id == game.id}
    missing_levels = {
        participation.level for participation in game.list_every_level() if participation.spots
    } - configured_levels
    return tuple(
        bet
        for bet in analysis.bets
        if missing_levels.isdisjoint(progressive.level for progressive in bet.progressives)
    )


def _check_draws_and_prize_odds(game: Game, analysis: Analysis, profile: Profile) -> None:
    """Raise OperatorError if the game draws no numbers or if its prizes cannot be won as the profile requires.

    Every prize must be possible, none may be rarer than the profile allows, and some profiles require every prize
    at every bet.
    """
    longest_odds_one_in = profile.awards.longest_odds_one_in
    for bet in analysis.bets:
        if bet.cycle == 1:
            raise OperatorError(f"{game.id}: its first result is always the same: no number is drawn")
        for prize in bet.prizes_never_won:
            raise OperatorError(f"{game.id}: no result of bet {bet.bet} wins {prize.name}")
        for award in list_awards(bet):
            if longest_odds_one_in is not None and award.rate * longest_odds_one_in < 1:
                raise OperatorError(
                    f"{game.id}: {award.name} is won once in {award.one_in:,} games at bet {bet.bet}; "
                    f"the profile {profile.id} requires at least once in {longest_odds_one_in:,}"
                )
    if profile.awards.requires_every_prize_at_every_bet:
        for bet_name, names in analysis.list_prizes_unavailable_by_bet().items():
            raise OperatorError(
                f"{game.id}: bet {bet_name} cannot win {', '.join(names)}; "
                f"the profile {profile.id} requires every prize at every bet"
            )


def _format_money(amount_cents: int, profile: Profile) -> str:
    """Return an amount in the profile's currency as text, for messages to the operator."""
    return format_currency(Decimal(amount_cents).scaleb(-2), profile.currency, locale="en_CA")


def _check_prize_limit(pools: ProgressivePools, profile: Profile) -> None:
    """Raise OperatorError if the profile limits prizes and a progressive level may exceed the limit (Québec VLT)."""
    win_max_cents = profile.play.win_max_cents
    if win_max_cents is None:
        return
    for pool in pools.pool_by_id.values():
        ceiling_cents = pool.definition.terms.ceiling_cents
        if ceiling_cents is None or ceiling_cents > win_max_cents:
            problem = (
                "has no ceiling"
                if ceiling_cents is None
                else f"may show {_format_money(ceiling_cents, profile)}"
            )
            raise OperatorError(
                f"{pool.game_id}: its progressive level {pool.level_name} {problem}; "
                f"the profile {profile.id} allows prizes of {_format_money(win_max_cents, profile)}"
            )


def _list_allowed_denominations(
    game: Game, game_table: GameTable, profile: Profile, compute_prizes: ComputeLargestPrizes
) -> tuple[int, ...]:
    """Return the denominations of the cabinet file that the profile allows.

    Raises OperatorError if none are left, if the definition lacks a denomination that the cabinet file names, or if the
    profile limits prizes and the game's largest prize has no exact figure.
    """
    requested_denominations = game_table.denominations_cents or game.denominations_cents
    unknown_denominations = sorted(set(requested_denominations) - set(game.denominations_cents))
    if unknown_denominations:
        raise OperatorError(
            f"{game.id}: the definition does not offer denominations {unknown_denominations} (minor units)"
        )
    rules = profile.play
    offered_denominations = [
        cents
        for cents in sorted(requested_denominations)
        if not rules.denomination_max_cents or cents <= rules.denomination_max_cents
    ]
    lowest_cost = min(map(game.compute_round_cost, game.bet_options))
    offered_denominations = [
        cents for cents in offered_denominations if lowest_cost * cents <= rules.bet_max_cents
    ]
    if not offered_denominations:
        raise OperatorError(
            f"{game.id}: its smallest bet, {lowest_cost} credits at {sorted(requested_denominations)} minor units, "
            f"is over the limits of the profile {profile.id}"
        )
    win_max_cents = rules.win_max_cents
    if win_max_cents is None:
        return tuple(offered_denominations)
    largest_win_cents_by_denomination: dict[int, int] = {}
    for cents in offered_denominations:
        largest_win_cents = compute_largest_win_cents(game, cents, rules.bet_max_cents, compute_prizes(game))
        if largest_win_cents is None:
            raise OperatorError(
                f"{game.id}: its largest prize has no exact figure, but the profile {profile.id} limits prizes"
            )
        if game.rules.list_spots():  # at a table, each wager is checked separately before it is accepted
            largest_win_cents = min(win * cents for win, _ in compute_prizes(game) if win is not None)
        largest_win_cents_by_denomination[cents] = largest_win_cents
    allowed_denominations = tuple(
        cents for cents in offered_denominations if largest_win_cents_by_denomination[cents] <= win_max_cents
    )
    if not allowed_denominations:
        raise OperatorError(
            f"{game.id}: it can win "
            f"{_format_money(largest_win_cents_by_denomination[offered_denominations[0]], profile)} in one game at "
            f"{_format_money(offered_denominations[0], profile)} a credit; "
            f"the profile {profile.id} allows {_format_money(win_max_cents, profile)}"
        )
    return allowed_denominations


def update_cabinet_file_fault(machine: PositionMachine, reason: str) -> None:
    """Raise or clear the fault that the machine does not offer everything in its cabinet file.

    ``reason`` says why; if it is empty, the fault is cleared. A fault with another reason is replaced.
    """
    active_fault = machine.active_faults.get(_CABINET_FILE_FAULT)
    if active_fault is not None and active_fault["detail"] != reason:
        raise_or_clear_fault(machine, _CABINET_FILE_FAULT, "")
    raise_or_clear_fault(machine, _CABINET_FILE_FAULT, reason)
