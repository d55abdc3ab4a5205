"""Two small table game families for tests: one with raises and pushes, one with standing bets.

``duel``: the player gets one of six cards and folds, stays or raises by the ante; then the house gets a card. The
higher card wins even money, equal cards push, and a fold returns half of the ante. The player's card decides a bet
on ``even``. ``point``: one throw of 0 to 5. On the line, 0 loses and 5 wins; any other throw becomes the point, and
the bet stays until the point (win) or 0 is thrown. A place bet wins at 3 and loses at 0; otherwise it stands, and it
may be taken down.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, Final

from paytables.analysis import Analysis, BetAnalysis
from paytables.contract import Bet, Cue, Decision, Outcome, Settlement, Spot, Wager
from paytables.definition import Definition
from paytables.errors import WagerError
from paytables.game import FAMILY_MODULE_BY_NAME
from paytables.tableless import TablelessRules

FACES: Final = 6
#: Approximate return of each bet under the best play. The machine requires a figure but does not verify it.
RETURN: Final = Fraction(95, 100)
LINE, PLACE, ANTE, EVEN = "line", "place", "ante", "even"


def _spot(name: str, *, open_: bool = True) -> Spot:
    return Spot(
        id=name,
        group=name,
        names={"en": name, "fr": name},
        odds="1:1",
        bet_min=2,
        bet_max=100,
        accepts_bets=open_,
    )


@dataclass(frozen=True)
class _Rules(TablelessRules):
    definition: Definition
    spots: tuple[str, ...] = ()

    @property
    def bet_options(self) -> tuple[int, ...]:
        return (2, 10)

    def list_spots(self) -> tuple[Spot, ...]:
        return tuple(map(_spot, self.spots))

    def build_wager(self, credits_: int, **options: Any) -> Wager:
        bets = dict(options.get("bets", {self.spots[0]: credits_} if credits_ else {}))
        stood = {bet.spot: bet.credits for bet in self.list_standing_bets()}
        open_ = {spot.id for spot in self.list_spots() if spot.accepts_bets}
        for name, cost in bets.items():
            if name not in self.spots or type(cost) is not int or stood.get(name, 0) + cost < 0:
                raise WagerError(f"bets.{name}: no bet of {cost!r}")
            if cost > 0 and name not in open_:
                raise WagerError(f"bets.{name}: takes none as the table stands")
            if cost < 0 and name != PLACE:
                raise WagerError(f"bets.{name}: may not be taken down")
        cost = sum(bet for bet in bets.values() if bet > 0)
        if cost != credits_ or not (bets or stood):
            raise WagerError(f"the bets cost {cost}, not {credits_}")
        return Wager(credits_, {"bets": bets})

    def build_presentation(self) -> dict[str, Any]:
        return {"kind": "table", "felt": "cards", "spots": [spot.to_json() for spot in self.list_spots()]}

    def explain_pays(self) -> tuple[str, ...]:
        return ()

    def list_remarks(self) -> tuple[()]:
        return ()

    def analyse(self, depth: object) -> Analysis:
        header = self.definition.game
        bets = tuple(BetAnalysis(bet=name, cost_credits=2, rtp=RETURN, cycle=36) for name in self.spots)
        return Analysis(game_id=header.id, version=header.version, family=header.family, bets=bets)

    def analyse_wager(self, wager: Wager) -> BetAnalysis:
        most = 4 * wager.credits
        return BetAnalysis(bet="bets", cost_credits=wager.credits, rtp=RETURN, max_win_credits=most)


def _decided(name: str, bet: Bet, credits_: int) -> Settlement:
    return Settlement(name, credits_, spot=bet.spot, staked_credits=bet.credits, seat=bet.seat)


@dataclass(frozen=True)
class Duel(_Rules):
    """The rules of ``duel``: raises, pushes, half returns, and a bet that is decided before the end."""

    spots: tuple[str, ...] = (ANTE, EVEN)

    def play(self, wager: Wager, draw: Any) -> Any:
        bets = {bet.spot: bet for bet in wager.bets}
        player_face = draw.below(FACES, "card 1")
        yield Cue("deal", {"hand": "player", "card": str(player_face)})
        if EVEN in bets:
            won = player_face % 2 == 0
            yield _decided("won" if won else "lost", bets[EVEN], 2 * bets[EVEN].credits if won else 0)
        display = {"kind": "table", "felt": "cards", "hands": [{"id": "player", "cards": [str(player_face)]}]}
        if ANTE not in bets:
            return Outcome(display=display)
        ante = bets[ANTE]
        decision = Decision("raise", ("fold", "stay", "raise"), display, {"raise": ante})
        answer = decision.get_chosen_option((yield decision))
        if answer == "fold":
            yield _decided("half", ante, ante.credits // 2)
            return Outcome(display=display)
        his = draw.below(FACES, "card 2")
        yield Cue("deal", {"hand": "bank", "card": str(his)})
        staked = ante.credits * (2 if answer == "raise" else 1)
        name, back = ("push", 1) if player_face == his else ("won", 2) if player_face > his else ("lost", 0)
        yield _decided(name, replace(ante, credits=staked), staked * back)
        return Outcome(display={**display, "bank": str(his)})


@dataclass(frozen=True)
class Point(_Rules):
    """The rules of ``point``: bets that stand from round to round."""

    spots: tuple[str, ...] = (LINE, PLACE)
    point: int | None = None
    bets: Mapping[str, int] = field(default_factory=dict)

    def with_table_state(self, table_state: Any) -> "Point":
        if table_state is None:
            return replace(self, point=None, bets={})
        if not set(table_state) == {"point", "bets"} or not set(table_state["bets"]) <= set(self.spots):
            raise ValueError(f"no round leaves {table_state!r}")
        return replace(self, point=table_state["point"], bets=table_state["bets"])

    def list_standing_bets(self) -> tuple[Bet, ...]:
        return tuple(Bet(name, credits_) for name, credits_ in self.bets.items())

    def list_spots(self) -> tuple[Spot, ...]:
        return (_spot(LINE, open_=self.point is None), _spot(PLACE))

    def take_down_standing_bets(self) -> tuple[tuple[Settlement, ...], Any]:
        place_credits = self.bets.get(PLACE, 0)
        settled = (_decided("taken down", Bet(PLACE, place_credits), place_credits),) if place_credits else ()
        return settled, self._left(
            {name: bet for name, bet in self.bets.items() if name != PLACE}, self.point
        )

    @staticmethod
    def _left(bets: Mapping[str, int], point: int | None) -> Any:
        return {"point": point, "bets": dict(bets)} if bets or point is not None else None

    def play(self, wager: Wager, draw: Any) -> Any:
        bets = dict(self.bets)
        for bet in wager.bets:
            bets[bet.spot] = bets.get(bet.spot, 0) + bet.credits
            if bet.credits < 0:
                yield _decided("taken down", Bet(bet.spot, -bet.credits), -bet.credits)
        bets = {name: bet for name, bet in bets.items() if bet}
        throw = draw.below(FACES, "throw")
        yield Cue("dice", {"dice": [throw + 1]})
        point = self.point
        if PLACE in bets and throw in {0, 3}:
            placed = bets.pop(PLACE)
            yield _decided("won" if throw else "lost", Bet(PLACE, placed), 2 * placed if throw else 0)
        over = throw in (0, 5 if point is None else point)
        if over and LINE in bets:
            line = bets.pop(LINE)
            yield _decided("won" if throw else "lost", Bet(LINE, line), 2 * line if throw else 0)
        point = None if over else throw if point is None else point
        return Outcome(
            display={"kind": "table", "felt": "dice", "dice": [throw + 1]},
            table_state=self._left(bets, point),
        )


class _Family:
    def __init__(self, rules: type[_Rules]) -> None:
        self._rules = rules

    @property
    def definition_class(self) -> type[Definition]:
        return Definition

    def prepare_data(self, data: Mapping[str, Any], file: str) -> Mapping[str, Any]:
        return data

    def build_rules(self, data: Definition, file: str) -> _Rules:
        return self._rules(data)


class _Module:
    """A stand-in for the module of a game family."""

    def __init__(self, rules: type[_Rules]) -> None:
        self.FAMILY = _Family(rules)


#: Rules by the family's name in a definition.
KINDS: Final = {"duel": Duel, "point": Point}


def register_families(monkeypatch: Any) -> None:
    """Register both families for one test, so that definitions can name them."""
    for name, rules in KINDS.items():
        monkeypatch.setitem(FAMILY_MODULE_BY_NAME, name, f"rigs_{name}")
        monkeypatch.setitem(__import__("sys").modules, f"rigs_{name}", _Module(rules))


def write_definition(folder: Any, name: str, *, version: str = "1.0.0") -> str:
    """Write the definition of one of the games; return its path."""
    folder.mkdir(exist_ok=True)
    path = folder / f"{name}.toml"
    path.write_text(
        f"""[game]
id = "{name}"
family = "{name}"
version = "{version}"
date = 2026-11-22
title = {{ en = "{name}", fr = "{name}" }}
help = {{ en = "A game of a test.", fr = "Un jeu d’essai." }}
denominations_cents = [5, 25]
""",
        encoding="utf-8",
    )
    return str(path)
