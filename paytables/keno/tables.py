"""Checks of a whole Keno definition, and the pays that its tables give to a way."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import combinations
from math import prod

from paytables.errors import DefinitionError
from paytables.keno.schema import BallBonus, KenoDefinition, MultiplierBonus, Progressive
from paytables.wording import format_count


@dataclass(frozen=True, slots=True)
class BonusOptions:
    """The bonuses in force for a Keno ticket: those that every ticket has, and those bought."""

    balls: tuple[BallBonus, ...]
    """The bonuses on a certain ball of the draw that are in force."""
    multipliers: tuple[MultiplierBonus, ...]
    """The bonuses with a drawn factor that are in force."""
    bought_ids: tuple[str, ...]
    """The ids of the bonuses for which the ticket pays a fee."""
    fee: int
    """The total fee of the bought bonuses, in credits for each credit staked."""

    @property
    def cost_per_staked_credit(self) -> int:
        """Return the cost of a Keno way, in credits, for each credit of its stake."""
        return 1 + self.fee

    @property
    def greatest_factor(self) -> int:
        """Return the largest factor that all Keno bonuses together can multiply a win by."""
        return prod(b.factor for b in self.balls) * prod(max(b.weights) for b in self.multipliers)

    def compute_factor(self, marked_ball_bits: int) -> int:
        """Return the factor of a Keno way's win from the bonuses on certain balls.

        Bit *i* of ``marked_ball_bits`` is set if the way contains the ball of bonus *i* of ``balls``.
        """
        return prod(bonus.factor for i, bonus in enumerate(self.balls) if marked_ball_bits >> i & 1)


def format_prize_name(spot_count: int, catch_count: int) -> str:
    """Return the name of a Keno prize in settlements and on the PAR sheet, such as ``5 of 8``."""
    return f"{catch_count} of {spot_count}"


def build_bonus_options(definition: KenoDefinition, requested_ids: Iterable[str]) -> BonusOptions:
    """Return the bonuses in force for a Keno ticket whose player has bought those with the ids ``requested_ids``."""
    bought_ids = set(requested_ids)
    in_force = [b for b in definition.bonus if not b.fee or b.id in bought_ids]
    return BonusOptions(
        balls=tuple(b for b in in_force if isinstance(b, BallBonus)),
        multipliers=tuple(b for b in in_force if isinstance(b, MultiplierBonus)),
        bought_ids=tuple(b.id for b in in_force if b.fee),
        fee=sum(b.fee for b in in_force),
    )


def list_every_bonus_combination(definition: KenoDefinition) -> list[BonusOptions]:
    """Return every combination of the bonuses that a Keno game sells, starting with none bought."""
    sold_ids = [b.id for b in definition.bonus if b.fee]
    return [
        build_bonus_options(definition, bought_ids)
        for n in range(len(sold_ids) + 1)
        for bought_ids in combinations(sold_ids, n)
    ]


@dataclass(frozen=True, slots=True)
class KenoPays:
    """The pays of a Keno game by number of spots and catch, and the progressive levels that each catch wins."""

    pays: Mapping[int, Mapping[int, int]]
    """The credits paid for each credit staked, by number of spots and by catch."""
    levels: tuple[Progressive, ...]
    """The progressive levels of the game, in the definition's order."""
    excluded_levels_mask: int = 0
    """The progressive levels, as bits, that the current ticket does not play for."""

    def find_pay_credits(self, spot_count: int, catch_count: int) -> int:
        """Return the credits per credit staked if ``catch_count`` of a Keno way's ``spot_count`` numbers are drawn."""
        return self.pays[spot_count].get(catch_count, 0)

    def find_won_levels_mask(self, spot_count: int, stake_credits: int, catch_count: int) -> int:
        """Return the progressive levels that a Keno way with this stake and catch wins, level *i* as bit *i*."""
        return (
            sum(
                1 << i
                for i, level in enumerate(self.levels)
                if level.spots == spot_count and level.catch == catch_count and stake_credits >= level.stake
            )
            & ~self.excluded_levels_mask
        )


