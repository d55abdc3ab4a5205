"""Checks of a whole Keno definition, and the pays that its tables give to a way."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import combinations
from math import prod

from paytables.errors import DefinitionError
from paytables.keno.schema import BallBonus, KenoDefinition, KenoProgressiveLevel, MultiplierBonus
from paytables.wording import format_count


@dataclass(frozen=True, slots=True)
class BonusesInForce:
    """The bonuses in force for a Keno ticket: those that every ticket has, and those bought."""

    ball_bonuses: tuple[BallBonus, ...]
    """The bonuses in force that depend on a certain ball of the draw."""
    multiplier_bonuses: tuple[MultiplierBonus, ...]
    """The bonuses in force whose factor is drawn."""
    bought_ids: tuple[str, ...]
    """The ids of the bonuses for which the ticket pays a fee."""
    fee_per_credit: int
    """The total fee of the bought bonuses, in credits for each credit staked."""

    @property
    def cost_per_staked_credit(self) -> int:
        """Return the cost of a Keno way, in credits, for each credit of its stake."""
        return 1 + self.fee_per_credit

    @property
    def factor_max(self) -> int:
        """Return the largest factor that all Keno bonuses together can multiply a win by."""
        return prod(b.factor for b in self.ball_bonuses) * prod(
            max(b.weight_by_factor) for b in self.multiplier_bonuses
        )

    def compute_factor(self, named_ball_bits: int) -> int:
        """Return the factor of a Keno way's win from the bonuses on certain balls.

        Bit *i* of ``named_ball_bits`` is set if the way contains the ball of bonus *i* of ``ball_bonuses``.
        """
        return prod(bonus.factor for i, bonus in enumerate(self.ball_bonuses) if named_ball_bits >> i & 1)


def format_prize_name(spot_count: int, catch_count: int) -> str:
    """Return the name of a Keno prize in settlements and on the PAR sheet, such as ``5 of 8``."""
    return f"{catch_count} of {spot_count}"


def build_bonuses_in_force(definition: KenoDefinition, requested_ids: Iterable[str]) -> BonusesInForce:
    """Return the bonuses in force for a Keno ticket whose player has bought those with the ids ``requested_ids``.

    Ids of bonuses that the game does not sell are ignored.
    """
    bought_ids = set(requested_ids)
    bonuses_in_force = [b for b in definition.bonuses if not b.fee_per_credit or b.id in bought_ids]
    return BonusesInForce(
        ball_bonuses=tuple(b for b in bonuses_in_force if isinstance(b, BallBonus)),
        multiplier_bonuses=tuple(b for b in bonuses_in_force if isinstance(b, MultiplierBonus)),
        bought_ids=tuple(b.id for b in bonuses_in_force if b.fee_per_credit),
        fee_per_credit=sum(b.fee_per_credit for b in bonuses_in_force),
    )


def list_every_bonus_combination(definition: KenoDefinition) -> list[BonusesInForce]:
    """Return every combination of the bonuses that a Keno game sells, starting with none bought."""
    sold_ids = [b.id for b in definition.bonuses if b.fee_per_credit]
    return [
        build_bonuses_in_force(definition, bought_ids)
        for n in range(len(sold_ids) + 1)
        for bought_ids in combinations(sold_ids, n)
    ]


@dataclass(frozen=True, slots=True)
class KenoPays:
    """The pays of a Keno game by number of spots and catch, and the progressive levels that each catch wins."""

    pays_by_spot_count: Mapping[int, Mapping[int, int]]
    """The credits paid for each credit staked, by number of spots and by catch."""
    levels: tuple[KenoProgressiveLevel, ...]
    """The progressive levels of the game, in the definition's order."""
    excluded_levels_mask: int = 0
    """The progressive levels that a ticket does not play for, level *i* as bit *i*; only a ticket's copy has any."""

    def find_pay_credits(self, spot_count: int, catch_count: int) -> int:
        """Return the credits per credit staked if ``catch_count`` of a Keno way's ``spot_count`` numbers are drawn."""
        return self.pays_by_spot_count[spot_count].get(catch_count, 0)

    def find_won_levels_mask(self, spot_count: int, stake_credits: int, catch_count: int) -> int:
        """Return the progressive levels that a Keno way with this stake and catch wins, level *i* as bit *i*."""
        return (
            sum(
                1 << i
                for i, level in enumerate(self.levels)
                if level.spot_count == spot_count
                and level.catch_count == catch_count
                and stake_credits >= level.stake_min_credits
            )
            & ~self.excluded_levels_mask
        )


