"""The common part of games in which the player sets a low and a high hand, both compared with the bank's."""

from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import ClassVar, Final, TypeAlias

from paytables.analysis import Analysis, BetAnalysis, Depth, Prize
from paytables.contract import (
    Bet,
    Cue,
    Decision,
    Draw,
    Json,
    Outcome,
    Play,
    Remark,
    Settlement,
    Spot,
    Wager,
    deal_one,
)
from paytables.definition import PositiveInt, Strict, Text
from paytables.errors import DefinitionError
from paytables.layout import (
    Layout,
    Limits,
    TableDefinition,
    TableRules,
    build_distribution,
    check_forms,
    find_stated_stakes,
)
from paytables.poker.proof import Exact, check_stored_proof
from paytables.wording import format_count

SPOT: Final = "stake"
SURRENDER: Final = "surrender"
#: The number of pieces in the low hand.
_LOW: Final = 2
#: Strength of the low hand, of the high hand, and the indices of the low hand's pieces as bits.
Way: TypeAlias = tuple[int, int, int]


class Commission(Strict):
    """A commission on a win: ``credits`` for each ``of`` credits staked, a begun part counting as full (ss.47, 111)."""

    credits: PositiveInt = 1
    of: PositiveInt = 20

    def on(self, stake: int) -> int:
        """Return the commission on a stake, in credits."""
        return -(-stake // self.of) * self.credits

    def terms(self) -> dict[str, str]:
        """Return what a win pays after the commission, as text by language."""
        return {
            "en": f"1:1, less {format_count(self.credits, 'credit')} for each {self.of} staked",
            "fr": f"1:1, moins {format_count(self.credits, 'crédit')} par {self.of} misés",
        }


class Chances(Strict):
    """The probabilities that a stake is won, returned and lost."""

    win: Exact
    push: Exact
    lose: Exact


class TwoHandsDefinition(TableDefinition):
    """The definition of a game with two hands: the stake and the commission on a win.

    ``surrender``: the player may give up the stake before the bank's hands are shown (ss.52, 115).
    """

    stake: Limits = Limits(least=20, most=1000, step=20)
    commission: Commission = Commission()
    surrender: bool = True
    spot_name: Text = Text(en="Stake", fr="Mise")
    proved: Chances | None = None


@dataclass
class SeatRound:
    """One seat's round: its bets, its pieces (cards or tiles) if it has a stake, and how it set them.

    ``None`` as the setting means that it has surrendered.
    """

    seat: int
    bets: dict[str, Bet] = field(default_factory=dict)
    dealt: list[int] = field(default_factory=list)
    way: Way | None = None

    @property
    def hand(self) -> str:
        """Return the name of its hand on the felt."""
        return "player" if self.seat == 0 else f"player-{self.seat + 1}"


@dataclass(frozen=True)
class TwoHands(TableRules):
    """A playable game in which each hand is set as a low and a high hand, with cards or tiles ("pieces").

    The house is always the bank; players are never offered it.
    """

    definition: TwoHandsDefinition

    HAND: ClassVar[int]
    PIECE: ClassVar[str]
    PIECES: ClassVar[Sequence[str]]
    """The names of all pieces, by their numbers."""
    BACK: ClassVar[str] = "??"

    # ------------------------------------------------------------ what a family says
    @abstractmethod
    def settings(self, dealt: Sequence[int]) -> tuple[Way, ...]:
        """Return every way to set pieces as two hands, those with the best low hand first."""

    @abstractmethod
    def house(self, dealt: Sequence[int]) -> Way:
        """Return the way in which the bank sets its pieces (the house way)."""

    @abstractmethod
    def words(self, way: Way) -> dict[str, str]:
        """Return the low and the high hand as text, by language."""

    @abstractmethod
    def analyse(self, depth: Depth) -> Analysis:
        """Return the exact figures."""

    def beats(self, low: int, theirs: int) -> bool:
        """Return whether a low hand of strength ``low`` beats the bank's, ``theirs``."""
        return low > theirs

    def advice(self, dealt: Sequence[int]) -> int:
        """Return the way in which a player is advised to set pieces, as the low hand's indices in bits."""
        return self.house(dealt)[2]

    def list_side_bet_spots(self) -> tuple[Spot, ...]:
        """Return the spots of the side bets."""
        return ()

    def find_highest_side_return(self, bets: Mapping[str, int]) -> int:  # noqa: ARG002
        """Return the most that a seat's side bets, credits by spot, may return."""
        return 0

    def opening(self, places: Sequence[SeatRound], draw: Draw) -> Iterator[Cue | Settlement]:  # noqa: ARG002
        """Settle the bets that are decided before anything is dealt."""
        return iter(())

    def closing(
        self,
        places: Sequence[SeatRound],  # noqa: ARG002
        left: list[int],  # noqa: ARG002
        draw: Draw,  # noqa: ARG002
    ) -> Iterator[Cue | Settlement]:
        """Settle the bets that the pieces not dealt to anyone, ``left``, decide."""
        return iter(())

    def shown(self, settled: Sequence[Cue | Settlement]) -> dict[str, object]:  # noqa: ARG002
        """Return what the felt shows besides hands, from the steps of ``opening`` and ``closing``."""
        return {}

    def list_unowned_hands(self, settled: Sequence[Cue | Settlement]) -> list[dict[str, object]]:  # noqa: ARG002
        """Return the hands on the felt that belong to nobody, from the steps of ``opening`` and ``closing``."""
        return []

    # ------------------------------------------------------------ the table
    @cached_property
    def cloth(self) -> Layout:
        """Return the spot of the stake, and those of the side bets."""
        limits = self.definition.stake
        stake = Spot(
            id=SPOT,
            group=SPOT,
            names=self.definition.spot_name.model_dump(),
            odds="1:1",
            terms=self.definition.commission.terms(),
            least=limits.least,
            most=limits.most,
            step=limits.step,
        )
        return Layout((stake, *self.list_side_bet_spots()), self.definition.table, self.definition.form)

    def check(self, file: str) -> None:
        """Check what the model alone cannot check. Raises :class:`DefinitionError`."""
        seats, room = self.definition.table.seats, len(self.PIECES) // self.HAND - 1
        if seats > room:
            why = f"{seats}: {len(self.PIECES)} {self.PIECE}s are enough for {room} players and the bank"
            raise DefinitionError(file, "table.seats", why)
        check_forms(self.cloth, file)

    # ------------------------------------------------------------ the round
    def play(self, wager: Wager, draw: Draw) -> Play:
        """Deal every seat its pieces, ask each how to set them, then turn the bank's and compare."""
        seats: dict[int, SeatRound] = {}
        for bet in self.wager(wager.credits, **wager.options).bets:
            seats.setdefault(bet.seat, SeatRound(bet.seat)).bets[bet.spot] = bet
        places, left = list(seats.values()), list(range(len(self.PIECES)))
        side_steps = list[Cue | Settlement]()
        for step in self.opening(places, draw):
            side_steps.append(step)
            yield step
        dealt = [place for place in places if SPOT in place.bets]
        for place in dealt:
            place.dealt = self._deal_hand(place.hand, left, draw)
            for piece in place.dealt:
                data = {"hand": place.hand, "card": self.PIECES[piece]}
                yield Cue("deal", data, place.seat if len(places) > 1 else None)
        for place in dealt:
            offered = {way[2]: way for way in self.settings(place.dealt)}
            decision = self._build_setting_decision(place, offered, self._build_felt(dealt, [], side_steps))
            answer = decision.check((yield decision))
            place.way = offered.get(answer)
        bank = self._deal_hand("bank", left, draw) if dealt else []
        for n, piece in enumerate(bank):
            yield Cue("flip", {"hand": "bank", "index": n, "card": self.PIECES[piece]})
        for place in dealt:
            yield self._settle_seat(place, self.house(bank))
        for step in self.closing(places, left, draw):
            side_steps.append(step)
            yield step
        return Outcome(display=self._build_felt(dealt, bank, side_steps))

    def _deal_hand(self, hand: str, left: list[int], draw: Draw) -> list[int]:
        """Deal pieces from ``left`` to a hand and return them."""
        numbers = range(1, self.HAND + 1)
        return [deal_one(draw, left, f"{hand} {self.PIECE} {n}") for n in numbers]

    def _build_setting_decision(
        self, place: SeatRound, offered: Mapping[int, Way], felt: Mapping[str, object]
    ) -> Decision:
        """Return the question to a seat in which of the ``offered`` ways it sets its pieces."""
        prompt = {
            **felt,
            "hand": place.hand,
            "ways": {str(mask): self.words(way) for mask, way in offered.items()},
            "house": self.house(place.dealt)[2],
            "advice": self.advice(place.dealt),
        }
        options = (*offered, SURRENDER) if self.definition.surrender else tuple(offered)
        return Decision("set", options, prompt, seat=place.seat)

    def _settle_seat(self, place: SeatRound, theirs: Way) -> Settlement:
        """Return the settlement of one seat's stake.

        It is surrendered, or it is won, pushed or lost by how many of the two hands beat the bank's.
        """
        stake = place.bets[SPOT].credits
        if place.way is None:
            return Settlement(SURRENDER, 0, spot=SPOT, staked=stake, seat=place.seat)
        low, high, _ = place.way
        better = self.beats(low, theirs[0]) + (high > theirs[1])
        back, name = (0, stake, 2 * stake)[better], ("lost", "push", "won")[better]
        if better == 2:
            back -= self.definition.commission.on(stake)
        return Settlement(name, back, spot=SPOT, staked=stake, seat=place.seat)

    def find_highest_round_return(self, wager: Wager) -> int:
        """Return the most credits that a round of a wager may return to a seat."""
        stakes = [(bets.get(SPOT, 0), bets) for bets in wager.by_seat.values()]
        fee: Commission = self.definition.commission
        return max(2 * stake - fee.on(stake) + self.find_highest_side_return(bets) for stake, bets in stakes)

    # ------------------------------------------------------------ what is shown and said
    def _build_felt(
        self, places: Sequence[SeatRound], bank: Sequence[int], side_steps: Sequence[Cue | Settlement]
    ) -> dict[str, object]:
        """Return the hands as they are set, low hand first, each with its description."""
        hands: list[dict[str, object]] = [{"id": "bank", "cards": [self.BACK] * self.HAND}] if places else []
        if bank:
            hands = [self._build_hand("bank", bank, self.house(bank))]
        hands += [self._build_hand(place.hand, place.dealt, place.way) for place in places]
        hands += self.list_unowned_hands(side_steps)
        return {"kind": "table", "felt": "cards", "hands": hands, **self.shown(side_steps)}

    def _build_hand(self, name: str, dealt: Sequence[int], way: Way | None) -> dict[str, object]:
        """Return one hand for the felt; ``way`` is None if it is not set yet."""
        if way is None:
            return {"id": name, "cards": [self.PIECES[piece] for piece in dealt]}
        order = sorted(range(self.HAND), key=lambda place: not way[2] >> place & 1)
        cards = [self.PIECES[dealt[place]] for place in order]
        return {"id": name, "cards": cards, "low": _LOW, "says": self.words(way)}

    def presentation(self) -> dict[str, object]:
        """Return what a screen needs to draw the table: the spots and the hands (:file:`paytables/FELTS.md`)."""
        return {
            "kind": "table",
            "felt": "cards",
            **self.cloth.to_json(),
            "hands": self.named(),
            "pays": [],
        }

    def named(self) -> list[dict[str, object]]:
        """Return the hands that may be on the felt."""
        names = {"bank": {"en": "Bank", "fr": "Banque"}, "player": {"en": "Player", "fr": "Joueur"}}
        return [
            {"id": hand, "names": words, "cards": self.HAND, "low": _LOW, "back": self.BACK}
            for hand, words in names.items()
        ]

    def explain(self) -> tuple[str, ...]:
        """Return one sentence for what a win pays, in English."""
        fee = self.definition.commission
        return (
            f"both hands better pay 1:1 less {fee.credits} for each {format_count(fee.of, 'credit')} staked",
        )

    def remarks(self) -> tuple[Remark, ...]:
        """Return an empty tuple: these games have no remarks."""
        return ()

    def prove(self, *_: object) -> Chances:
        """Compute the proof that the definition stores (laboratory packages)."""
        raise NotImplementedError

    def verify(self) -> None:
        """Compare the stored figures with newly computed ones. Raises :class:`AnalysisError` if they differ."""
        check_stored_proof(self.definition.game.id, self.definition.proved, self.prove)

    def stakes(self) -> dict[str, int]:
        """Return the stakes for which figures are stated, by name: the minimum, and another if it returns less."""
        return find_stated_stakes(SPOT, self.definition.stake, self.definition.commission.on)

    def figures(self, chances: Chances, stake: int, **more: Json) -> BetAnalysis:
        """Return the figures of a stake with these probabilities."""
        fee = self.definition.commission.on(stake)
        rates = {2 * stake - fee: chances.win, stake: chances.push, 0: chances.lose}
        distribution = build_distribution({back: Fraction(rate) for back, rate in rates.items()})
        paid = (("won", 2 * stake - fee, Fraction(chances.win)), ("push", stake, Fraction(chances.push)))
        data: dict[str, Json] = {
            "bet": SPOT,
            "variance": distribution.variance(),
            "distribution": distribution,
            "worst_rtp": Fraction(0) if self.definition.surrender else None,
        }
        return BetAnalysis(
            cost_credits=stake,
            options={"bets": {SPOT: stake}},
            rtp=distribution.moment(1) / stake,
            prizes=tuple(
                Prize(name=name, where=SPOT, credits=back, rate=rate, rtp=rate * back / stake)
                for name, back, rate in paid
            ),
            hit_probability=distribution.compute_chance_of_at_least(stake + 1),
            least_hit_credits=stake + 1,
            return_bet_probability=distribution.compute_chance_of_at_least(stake),
            max_win_credits=2 * stake - fee,
            max_win_probability=Fraction(chances.win),
            **data | more,
        )