def build_checked_pays(definition: KenoDefinition, file: str) -> KenoPays:
    """Return the pay tables of a Keno definition after checking what the model alone cannot check.

    Raises :class:`DefinitionError`, which names the wrong key.
    """
    checks = _PayChecks(definition, file)
    pays = checks.check_pay_tables()
    checks.check_bonuses()
    checks.check_progressive_levels(pays)
    checks.check_forms(pays)
    checks.check_prize_limit(pays)
    return KenoPays(pays, definition.progressive)


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
        pays_by_spots: dict[int, Mapping[int, int]] = {}
        numbers = self.definition.field.numbers
        for n, table in enumerate(self.definition.table):
            if table.spots in pays_by_spots:
                raise self.build_error(
                    f"table.{n}.spots",
                    f"two tables are for {format_count(table.spots, 'spot')}; expected one",
                )
            if table.spots >= numbers:
                raise self.build_error(
                    f"table.{n}.spots",
                    f"{format_count(table.spots, 'spot')}, but the field has only {format_count(numbers, 'number')}",
                )
            for catch in table.pays:
                self._check_catch(f"table.{n}.pays.{catch}", table.spots, catch)
            if not any(table.pays.values()):
                raise self.build_error(f"table.{n}.pays", "every pay is zero; expected at least one above 0")
            pays_by_spots[table.spots] = table.pays
        return pays_by_spots

    def _check_catch(self, definition_key: str, spot_count: int, catch_count: int) -> None:
        """Raise :class:`DefinitionError` if that many numbers cannot contain exactly ``catch_count`` drawn balls."""
        if catch_count > spot_count:
            raise self.build_error(
                definition_key,
                f"{catch_count} catches are not possible on {format_count(spot_count, 'spot')}",
            )
        possible = self.definition.list_possible_catches(spot_count)
        if catch_count not in possible:
            catches = f"catches {possible.start} to {possible.stop - 1}, never {catch_count}"
            raise self.build_error(definition_key, f"a way of {format_count(spot_count, 'spot')} {catches}")

    def check_bonuses(self) -> None:
        """Check the bonuses that the Keno definition offers. Raises :class:`DefinitionError`."""
        bonuses, balls_drawn = self.definition.bonus, self.definition.field.drawn
        if len({b.id for b in bonuses}) != len(bonuses):
            raise self.build_error("bonus", "two bonuses have the same id")
        balls = [b.ball for b in bonuses if isinstance(b, BallBonus)]
        if len(set(balls)) != len(balls):
            raise self.build_error("bonus", "two bonuses name the same ball")
        if balls and max(balls) > balls_drawn:
            raise self.build_error("bonus", f"ball {max(balls)} is never drawn: a draw has {balls_drawn}")

    def check_progressive_levels(self, pays: Mapping[int, Mapping[int, int]]) -> None:
        """Check the progressive levels of the Keno definition. Raises :class:`DefinitionError`."""
        levels = self.definition.progressive
        if len({level.id for level in levels}) != len(levels):
            raise self.build_error("progressive", "two levels have the same id")
        for n, level in enumerate(levels):
            if level.spots not in pays:
                raise self.build_error(
                    f"progressive.{n}.spots", f"no table for {format_count(level.spots, 'spot')}"
                )
            self._check_catch(f"progressive.{n}.catch", level.spots, level.catch)
            if level.stake > max(self.definition.marks.stakes):
                raise self.build_error(f"progressive.{n}.stake", "is higher than every stake in marks.stakes")
            if level.linked and level.stake not in self.definition.marks.stakes:
                reason = f"a linked level needs one of the stakes in marks.stakes, which do not contain {level.stake}"
                raise self.build_error(f"progressive.{n}.stake", reason)

    def check_forms(self, pays: Mapping[int, Mapping[int, int]]) -> None:
        """Check the forms of play of the Keno definition. Raises :class:`DefinitionError`."""
        marks = self.definition.marks
        sold = {b.id for b in self.definition.bonus if b.fee}
        if len({form.id for form in self.definition.form}) != len(self.definition.form):
            raise self.build_error("form", "two forms have the same id")
        for n, form in enumerate(self.definition.form):
            if form.spots not in pays:
                raise self.build_error(f"form.{n}.spots", f"no table for {format_count(form.spots, 'spot')}")
            if form.selections > marks.selections:
                raise self.build_error(
                    f"form.{n}.selections", f"is {form.selections}; a ticket has at most {marks.selections}"
                )
            if form.draws > marks.draws:
                raise self.build_error(
                    f"form.{n}.draws", f"is {form.draws}; a ticket takes part in at most {marks.draws}"
                )
            for bonus in set(form.bonuses) - sold:
                raise self.build_error(f"form.{n}.bonuses", f"the game sells no bonus {bonus!r}")
            cost = (
                form.selections
                * min(marks.stakes)
                * build_bonus_options(self.definition, form.bonuses).cost_per_staked_credit
            )
            if marks.cost is not None and cost > marks.cost:
                raise self.build_error(
                    f"form.{n}", f"costs {cost} a draw, but a ticket may cost at most {marks.cost}"
                )

    def check_prize_limit(self, pays: Mapping[int, Mapping[int, int]]) -> None:
        """Check that the limit on a Keno ticket's prizes reduces no prize of a single selection.

        Raises :class:`DefinitionError`.
        """
        limit = self.definition.prize_limit_credits
        if limit is None:
            return
        if self.definition.marks.cost is None:
            raise self.build_error(
                "marks.cost", "must be given, because limit.credits limits the prizes of a ticket"
            )
        greatest = max(option.greatest_factor for option in list_every_bonus_combination(self.definition))
        prize = max(max(p.values()) for p in pays.values()) * max(self.definition.marks.stakes) * greatest
        if limit < prize:
            raise self.build_error(
                "limit.credits",
                f"is {limit}; expected at least {prize}, the prize that one selection can win",
            )
