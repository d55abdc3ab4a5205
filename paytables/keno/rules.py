"""The rules of one Keno game: its wagers, and the draws it plays."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from itertools import accumulate

from paytables.analysis import Analysis, AnalysisDepth, BetAnalysis
from paytables.contract import (
    DefinitionRemark,
    DrawSource,
    Json,
    LevelParticipation,
    Outcome,
    RoundEvents,
    Settlement,
    Wager,
)
from paytables.errors import PaytableError, WagerError
from paytables.game import Game
from paytables.keno import figures, presentation, ticket
from paytables.keno.draws import (
    DrawnBalls,
    draw_numbers,
    draw_weighted_factor,
    evaluate_ticket,
    list_levels_won,
)
from paytables.keno.limit import limit_prizes
from paytables.keno.schema import KenoDefinition, PresetTicket
from paytables.keno.tables import BonusesInForce, KenoPays, build_bonuses_in_force
from paytables.keno.ticket import KenoTicket, TicketSelection
from paytables.tableless import TablelessRules
from paytables.wording import format_count


@dataclass(frozen=True)
class KenoRules(TablelessRules):
    """The rules of a playable Keno game."""

    definition: KenoDefinition
    keno_pays: KenoPays
    """The pays by number of spots and catch."""

    @cached_property
    def bet_options(self) -> tuple[int, ...]:
        """Return the cost of every preset ticket at every stake, in credits, ascending.

        Other tickets may cost other amounts.
        """
        return tuple(
            sorted(
                {
                    self.build_preset_ticket(preset_ticket, stake).cost_credits
                    for preset_ticket, stake in self._offered_tickets
                }
            )
        )

    @cached_property
    def _offered_tickets(self) -> list[tuple[PresetTicket, int]]:
        """Return every preset ticket with every stake that it may be bought for."""
        ticket_limits = self.definition.ticket_limits
        offers = [
            (preset_ticket, stake)
            for preset_ticket in self.definition.preset_tickets
            for stake in ticket_limits.stake_options
        ]
        if ticket_limits.cost_max_credits is None:
            return offers
        return [
            (preset_ticket, stake)
            for preset_ticket, stake in offers
            if self.build_preset_ticket(preset_ticket, stake).cost_per_draw_credits
            <= ticket_limits.cost_max_credits
        ]

    def build_preset_ticket(self, preset_ticket: PresetTicket, stake_credits: int) -> KenoTicket:
        """Return the quick-pick ticket that a preset ticket stands for, with ``stake_credits`` per way."""
        selection = TicketSelection(
            group_sizes=(preset_ticket.spot_count,),
            groups=(),
            stake_by_spot_count={preset_ticket.spot_count: stake_credits},
        )
        return KenoTicket(
            (selection,) * preset_ticket.selection_count,
            preset_ticket.draw_count,
            build_bonuses_in_force(self.definition, preset_ticket.bonus_ids),
        )

    def build_ticket(self, request: Mapping[str, Json]) -> KenoTicket:
        """Return the requested Keno ticket after checking it. Raises :class:`WagerError` with field and reason."""
        return ticket.parse_request(self.definition, self.keno_pays, request)

    def build_wager(self, credits_: int, **options: Json) -> Wager:
        """Return the wager of ``credits_``: the requested ticket, or the first preset ticket that costs that much.

        ``selections`` is a list of ``{"groups": [[numbers]...], "stakes": {spots: credits}}``; a quick pick
        gives sizes in place of the groups, as in ``{"groups": [8], "stakes": {8: 1}}``. ``draws`` and
        ``bonuses`` (ids) are optional. ``form`` requests a preset ticket by its id.
        """
        return Wager(credits_, self._find_ticket(Wager(credits_, options)).to_json())

    def _find_ticket(self, wager: Wager) -> KenoTicket:
        """Return the Keno ticket of a wager, whether it was marked by the player or is a preset ticket.

        Raises :class:`WagerError`.
        """
        if "selections" not in wager.options:
            return self._find_preset_ticket(wager.credits, wager.options)
        keno_ticket = self.build_ticket(wager.options)
        if keno_ticket.cost_credits != wager.credits:
            raise WagerError(
                f"the ticket costs {format_count(keno_ticket.cost_credits, 'credit')}, not {wager.credits}"
            )
        return keno_ticket

    def _find_preset_ticket(self, credits_: int, options: Mapping[str, object]) -> KenoTicket:
        """Return the preset ticket that costs ``credits_``. Raises :class:`WagerError` if none does."""
        if set(options) - {"form"}:
            raise WagerError("a ticket must have selections, perhaps with draws and bonuses, or name a form")
        for preset_ticket, stake in self._offered_tickets:
            keno_ticket = self.build_preset_ticket(preset_ticket, stake)
            if (
                options.get("form", preset_ticket.id) == preset_ticket.id
                and keno_ticket.cost_credits == credits_
            ):
                return keno_ticket
        form_text = f" of form {options['form']!r}" if options else ""
        raise WagerError(
            f"no ticket{form_text} of {format_count(credits_, 'credit')}; the game offers {list(self.bet_options)}"
        )

    def play(self, wager: Wager, draw: DrawSource) -> RoundEvents:
        """Play every draw of a ticket, one after another; the quick picks come first."""
        bought_ticket = self._find_ticket(wager)
        complete_ticket = self.draw_quick_picks(bought_ticket, draw)
        keno_pays = ticket.exclude_unplayed_levels(self.keno_pays, bought_ticket)
        wins: list[Settlement] = []
        levels: list[str] = []
        shown_draws: list[Json] = []
        for draw_number in range(1, complete_ticket.draw_count + 1):
            drawn_balls = self.draw_balls(draw, complete_ticket.bonuses_in_force)
            ways = evaluate_ticket(keno_pays, complete_ticket, drawn_balls)
            paid_credits = limit_prizes([way.credits for way in ways], self.definition.prize_limit_credits)
            levels_won = list_levels_won(keno_pays, ways)
            wins += [
                way.build_settlement(draw_number, credits_)
                for way, credits_ in zip(ways, paid_credits, strict=True)
                if credits_
            ]
            levels += levels_won
            shown_draws.append(
                presentation.build_draw_data(draw_number, drawn_balls, ways, paid_credits, levels_won)
            )
        yield from wins
        is_quick_pick_by_selection = [selection.is_quick_pick for selection in bought_ticket.selections]
        return Outcome(
            progressives=tuple(levels),
            display=presentation.build_game_data(
                self.definition, complete_ticket, is_quick_pick_by_selection, shown_draws
            ),
        )

    def draw_balls(self, draw: DrawSource, bonuses_in_force: BonusesInForce) -> DrawnBalls:
        """Draw the balls of a Keno draw, in order, and then a factor for each multiplier bonus that the ticket has."""
        ball_field = self.definition.field
        balls = draw_numbers(draw, range(1, ball_field.number_count + 1), ball_field.drawn_count, "ball")
        return DrawnBalls(
            balls,
            {
                b.id: draw_weighted_factor(draw, b.weight_by_factor, b.id)
                for b in bonuses_in_force.multiplier_bonuses
            },
        )

    def draw_quick_picks(self, keno_ticket: KenoTicket, draw: DrawSource) -> KenoTicket:
        """Return the ticket with the numbers of its quick picks drawn, each from the whole field."""
        numbers_on_board = range(1, self.definition.field.number_count + 1)
        marked_selections = []
        for index, selection in enumerate(keno_ticket.selections, start=1):
            groups = selection.groups
            if selection.is_quick_pick:
                numbers = draw_numbers(
                    draw, numbers_on_board, sum(selection.group_sizes), f"quick pick {index}"
                )
                ends = zip(selection.group_sizes, accumulate(selection.group_sizes), strict=True)
                groups = tuple(tuple(sorted(numbers[end - size : end])) for size, end in ends)
            marked_selections.append(replace(selection, groups=groups))
        return replace(keno_ticket, selections=tuple(marked_selections))

    def list_levels(self, wager: Wager) -> tuple[LevelParticipation, ...]:
        """Return the progressive levels for which some way of the ticket plays.

        The odds are stated for one way at the minimum stake.
        """
        bought_ticket = self.build_ticket(wager.options)
        excluded_mask = ticket.exclude_unplayed_levels(self.keno_pays, bought_ticket).excluded_levels_mask
        played_stakes = {
            (spot_count, s.stake_by_spot_count[spot_count])
            for s in bought_ticket.selections
            for spot_count in s.count_ways()
        }
        return tuple(
            participation
            for i, (level, participation) in enumerate(
                zip(self.definition.progressive_levels, self.list_every_level(), strict=True)
            )
            if not excluded_mask >> i & 1
            and any(
                spot_count == level.spot_count and stake >= level.stake_min_credits
                for spot_count, stake in played_stakes
            )
        )

    def list_every_level(self) -> tuple[LevelParticipation, ...]:
        """Return every progressive level at its minimum stake, which for a linked level is the only stake."""
        return self._level_participations

    @cached_property
    def _level_participations(self) -> tuple[LevelParticipation, ...]:
        """Return every progressive level at its minimum stake, computed once."""
        cycle = self.definition.cycle
        return tuple(
            LevelParticipation(
                level=level.id,
                names=level.name.model_dump(),
                stake_credits=level.stake_min_credits,
                hit_rate=Fraction(
                    figures.count_cases_of_catch(self.definition, level.spot_count, level.catch_count, 0, 0),
                    cycle,
                ),
                increment=Fraction(level.increment),
                reset_credits=level.reset_credits,
                has_single_stake=level.is_linked,
            )
            for level in self.definition.progressive_levels
        )

    def build_presentation(self) -> dict[str, Json]:
        """Return what a screen needs to draw the Keno board, as JSON data."""
        return presentation.build_presentation(self.definition)

    def explain_pays(self) -> tuple[str, ...]:
        """Return one sentence for each number of spots that states what it pays per credit staked."""
        return tuple(
            f"{format_count(spot_count, 'spot')}: "
            + ", ".join(f"{catch} pay {pays[catch]:,}" for catch in sorted(pays, reverse=True) if pays[catch])
            for spot_count, pays in sorted(self.keno_pays.pays_by_spot_count.items())
        )

    def list_remarks(self) -> tuple[DefinitionRemark, ...]:
        """Return remarks on what is legal but may surprise: a higher catch that pays less than a lower one."""
        lower_pay_remarks = []
        for n, table in enumerate(self.definition.pay_tables):
            level_catches = {
                level.catch_count
                for level in self.definition.progressive_levels
                if level.spot_count == table.spot_count
            }
            pay_by_catch = {
                c: table.pay_by_catch.get(c, 0)
                for c in self.definition.list_possible_catches(table.spot_count)
                if c not in level_catches
            }
            for catch, pay in pay_by_catch.items():
                if 2 * catch >= table.spot_count and pay > pay_by_catch.get(catch + 1, pay):
                    higher_pay = pay_by_catch[catch + 1]
                    reason = (
                        f"catching {catch + 1} of {table.spot_count} pays {higher_pay}, "
                        f"less than {pay} for {catch}"
                    )
                    lower_pay_remarks.append(DefinitionRemark(f"table.{n}.pays", reason))
        return tuple(lower_pay_remarks)

    def analyse(self, depth: AnalysisDepth) -> Analysis:
        """Return the exact figures of every way to bet; see :func:`paytables.keno.figures.analyse`."""
        offers = [
            (preset_ticket, self.build_preset_ticket(preset_ticket, stake))
            for preset_ticket, stake in self._offered_tickets
        ]
        return figures.analyse(self.definition, self.keno_pays, offers, depth)

    def analyse_wager(self, wager: Wager) -> BetAnalysis:
        """Return the exact figures of any Keno ticket, or exact bounds if its selections overlap too much."""
        bought_ticket = self.build_ticket(self.build_wager(wager.credits, **wager.options).options)
        return figures.analyse_ticket(self.definition, self.keno_pays, bought_ticket, "ticket")


def find_keno_rules(game: Game) -> KenoRules:
    """Return the rules of a Keno game. Raises :class:`PaytableError` for a game of another family."""
    if not isinstance(game.rules, KenoRules):
        raise PaytableError(f"{game.id} is a {game.family} game, not Keno")
    return game.rules
