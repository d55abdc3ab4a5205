"""The rules of pai gow: four tiles are set as two hands, and both are held against the bank's."""

from dataclasses import dataclass
from fractions import Fraction
from functools import cache, cached_property
from itertools import combinations
from typing import Final

from paytables.analysis import Analysis, BetAnalysis, Depth
from paytables.contract import Cue, Decision, Draw, Outcome, Play, Remark, Settlement, Spot, Wager
from paytables.layout import Layout, law_of
from paytables.poker.policy import unpacked
from paytables.poker.proof import held_against
from paytables.poker.tiles.schema import PaiGowDefinition, Proof
from paytables.poker.tiles.tiles import NAMED, TILES, level, settings, worthless
from paytables.tableless import Tableless
from paytables.wording import counted

HAND: Final = 4
SPOT: Final = "stake"
STRATEGY: Final = "of the ways to set four tiles, always the one with the highest exact mean"
SIMPLEST: Final = "set the tiles as the bank sets its own"


def bank_way(definition: PaiGowDefinition, ways: tuple[tuple[int, int, int], ...]) -> tuple[int, int, int]:
    """Return how the bank sets tiles that may be set in these ways."""
    counts = definition.bank
    return max(ways, key=lambda way: counts.low[level(way[0])] + counts.high[level(way[1])])


@dataclass(frozen=True)
class PaiGowRules(Tableless):
    """Pai gow made playable. The house is always the bank: a machine has nobody to offer it to (s.116)."""

    definition: PaiGowDefinition

    @cached_property
    def table(self) -> Layout:
        """The one place for a bet."""
        return Layout(self.layout(), self.definition.table, self.definition.form)

    def layout(self) -> tuple[Spot, ...]:
        """Return the one spot there is."""
        limits = self.definition.stake
        names = self.definition.spot_name.model_dump()
        return (
            Spot(
                id=SPOT,
                group=SPOT,
                names=names,
                odds="1:1",
                least=limits.least,
                most=limits.most,
                step=limits.step,
            ),
        )

    @property
    def bet_options(self) -> tuple[int, ...]:
        """What the forms cost, in credits, ascending."""
        return self.table.bet_options

    def wager(self, credits_: int, **asked: object) -> Wager:
        """Return the wager of ``credits_`` (:meth:`paytables.layout.Layout.wager`). Raises WagerError."""
        return self.table.wager(credits_, **asked)

    def play(self, wager: Wager, draw: Draw) -> Play:
        """Deal every seat four tiles, ask each how to set them, then turn the bank's and compare."""
        bets = self.wager(wager.credits, **wager.options).bets
        left = list(range(len(TILES)))
        hands: dict[int, list[int]] = {bet.seat: [] for bet in bets}
        for seat, tiles in hands.items():
            tiles += [left.pop(draw.below(len(left), f"{_hand(seat)} tile {n + 1}")) for n in range(HAND)]
        for seat, tiles in hands.items():
            for tile in tiles:
                data = {"hand": _hand(seat), "card": TILES[tile]}
                yield Cue("deal", data, seat if len(hands) > 1 else None)
        ways: dict[int, tuple[int, int, int]] = {}
        for seat, (a, b, c, d) in hands.items():
            offered = {mask: (low, high, mask) for low, high, mask in settings((a, b, c, d))}
            usual = bank_way(self.definition, tuple(offered.values()))[2]
            prompt = {**self._felt(hands, ways, [], None), **self.advice((a, b, c, d))}
            asked = Decision("set", tuple(offered), prompt, seat=seat, default=usual)
            ways[seat] = offered[asked.check((yield asked))]
        bank = [left.pop(draw.below(len(left), f"bank tile {n + 1}")) for n in range(HAND)]
        for n, tile in enumerate(bank):
            yield Cue("flip", {"hand": "bank", "index": n, "card": TILES[tile]})
        a, b, c, d = bank
        theirs = bank_way(self.definition, settings((a, b, c, d)))
        for bet in bets:
            low, high, _ = ways[bet.seat]
            beats = low > theirs[0] and not (self.definition.worthless_low_loses and worthless(low))
            better = beats + (high > theirs[1])
            back, name = (0, bet.credits, 2 * bet.credits)[better], ("lost", "push", "won")[better]
            if better == 2:
                back -= self.definition.commission.on(bet.credits)
            yield Settlement(name, back, spot=bet.spot, staked=bet.credits, seat=bet.seat)
        return Outcome(display=self._felt(hands, ways, bank, theirs))

    def advice(self, tiles: tuple[int, int, int, int]) -> dict[str, int]:
        """Return the low hand of the best play, where the definition carries it."""
        proof = self.definition.proved
        if proof is None:
            return {}
        way = unpacked(proof.policy)[_place(tuple(sorted(tiles)))]
        return {"advice": settings(tiles)[way][2]}

    def _felt(
        self,
        hands: dict[int, list[int]],
        ways: dict[int, tuple[int, int, int]],
        bank: list[int],
        theirs: tuple[int, int, int] | None,
    ) -> dict[str, object]:
        """The hands as set: the low hand's tiles first, and what both are."""
        shown = [_shown("bank", bank, theirs) if bank else {"id": "bank", "cards": ["??"] * HAND}]
        shown += [_shown(_hand(seat), tiles, ways.get(seat)) for seat, tiles in hands.items()]
        return {"kind": "table", "felt": "cards", "hands": shown}

    def presentation(self) -> dict[str, object]:
        """Return the spot and the hands (:file:`paytables/FELTS.md`); cards are tiles, by their pips."""
        return {
            "kind": "table",
            "felt": "cards",
            **self.table.to_json(),
            "hands": [
                {"id": "bank", "names": {"en": "Bank", "fr": "Banque"}, "cards": HAND},
                {"id": "player", "names": {"en": "Player", "fr": "Joueur"}, "cards": HAND},
            ],
            "pays": [],
        }

    def explain(self) -> tuple[str, ...]:
        """Return what a win pays."""
        fee = self.definition.commission
        return (f"both hands better pay 1:1 less {fee.credits} for each {counted(fee.of, 'credit')} staked",)

    def remarks(self) -> tuple[Remark, ...]:
        """Return none."""
        return ()

    def prove(self, *_: object) -> Proof:
        """Work out what the definition carries as proved (laboratory packages)."""
        from paytables.poker.tiles.solve import solve  # noqa: PLC0415 (laboratory packages)

        return solve(self.definition)

    def verify(self) -> None:
        """Hold the figures carried against what comes out. Raises :class:`AnalysisError`."""
        held_against(self.definition.game.id, self.definition.proved, self.prove)

    def analyse(self, depth: Depth) -> Analysis:  # noqa: ARG002 (the same at every depth)
        """Return the exact figures."""
        proof, header = self.definition.proved or self.prove(), self.definition.game
        bets = (self._bet(proof, self.definition.stake.least),)
        return Analysis(game_id=header.id, version=header.version, family=header.family, bets=bets)

    def _bet(self, proof: Proof, stake: int) -> BetAnalysis:
        fee = self.definition.commission.on(stake)
        rates = {2 * stake - fee: proof.win, stake: proof.push, 0: proof.lose}
        law = law_of({win: Fraction(rate) for win, rate in rates.items()})
        return BetAnalysis(
            bet=SPOT,
            cost_credits=stake,
            options={"bets": {SPOT: stake}},
            rtp=law.moment(1) / stake,
            variance=law.variance(),
            hit_probability=law.at_least(1),
            return_bet_probability=law.at_least(stake),
            law=law,
            max_win_credits=2 * stake - fee,
            max_win_probability=Fraction(proof.win),
            strategy=STRATEGY,
            worst_rtp=1 + Fraction(proof.worst),
            simplest_strategy=SIMPLEST,
            simplest_rtp=1 + Fraction(proof.simplest),
        )

    def analyse_wager(self, wager: Wager) -> BetAnalysis:
        """Return the exact figures of a stake."""
        checked = self.wager(wager.credits, **wager.options)
        return self._bet(self.definition.proved or self.prove(), checked.credits)


