"""A game as stored in the journal: wager, draws, choices, outcome, and its progressive levels.

``game.start`` contains a :class:`GameRecord`, each ``game.choice`` a :class:`GameChoice`. Amounts are minor
units if the name ends in ``cents``, else credits.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Literal, TypeAlias

from egm.record_codec import inline_record, omit_if_default, stored_as
from egm.record_fields import Cents, Count, Digest, Positive
from meters.transaction import JSON
from paytables import ALL_STAKED_CUE, Outcome, Wager

DrawRecord: TypeAlias = tuple[int, int, str]
"""A random number drawn: its exclusive upper bound, its value and its purpose."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GameName:
    """The identity of a game's definition: id, version and digest."""

    id: str
    """The id of the game."""
    version: str
    """The version of the game's definition."""
    digest: Digest


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedStep:
    """One recorded step of a game: the player's choice that started it, and the numbers drawn in it."""

    choice: JSON
    """The player's choice that started the step, or None for the first step."""
    draws: tuple[DrawRecord, ...]


def are_stakes_between_players(steps: Iterable[RecordedStep]) -> bool:
    """Return whether the players of a round with these steps win each other's stakes, as in poker.

    In such a round, the first decision recorded that all players had staked.
    """
    return any(step.choice == ALL_STAKED_CUE for step in steps)


@dataclass(frozen=True, slots=True, kw_only=True)
class LevelContribution:
    """The part of a wager that was added to the pool of a progressive level."""

    pool: str
    wager_cents: Cents
    """The wager that the contribution is a share of."""
    contribution_number: Positive | None = omit_if_default(None, key="sequence")
    """The number of the contribution to a linked pool, or None."""
    amount: Fraction | None = omit_if_default(None)
    """The exact contribution to a linked pool in minor units, or None."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LevelHitRecord:
    """A hit of a progressive level by a game.

    Its amount is either locked at once (``amount_cents``), or claimed from the level's controller, which last
    displayed ``shown_cents``.
    """

    pool: str
    level: str
    is_mystery: bool = field(metadata=stored_as("mystery"))
    won_share: Fraction | None = omit_if_default(None, key="share")
    """The part of the level that was won, or None for all of it."""
    amount_cents: Count | None = omit_if_default(None)
    """The locked amount, or None if it is claimed from a controller."""
    claim_id: str | None = omit_if_default(None, key="claim")
    """The id of the claim to the level's controller, or None for a level of this machine alone."""
    shown_cents: Count | None = omit_if_default(None)


