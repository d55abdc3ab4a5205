"""What card games against the bank share: bets on spots of the definition, a shoe, exact figures by cases."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import ClassVar, Generic, Self, TypeVar

from paytables.analysis import Analysis, BetAnalysis, Depth
from paytables.bank.dealing import shoe_of
from paytables.bank.schema import BankBet, BankDefinition
from paytables.cards.card import PACKS
from paytables.contract import Draw, Play, Remark, Spot, Wager
from paytables.errors import DefinitionError
from paytables.game import Family
from paytables.layout import (
    Case,
    Layout,
    TableRules,
    analysed,
    check_forms,
    check_whole_credits,
    stakes_stated,
)

D = TypeVar("D", bound=BankDefinition)

#: The hands on the felt, from the bank's: what they are called, and how many cards at most.
Hands = tuple[tuple[str, Mapping[str, str], int], ...]
BANK: Mapping[str, str] = {"en": "Bank", "fr": "Banque"}
PLAYER: Mapping[str, str] = {"en": "Player", "fr": "Joueur"}


@dataclass(frozen=True)
class BankRules(TableRules, Generic[D]):
    """A card game against the bank made playable; ``table`` is the shoe the rounds before have left."""

    definition: D
    table: object = field(default=None, compare=False)
    hands: ClassVar[Hands] = (("bank", BANK, 3), ("player", PLAYER, 3))

    def named(self) -> Hands:
        """Return the hands as the felt names them."""
        return self.hands

    def bets(self) -> tuple[BankBet, ...]:
        """Return the definition's bets; a family says which."""
        raise NotImplementedError

    def raised(self, bet: BankBet) -> int:  # noqa: ARG002
        """Return what an answer may add to a bet in its round, in times of it."""
        return 0

    def added(self) -> tuple[Spot, ...]:
        """Return the spots that only an answer stakes on."""
        return ()

    def play(self, wager: Wager, draw: Draw) -> Play:
        """Play one round: a family says how."""
        raise NotImplementedError

    def cases(self, wager: Wager) -> Iterable[Case]:
        """Return every result a wager may have from a fresh shoe, played by the best strategy."""
        raise NotImplementedError

    def every_case(self, wager: Wager) -> Iterable[Case]:
        """Return every result a wager may have, whatever is answered; a family with answers says it."""
        return self.cases(wager)

    def most_of_round(self, wager: Wager) -> int:
        """Return the most the round gives back, stakes and raises included, whatever is answered."""
        return max(sum(each.credits for each in case.settlements) for case in self.every_case(wager))

    @cached_property
    def cloth(self) -> Layout:
        """The places for bets, and what a wager on them must keep to."""
        spots = tuple(
            Spot(
                id=bet.id,
                group=bet.id,
                names=bet.name.model_dump(),
                odds=bet.pays.text,
                needs=bet.needs,
                terms=bet.terms(),
                reserve=Fraction(self.raised(bet)),
                **bet.limits.model_dump(),
            )
            for bet in self.bets()
        )
        return Layout((*spots, *self.added()), self.definition.table, self.definition.form)

    @property
    def shared_keys(self) -> frozenset[str]:
        """Return the shoe: whoever plays at the table is dealt from it."""
        return frozenset({"shoe"})

    def at(self, table: object) -> Self:
        """Return the rules with the shoe as it was left. Raises ValueError for what no round leaves."""
        if table is not None:
            shoe_of(self.definition.shoe, table)
        return replace(self, table=table)

    def presentation(self) -> dict[str, object]:
        """Return the places for bets and the hands."""
        hands: list[object] = [
            {"id": hand, "names": dict(names), "cards": most} for hand, names, most in self.named()
        ]
        return {"kind": "table", "felt": "cards", **self.cloth.to_json(), "hands": hands}

    def explain(self) -> tuple[str, ...]:
        """Return what each bet pays."""
        return tuple(self.definition.pay_lines()["en"])

    def remarks(self) -> tuple[Remark, ...]:
        """Return nothing that surprises."""
        return ()

    def analyse(self, depth: Depth) -> Analysis:
        """Return the exact figures of every bet at its least and its worst stake, of a fresh shoe.

        A bet that needs another has its own figures, and what is laid beside it is named.
        """
        bets = tuple(
            self.cloth.with_required_bets(self.analysed(name, {bet.id: stake}, depth))
            for bet in self.bets()
            for name, stake in stakes_stated(bet.id, bet.limits, bet.kept).items()
        )
        header = self.definition.game
        return Analysis(game_id=header.id, version=header.version, family=header.family, bets=bets)

    def analyse_wager(self, wager: Wager) -> BetAnalysis:
        """Return the exact figures of bets laid together, of a fresh shoe."""
        stakes: dict[str, int] = {}
        for bet in self.wager(wager.credits, **wager.options).bets:
            stakes[bet.spot] = stakes.get(bet.spot, 0) + bet.credits
        return self.analysed("bets", stakes, Depth.FULL)

    def analysed(self, name: str, stakes: Mapping[str, int], depth: Depth) -> BetAnalysis:
        """Return the exact figures of bets of one seat laid together."""
        wager = Wager(sum(stakes.values()), {"bets": dict(stakes)})
        return analysed(name, wager, self.cases(wager), depth)


def added_to(bet: BankBet, name: str, names: Mapping[str, str]) -> Spot:
    """Return the spot of what an answer adds to a bet: as much again."""
    return Spot(
        id=name,
        group=name,
        names=names,
        odds=bet.pays.text,
        terms=bet.terms(),
        open=False,
        needs=bet.id,
        added=("1",),
        **bet.limits.model_dump(),
    )


def check_bets(rules: BankRules[D], file: str) -> None:
    """Check ids, whole credits and forms. Raises :class:`DefinitionError` naming the key."""
    bets = rules.bets()
    for n, bet in enumerate(bets):
        if bet.id in {other.id for other in bets[:n]}:
            raise DefinitionError(file, f"bet.{n}.id", f"{bet.id!r} is there twice")
        check_whole_credits(f"bet.{n}.limits", bet.limits, bet.every_pay(), file)
    check_forms(rules.cloth, file)


def bank_family(
    model: type[D], rules: type[BankRules[D]], figures: frozenset[int] = frozenset()
) -> Family[D]:
    """Return the family of one kind of these games."""

    def build(data: D, file: str) -> BankRules[D]:
        made = rules(data)
        check_bets(made, file)
        return made

    return Family(model, build, figures=figures | PACKS)
