"""A game as the journal keeps it: wager, draws, choices, outcome, and the levels it feeds and hits.

``game.start`` holds a :class:`GameRecord`, each ``game.choice`` a :class:`GameChoice`. Amounts are
minor units where a name says cents, else credits.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Literal, TypeAlias

from egm.record_codec import inline, omitted
from meters.transaction import JSON
from paytables import Outcome, Wager

DrawRecord: TypeAlias = tuple[int, int, str]
"""A number drawn: the bound it is below, its value, its purpose."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GameName:
    """The very definition a game was played by."""

    id: str
    version: str
    digest: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One step of a game: the choice that led to it (None: the first), and what was drawn."""

    choice: JSON
    draws: tuple[DrawRecord, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """What a wager adds to a pool; to a linked one under a running number, and by an exact amount."""

    pool: str
    wager_cents: int
    sequence: int | None = omitted(None)
    amount: Fraction | None = omitted(None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """A level hit: locked at ``amount_cents``, or claimed from its controller at what it showed.

    ``share``: the part of it that was won, where that is not the whole.
    """

    pool: str
    level: str
    mystery: bool
    share: Fraction | None = omitted(None)
    amount_cents: int | None = omitted(None)
    claim: str | None = omitted(None)
    shown_cents: int | None = omitted(None)


@dataclass(frozen=True, slots=True, kw_only=True)
class LevelsPlayed:
    """The progressive levels a game plays for: ``pools`` by the game's names, what it fed, what it hit."""

    pools: Mapping[str, str] = field(default_factory=dict)
    fed: tuple[Share, ...] = ()
    mystery: tuple[DrawRecord, ...] = ()
    hits: tuple[Hit, ...] = ()
    broadcast_cents: Mapping[str, int] = omitted({})
    """What broadcast levels showed when the game began."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GameRecord:
    """A game from its wager to its outcome; ``outcome`` is None while it asks the player."""

    play_id: str
    game: GameName
    denomination_cents: int
    bet_credits: int
    wager: Wager
    language: str
    credit_before_cents: int
    steps: tuple[Step, ...]
    outcome: Outcome | None
    standing_credits: int = omitted(0)
    """What a decided game leaves standing on its table."""
    table: JSON = omitted(None)
    """How the table stood when the game began (:meth:`paytables.game.Rules.at`)."""
    raised_credits: int = omitted(0)
    """What answers have added to the wager; at the beginning of a game, nothing."""
    levels: LevelsPlayed = inline(LevelsPlayed())
    round_id: str = omitted("")
    """The round it was played in with other positions, whose numbers are the same."""
    staked: tuple[tuple[str, int], ...] | None = omitted(None)
    """Of a game carried over by a clear: what was wagered, by account."""
    returned: bool = omitted(False)
    """Of such a game: the stakes it gives back are given back already."""
    ended: str = omitted("")
    """Of such a game: the kind of entry that had ended it."""
    claim: str = omitted("")
    """Of such a game: the claim it was carried over with."""
    round_steps: tuple[Step, ...] = omitted(())
    """Of such a game: every step its round had taken, where others had come further."""

    @property
    def wager_cents(self) -> int:
        """The wager."""
        return self.bet_credits * self.denomination_cents

    @property
    def staked_cents(self) -> int:
        """All that has been staked in the game: the wager and what answers have added."""
        return (self.bet_credits + self.raised_credits) * self.denomination_cents

    @property
    def returned_cents(self) -> int:
        """All that a decided game gives back and pays, levels and prizes in kind apart; 0 before."""
        return 0 if self.outcome is None else self.outcome.win_credits * self.denomination_cents

    @property
    def push_cents(self) -> int:
        """The stakes among it: pushes, halves and bets taken down are no win."""
        return 0 if self.outcome is None else self.outcome.push_credits * self.denomination_cents

    @property
    def win_cents(self) -> int:
        """What a decided game has won, levels and prizes in kind apart; 0 before."""
        return self.returned_cents - self.push_cents

    @property
    def standing_cents(self) -> int:
        """What it leaves standing on its table."""
        return self.standing_credits * self.denomination_cents

    @property
    def dims(self) -> dict[str, str | int]:
        """What the meters of the game are told apart by."""
        return {
            "game": self.game.id,
            "paytable": f"{self.game.id}@{self.game.version}",
            "denomination_cents": self.denomination_cents,
            "wager_level": self.bet_credits,
        }

    def after(self, step: "GameChoice") -> "GameRecord":
        """The game a step further."""
        taken = Step(choice=step.choice, draws=step.draws)
        return replace(
            self,
            steps=(*self.steps, taken),
            outcome=step.outcome,
            standing_credits=step.standing_credits,
            raised_credits=self.raised_credits + step.staked_credits,
        ).hitting(step.hits)

    def hitting(self, hits: tuple[Hit, ...]) -> "GameRecord":
        """The game with more hits."""
        return (
            self if not hits else replace(self, levels=replace(self.levels, hits=(*self.levels.hits, *hits)))
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class GameChoice:
    """A further step of a game: the player's choice, what it led to, and the levels that hit."""

    play_id: str
    choice: JSON
    draws: tuple[DrawRecord, ...]
    outcome: Outcome | None
    staked_credits: int = omitted(0)
    """What the choice adds to the stake."""
    standing_credits: int = omitted(0)
    """What the outcome leaves standing on the table."""
    hits: tuple[Hit, ...] = omitted(())
    round_id: str = omitted("")
    """The round in which all seats take this step, whoever was asked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TableInCommon:
    """What all who play at a table have in common of it (a shoe), and the round that left it so.

    ``keys``: which of the table's keys they have in common, whether it now has them or not.
    """

    round_id: str
    keys: tuple[str, ...]
    table: JSON
    bound: tuple[str, ...] = omitted(())
    """Of these, what standing bets hang on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GamePointer:
    """Which game is open: its entries tell the rest."""

    play_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TableRecord:
    """How the last game left its table, and of which credit the bets on it were staked, in minor units."""

    game: GameName
    denomination_cents: int
    table: JSON
    staked: tuple[tuple[str, int], ...] = omitted(())

    @property
    def standing_cents(self) -> int:
        """What stands on it."""
        return sum(cents for _, cents in self.staked)


@dataclass(frozen=True, slots=True, kw_only=True)
class TableReturned:
    """Bets given back from a table between two games (entry ``table.returned``), and why.

    ``taken_down``: the player leaves, and the rules let him take them down. ``stopped``: the machine cannot
    play on. ``changed``: the game is another since, or what is kept of its table cannot be read by it.
    """

    game: GameName
    denomination_cents: int
    why: Literal["taken_down", "stopped", "changed"]
    amount_cents: int


@dataclass(frozen=True, slots=True, kw_only=True)
class LastGame:
    """Which game ended last, and all it paid, levels included."""

    play_id: str
    win_cents: int


@dataclass(frozen=True, slots=True, kw_only=True)
class MysteryWon:
    """A prize of a mystery level of a controller, with its opened secret (entry ``progressive.won``)."""

    play_id: str | None = omitted(None)
    """Its game; None where no wager of this machine won it."""
    pool: str
    claim: str
    sequence: int
    amount_cents: int
    order: int
    trigger: Mapping[str, JSON]
    commitment: str | None
    proved: bool
    hits: tuple[Hit, ...] = omitted(())
    """What it adds to its game, if that is still open."""
    late: str = omitted("")
    """What became of it where its game is over: paid by ``hand``, ``void``, or ``declined``."""