@dataclass(frozen=True, slots=True, kw_only=True)
class LevelsPlayed:
    """The progressive part of a game: the pools of its levels, its contributions, mystery draws and hits."""

    pool_by_level: Mapping[str, str] = field(default_factory=dict, metadata=stored_as("pools"))
    """The pool of each level that the game plays for, by the level's name."""
    contributions: tuple[LevelContribution, ...] = field(default=(), metadata=stored_as("fed"))
    """The contributions of the wager to the pools."""
    mystery_draws: tuple[DrawRecord, ...] = field(default=(), metadata=stored_as("mystery"))
    """The numbers drawn for mystery levels."""
    hits: tuple[LevelHitRecord, ...] = ()
    broadcast_cents: Mapping[str, int] = omit_if_default({})
    """Amounts displayed by broadcast levels when the game began."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GameRecord:
    """The complete record of a game, from its wager to its outcome."""

    play_id: str
    game: GameName
    """The definition the game was played with."""
    denomination_cents: Cents
    bet_credits: Count
    """The wager in credits."""
    wager: Wager
    """The wager in detail."""
    language: str
    """The language of the player's screen."""
    credit_before_cents: Count
    """The credit meter before the wager was deducted."""
    steps: tuple[RecordedStep, ...]
    """The steps so far: the first, and one for each answer of the player."""
    outcome: Outcome | None
    """The result, or None while a decision is pending."""
    standing_credits: Count = omit_if_default(0)
    """The credits left standing on the table by a decided game."""
    table_state: JSON = omit_if_default(None, key="table")
    """The state of the table when the game began (:meth:`paytables.game.Rules.with_table_state`)."""
    raised_credits: int = omit_if_default(0)
    """The credits added to the wager by answers; 0 at the beginning of a game."""
    levels: LevelsPlayed = inline_record(LevelsPlayed())
    round_id: str = omit_if_default("")
    """The id of a round shared with other positions, which use the same random numbers; else empty."""
    stakes_by_account: tuple[tuple[str, int], ...] | None = omit_if_default(None, key="staked")
    """For a game carried over by a memory clear: the amounts wagered, by account."""
    has_returned_stakes: bool = omit_if_default(False, key="returned")
    """For a game carried over by a memory clear: whether its stakes have been returned already."""
    end_entry_kind: str = omit_if_default("", key="ended")
    """For a game carried over by a memory clear: the kind of the journal entry that ended it, or empty."""
    claim_id: str = omit_if_default("", key="claim")
    """For a game carried over by a memory clear: the id of the claim that carries it over, or empty."""
    round_steps: tuple[RecordedStep, ...] = omit_if_default(())
    """For a game carried over by a memory clear: all steps of its round, if another seat was further ahead."""

    @property
    def wager_cents(self) -> int:
        """Return the game's wager in minor units."""
        return self.bet_credits * self.denomination_cents

    @property
    def staked_cents(self) -> int:
        """Return the game's total stake in minor units: the wager and the amounts added by answers."""
        return (self.bet_credits + self.raised_credits) * self.denomination_cents

    @property
    def returned_cents(self) -> int:
        """Return what the decided game returns to the player: wins and returned stakes; 0 if undecided.

        Progressive levels and prizes in kind are not included.
        """
        return 0 if self.outcome is None else self.outcome.win_credits * self.denomination_cents

    @property
    def push_cents(self) -> int:
        """Return the stakes that the game returns, in minor units: pushes, half-lost bets and bets taken down.

        They do not count as wins.
        """
        return 0 if self.outcome is None else self.outcome.push_credits * self.denomination_cents

    @property
    def win_cents(self) -> int:
        """Return the win of a decided game in minor units, without progressive levels and prizes in kind.

        0 if undecided.
        """
        return self.returned_cents - self.push_cents

    @property
    def standing_cents(self) -> int:
        """Return the bets, in minor units, that the game leaves undecided on the table for the next round."""
        return self.standing_credits * self.denomination_cents

    @property
    def dims(self) -> dict[str, str | int]:
        """Return the dimensions, such as game and denomination, that separate the meters of this game."""
        return {
            "game": self.game.id,
            "paytable": f"{self.game.id}@{self.game.version}",
            "denomination_cents": self.denomination_cents,
            "wager_level": self.bet_credits,
        }

    def with_step(self, step: "GameChoice") -> "GameRecord":
        """Return the game's record with one more step."""
        new_step = RecordedStep(choice=step.choice, draws=step.draws)
        return replace(
            self,
            steps=(*self.steps, new_step),
            outcome=step.outcome,
            standing_credits=step.standing_credits,
            raised_credits=self.raised_credits + step.staked_credits,
        ).with_hits(step.hits)

    def with_hits(self, hits: tuple[LevelHitRecord, ...]) -> "GameRecord":
        """Return the game's record with additional progressive hits."""
        return (
            self if not hits else replace(self, levels=replace(self.levels, hits=(*self.levels.hits, *hits)))
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class GameChoice:
    """A further step of a game: the player's choice, the numbers drawn, the result, and the levels hit."""

    play_id: str
    choice: JSON
    """The player's choice."""
    draws: tuple[DrawRecord, ...]
    outcome: Outcome | None
    """The result, or None while another decision is pending."""
    staked_credits: Count = omit_if_default(0)
    """The credits that the choice adds to the stake."""
    standing_credits: Count = omit_if_default(0)
    """The credits that the outcome leaves standing on the table."""
    hits: tuple[LevelHitRecord, ...] = omit_if_default(())
    round_id: str = omit_if_default("")
    """The id of the round whose other seats take this step as well, whichever seat decided; else empty."""
    is_table_answer: bool = omit_if_default(False, key="by_table")
    """Whether the table gave this position's answer, because its time was up or the position could not play."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedTableState:
    """The part of a table's state that all its players share after a round, such as the shoe.

    ``round_id`` is the round. ``shared_keys`` are all keys of the state that are shared, including those without a
    value at the moment.
    """

    round_id: str
    shared_keys: tuple[str, ...] = field(metadata=stored_as("keys"))
    shared_state: JSON = field(metadata=stored_as("table"))
    standing_bet_keys: tuple[str, ...] = omit_if_default((), key="bound")
    """The shared keys of the table's state on which standing bets depend."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GamePointer:
    """The stored reference to the open game: its play id, which its journal entries contain."""

    play_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TableRecord:
    """The state of a table after its last game; ``standing_stakes`` are the bets left on it in cents, by account."""

    game: GameName
    denomination_cents: int
    table_state: JSON = field(metadata=stored_as("table"))
    standing_stakes: tuple[tuple[str, int], ...] = omit_if_default((), key="staked")

    @property
    def standing_cents(self) -> int:
        """Return the total of the table's standing bets, in minor units."""
        return sum(cents for _, cents in self.standing_stakes)


@dataclass(frozen=True, slots=True, kw_only=True)
class TableBetsReturned:
    """Bets returned from a table between two games (entry ``table.returned``)."""

    game: GameName
    """The definition of the table's game."""
    denomination_cents: int
    return_reason: Literal["taken_down", "stopped", "changed"] = field(metadata=stored_as("why"))
    """Why the bets were returned.

    ``taken_down``: the player leaves and the rules allow it. ``stopped``: the machine cannot continue the
    game. ``changed``: the game's definition has changed, or it cannot read the stored state of its table.
    """
    amount_cents: Count


@dataclass(frozen=True, slots=True, kw_only=True)
class LastGame:
    """The last finished game's result: everything it paid, progressive levels included."""

    play_id: str
    win_cents: int


@dataclass(frozen=True, slots=True, kw_only=True)
class MysteryPrizeWon:
    """A prize of a controller's mystery level, with its opened secret (entry ``progressive.won``)."""

    play_id: str | None = omit_if_default(None)
    """The play id of the game that won it, or None if no wager of this machine did."""
    pool: str
    claim_id: str = field(metadata=stored_as("claim"))
    contribution_number: Count = field(metadata=stored_as("sequence"))
    """The sequence number of the contribution that won the prize."""
    amount_cents: Cents
    hit_number: Count = field(metadata=stored_as("order"))
    """The number of this hit among all hits of its level."""
    opened_secret: Mapping[str, JSON] = field(metadata=stored_as("trigger"))
    """The opened secret as the JSON of :class:`egm.progressive.trigger.MysteryTrigger`; the drawn number is a text."""
    commitment: Digest | None
    """The controller's commitment to the secret, as first received; None if none was received."""
    is_proved: bool = field(metadata=stored_as("proved"))
    """Whether the opened secret matches the commitment and shows that this contribution won."""
    hits: tuple[LevelHitRecord, ...] = omit_if_default(())
    """The hits that the prize adds to its game, if that is still open."""
    late_decision: Literal["", "hand", "void", "declined"] = omit_if_default("", key="late")
    """What was done with a prize whose game was over already.

    It was paid by ``hand``, or the game was ``void``, or staff have ``declined`` it; empty if the game was
    open.
    """