def build_checked_pays(definition: KenoDefinition, file: str) -> KenoPays:
    """Return the pay tables of a Keno definition after checking what the model alone cannot check.

    Raises :class:`DefinitionError`, which names the wrong key.
    """
    checks = _PayChecks(definition, file)
    pays_by_spot_count = checks.check_pay_tables()
    checks.check_bonuses()
    checks.check_progressive_levels(pays_by_spot_count)
    checks.check_preset_tickets(pays_by_spot_count)
    checks.check_prize_limit(pays_by_spot_count)
    return KenoPays(pays_by_spot_count, definition.progressive_levels)


@dataclass(frozen=True, slots=True)
class _PayChecks:
    """Checks of a Keno definition that its data model cannot make."""

    definition: KenoDefinition
    file: str

    def build_error(self, definition_key: str, reason: str) -> DefinitionError:
        """Return the error for a key of the definition; the caller raises it."""
        return DefinitionError(self.file, definition_key, reason)

    def check_pay_tables(self) -> dict[int, Mapping[int, int]]:
        """Check the Keno pay tables and return them by number of spots. Raises :class:`DefinitionError`."""
        pays_by_spot_count: dict[int, Mapping[int, int]] = {}
        number_count = self.definition.field.number_count
        for n, table in enumerate(self.definition.pay_tables):
            if table.spot_count in pays_by_spot_count:
                raise self.build_error(
                    f"table.{n}.spots",
                    f"two tables are for {format_count(table.spot_count, 'spot')}; expected one",
                )
            if table.spot_count >= number_count:
                raise self.build_error(
                    f"table.{n}.spots",
                    f"{format_count(table.spot_count, 'spot')}, but the field has only "
                    f"{format_count(number_count, 'number')}",
                )
            for catch in table.pay_by_catch:
                self._check_catch(f"table.{n}.pays.{catch}", table.spot_count, catch)
            if not any(table.pay_by_catch.values()):
                raise self.build_error(f"table.{n}.pays", "every pay is zero; expected at least one above 0")
            pays_by_spot_count[table.spot_count] = table.pay_by_catch
        return pays_by_spot_count

    def _check_catch(self, definition_key: str, spot_count: int, catch_count: int) -> None:
        """Raise :class:`DefinitionError` if that many numbers cannot contain exactly ``catch_count`` drawn balls."""
        if catch_count > spot_count:
            raise self.build_error(
                definition_key,
                f"{catch_count} catches are not possible on {format_count(spot_count, 'spot')}",
            )
        possible_catches = self.definition.list_possible_catches(spot_count)
        if catch_count not in possible_catches:
            catches = f"catches {possible_catches.start} to {possible_catches.stop - 1}, never {catch_count}"
            raise self.build_error(definition_key, f"a way of {format_count(spot_count, 'spot')} {catches}")

    def check_bonuses(self) -> None:
        """Check the bonuses that the Keno definition offers: their ids and balls. Raises :class:`DefinitionError`."""
        bonuses, drawn_count = self.definition.bonuses, self.definition.field.drawn_count
        if len({b.id for b in bonuses}) != len(bonuses):
            raise self.build_error("bonus", "two bonuses have the same id")
        balls = [b.ball_number for b in bonuses if isinstance(b, BallBonus)]
        if len(set(balls)) != len(balls):
            raise self.build_error("bonus", "two bonuses name the same ball")
        if balls and max(balls) > drawn_count:
            raise self.build_error(
                "bonus", f"there is no ball {max(balls)} in the order of the draw: a draw has {drawn_count}"
            )

    def check_progressive_levels(self, pays_by_spot_count: Mapping[int, Mapping[int, int]]) -> None:
        """Check the progressive levels of the Keno definition. Raises :class:`DefinitionError`."""
        levels = self.definition.progressive_levels
        if len({level.id for level in levels}) != len(levels):
            raise self.build_error("progressive", "two levels have the same id")
        for n, level in enumerate(levels):
            if level.spot_count not in pays_by_spot_count:
                raise self.build_error(
                    f"progressive.{n}.spots", f"no table for {format_count(level.spot_count, 'spot')}"
                )
            self._check_catch(f"progressive.{n}.catch", level.spot_count, level.catch_count)
            if level.stake_min_credits > max(self.definition.ticket_limits.stake_options):
                raise self.build_error(f"progressive.{n}.stake", "is higher than every stake in marks.stakes")
            if level.is_linked and level.stake_min_credits not in self.definition.ticket_limits.stake_options:
                reason = (
                    "a linked level needs one of the stakes in marks.stakes, "
                    f"which do not contain {level.stake_min_credits}"
                )
                raise self.build_error(f"progressive.{n}.stake", reason)

    def check_preset_tickets(self, pays_by_spot_count: Mapping[int, Mapping[int, int]]) -> None:
        """Check the preset tickets of the Keno definition. Raises :class:`DefinitionError`."""
        ticket_limits = self.definition.ticket_limits
        sold_ids = {b.id for b in self.definition.bonuses if b.fee_per_credit}
        if len({preset_ticket.id for preset_ticket in self.definition.preset_tickets}) != len(
            self.definition.preset_tickets
        ):
            raise self.build_error("form", "two forms have the same id")
        for n, preset_ticket in enumerate(self.definition.preset_tickets):
            if preset_ticket.spot_count not in pays_by_spot_count:
                raise self.build_error(
                    f"form.{n}.spots", f"no table for {format_count(preset_ticket.spot_count, 'spot')}"
                )
            if preset_ticket.selection_count > ticket_limits.selections_max:
                raise self.build_error(
                    f"form.{n}.selections",
                    f"is {preset_ticket.selection_count}; a ticket has at most {ticket_limits.selections_max}",
                )
            if preset_ticket.draw_count > ticket_limits.draws_max:
                raise self.build_error(
                    f"form.{n}.draws",
                    f"is {preset_ticket.draw_count}; a ticket takes part in at most {ticket_limits.draws_max}",
                )
            for bonus in set(preset_ticket.bonus_ids) - sold_ids:
                raise self.build_error(f"form.{n}.bonuses", f"the game sells no bonus {bonus!r}")
            cost_credits = (
                preset_ticket.selection_count
                * min(ticket_limits.stake_options)
                * build_bonuses_in_force(self.definition, preset_ticket.bonus_ids).cost_per_staked_credit
            )
            if ticket_limits.cost_max_credits is not None and cost_credits > ticket_limits.cost_max_credits:
                raise self.build_error(
                    f"form.{n}",
                    f"costs {cost_credits} a draw, but a ticket may cost at most {ticket_limits.cost_max_credits}",
                )

    def check_prize_limit(self, pays_by_spot_count: Mapping[int, Mapping[int, int]]) -> None:
        """Check that the limit on a Keno ticket's prizes reduces no prize of a single selection.

        Raises :class:`DefinitionError`.
        """
        limit = self.definition.prize_limit_credits
        if limit is None:
            return
        if self.definition.ticket_limits.cost_max_credits is None:
            raise self.build_error(
                "marks.cost", "must be given, because limit.credits limits the prizes of a ticket"
            )
        factor_max = max(
            bonuses_in_force.factor_max for bonuses_in_force in list_every_bonus_combination(self.definition)
        )
        prize_max_credits = (
            max(max(pay_by_catch.values()) for pay_by_catch in pays_by_spot_count.values())
            * max(self.definition.ticket_limits.stake_options)
            * factor_max
        )
        if limit < prize_max_credits:
            raise self.build_error(
                "limit.credits",
                f"is {limit}; expected at least {prize_max_credits}, the prize that one selection can win",
            )