@cache
def _places() -> dict[tuple[int, ...], int]:
    return {hand: n for n, hand in enumerate(combinations(range(len(TILES)), HAND))}


def _place(hand: tuple[int, ...]) -> int:
    """The place of four ascending tiles among all."""
    return _places()[hand]


def _hand(seat: int) -> str:
    return "player" if seat == 0 else f"player-{seat + 1}"


def _shown(name: str, tiles: list[int], way: tuple[int, int, int] | None) -> dict[str, object]:
    if way is None:
        return {"id": name, "cards": [TILES[tile] for tile in tiles]}
    low, high, mask = way
    ordered = [tiles[n] for n in sorted(range(HAND), key=lambda n: not mask >> n & 1)]
    english, french = (" / ".join(_says(strength, n) for strength in (low, high)) for n in (0, 1))
    return {"id": name, "cards": [TILES[tile] for tile in ordered], "says": {"en": english, "fr": french}}


def _says(strength: int, language: int) -> str:
    """A hand in words: its points, or its place among the twenty combinations."""
    points = level(strength)
    if points < 10:
        return f"{points} {('points', 'points')[language]}"
    place = NAMED - (points - 10)
    kind = next(names for last, names in _KINDS if place <= last)
    return f"{kind[language]} ({place})"


_KINDS: Final = (
    (1, ("Supreme pair", "Paire suprême")),
    (12, ("Pair", "Paire")),
    (16, ("Mixed pair", "Paire mélangée")),
    (18, ("Wong", "Wong")),
    (20, ("Gong", "Gong")),
)
