"""A game as stored in the journal: wager, draws, choices, outcome, and its progressive levels.

An entry ``game.start`` contains a :class:`GameRecord`, each ``game.choice`` a :class:`GameChoice`. Amounts are
minor units if the name ends in ``cents``, otherwise credits.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Literal, TypeAlias

from egm.record_codec import inline_record, omit_if_default, stored_as
from egm.record_fields import Cents, CentsOrZero, Count, PositiveNumber, Sha256Digest
from meters.transaction import JSON
from paytables import ALL_STAKED_OPTION, Outcome, Wager

#: One random number as drawn: its exclusive upper bound, its value, and the purpose of the draw.
DrawRecord: TypeAlias = tuple[int, int, str]

#: A stake: the account from which it was taken, and its amount in minor units.
AccountAndCents: TypeAlias = tuple[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class GameReference:
    """The identity of a game's definition: id, version and digest."""

    id: str
    """The game's id, which stays the same in all versions of its definition."""
    version: str
    """The version of the game's definition."""
    digest: Sha256Digest


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedStep:
    """One recorded step of a game: the player's choice that started it, and the random numbers drawn in it."""

    choice: JSON
    """The choice that started the step; None for the first step, which starts with the wager."""
    draws: tuple[DrawRecord, ...]


def is_round_between_players(steps: Iterable[RecordedStep]) -> bool:
    """Return whether the players of a round with these steps win each other's stakes, as in poker.

    The steps of such a round contain the recorded cue that all players have staked.
    """
    return any(step.choice == ALL_STAKED_OPTION for step in steps)


@dataclass(frozen=True, slots=True, kw_only=True)
class LevelContribution:
    """The contribution of a wager to one progressive level."""

    pool_id: str = field(metadata=stored_as("pool"))
    wager_cents: Cents
    """The wager from which the contribution was computed, in minor units."""
    contribution_number: PositiveNumber | None = omit_if_default(None, key="sequence")
    """The number of this machine's contribution to a controller's level, from 1; None for the machine's own level."""
    amount: Fraction | None = omit_if_default(None)
    """The exact contribution to a controller's level in minor units; None for the machine's own level."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LevelHitRecord:
    """A hit of a progressive level by a game.

    A level is the machine's own, broadcast by a SAS host, or managed by a controller. A controller's level is
    claimed: the machine reports the hit, and the controller locks the amount.
    """

    pool_id: str = field(metadata=stored_as("pool"))
    level_name: str = field(metadata=stored_as("level"))
    is_mystery: bool = field(metadata=stored_as("mystery"))
    won_share: Fraction | None = omit_if_default(None, key="share")
    """The part of the level that was won, or None for the whole level."""
    amount_cents: CentsOrZero | None = omit_if_default(None)
    """The amount won, in minor units; None if the level's controller states it in reply to the claim."""
    claim_id: str | None = omit_if_default(None, key="claim")
    """The id of the claim to the level's controller; None for a level without a controller."""
    shown_cents: CentsOrZero | None = omit_if_default(None)
    """The level's amount that the machine displayed at the hit, in minor units."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LevelsPlayed:
    """The progressive part of a game's record: its levels, contributions, mystery draws and hits."""

    pool_id_by_level: Mapping[str, str] = field(default_factory=dict, metadata=stored_as("pools"))
    """The id of the progressive level on this machine (its pool), by the level's name in the game's definition."""
    contributions: tuple[LevelContribution, ...] = field(default=(), metadata=stored_as("fed"))
    """The contributions of the wager to the levels."""
    mystery_draws: tuple[DrawRecord, ...] = field(default=(), metadata=stored_as("mystery"))
    """The random numbers drawn for mystery prizes."""
    hits: tuple[LevelHitRecord, ...] = ()
    broadcast_cents: Mapping[str, int] = omit_if_default({})
    """The amount that each level broadcast by a SAS host showed when the game started, by pool id."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GameRecord:
    """The complete record of a game, from its wager to its outcome."""

    play_id: str
    game_reference: GameReference = field(metadata=stored_as("game"))
    """The id, version and digest of the definition that the game is played with."""
    denomination_cents: Cents
    bet_credits: Count
    """The wager in credits."""
    wager: Wager
    """The wager in detail: bets by spot, lines, cards and other choices of the player."""
    language: str
    """The language of the player's screen."""
    credit_before_cents: CentsOrZero
    """The credit meter before the wager was deducted."""
    steps: tuple[RecordedStep, ...]
    """The steps so far: the first one, and one for each answer, by this player, another seat or a real wheel."""
    outcome: Outcome | None
    """The result of the game; None while a decision is pending."""
    standing_credits: Count = omit_if_default(0)
    """The credits that a decided game leaves on the table as standing bets."""
    table_state: JSON = omit_if_default(None, key="table")
    """The state of the table when the game began (:meth:`paytables.game.GameRules.with_table_state`)."""
    raised_credits: int = omit_if_default(0)
    """The credits that the player's answers have added to the wager."""
    levels: LevelsPlayed = inline_record(LevelsPlayed())
    round_id: str = omit_if_default("")
    """The id of the shared round (its seats have the same random numbers) or of the wheel's spin; empty if neither."""
    stakes_by_account: tuple[AccountAndCents, ...] | None = omit_if_default(None, key="staked")
    """Only in a game carried into a new journal by a memory clear: the amounts staked, by account."""
    has_returned_stakes: bool = omit_if_default(False, key="returned")
    """Only in a game carried over by a memory clear: whether its stakes have been returned already."""
    end_entry_kind: str = omit_if_default("", key="ended")
    """For a game that a memory clear carried over: the kind of the entry that had ended it, or empty if none had."""
    claim_id: str = omit_if_default("", key="claim")
    """The id of the claim (an amount owed) under which a memory clear carried the game over; otherwise empty."""
    round_steps: tuple[RecordedStep, ...] = omit_if_default(())
    """All steps of the round, if a memory clear carried this game over and another seat's game had more steps."""

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
        """Return what a decided game returns to the player, in minor units: wins and returned stakes.

        It is 0 while the game is undecided. Progressive levels and prizes in kind are not included.
        """
        return 0 if self.outcome is None else self.outcome.returned_credits * self.denomination_cents

    @property
    def push_cents(self) -> int:
        """Return the stakes that the game returns, in minor units: pushes, half-lost bets and bets taken down.

        They do not count as wins.
        """
        return 0 if self.outcome is None else self.outcome.push_credits * self.denomination_cents

    @property
    def win_cents(self) -> int:
        """Return the win of a decided game in minor units, without progressive levels and prizes in kind.

        It is 0 while the game is undecided.
        """
        return self.returned_cents - self.push_cents

    @property
    def standing_bets_cents(self) -> int:
        """Return the bets that a decided game leaves on the table for the next round, in minor units."""
        return self.standing_credits * self.denomination_cents

    @property
    def meter_dimensions(self) -> dict[str, str | int]:
        """Return this game's value of each dimension by which meters can be split, such as its denomination."""
        return {
            "game": self.game_reference.id,
            "paytable": f"{self.game_reference.id}@{self.game_reference.version}",
            "denomination_cents": self.denomination_cents,
            "wager_level": self.bet_credits,
        }

    def with_step(self, game_choice: "GameChoice") -> "GameRecord":
        """Return a copy of the record with one more step."""
        new_step = RecordedStep(choice=game_choice.choice, draws=game_choice.draws)
        return replace(
            self,
            steps=(*self.steps, new_step),
            outcome=game_choice.outcome,
            standing_credits=game_choice.standing_credits,
            raised_credits=self.raised_credits + game_choice.staked_credits,
        ).with_hits(game_choice.hits)

    def with_hits(self, hits: tuple[LevelHitRecord, ...]) -> "GameRecord":
        """Return a copy of the record with additional progressive hits."""
        return (
            self if not hits else replace(self, levels=replace(self.levels, hits=(*self.levels.hits, *hits)))
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class GameChoice:
    """The record of a step after the first: the player's choice, the numbers drawn, the result, and the levels hit."""

    play_id: str
    choice: JSON
    """The player's choice."""
    draws: tuple[DrawRecord, ...]
    outcome: Outcome | None
    """The result of the game; None if the game continues with another decision."""
    staked_credits: Count = omit_if_default(0)
    """The credits that the choice adds to the stake."""
    standing_credits: Count = omit_if_default(0)
    """The credits that the outcome leaves on the table as standing bets."""
    hits: tuple[LevelHitRecord, ...] = omit_if_default(())
    round_id: str = omit_if_default("")
    """The id of the shared round if this step is taken in the games of all its seats; otherwise empty."""
    is_table_answer: bool = omit_if_default(False, key="by_table")
    """Whether the table answered for this position, because its time was up or it could not play."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedTableState:
    """The part of a table's state that all its players share after a round, such as the shoe."""

    round_id: str
    """The id of the round that left the table in this state."""
    shared_fields: tuple[str, ...] = field(metadata=stored_as("keys"))
    """The names of all values that players of this table share, also of those that ``shared_state`` lacks now."""
    shared_state: JSON = field(metadata=stored_as("table"))
    standing_bet_fields: tuple[str, ...] = omit_if_default((), key="bound")
    """The names of the shared values on which standing bets depend, such as the point."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GamePointer:
    """The stored reference to the open game: its play id, under which its journal entries are found."""

    play_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TableRecord:
    """The state of a table after its last game."""

    game_reference: GameReference = field(metadata=stored_as("game"))
    denomination_cents: int
    table_state: JSON = field(metadata=stored_as("table"))
    standing_stakes: tuple[AccountAndCents, ...] = omit_if_default((), key="staked")
    """The standing bets on the table, each as the account from which it was staked and its amount in minor units."""

    @property
    def standing_bets_cents(self) -> int:
        """Return the total of the table's standing bets, in minor units."""
        return sum(cents for _, cents in self.standing_stakes)


@dataclass(frozen=True, slots=True, kw_only=True)
class TableBetsReturned:
    """Standing bets were returned from a table between two games (entry ``table.returned``)."""

    game_reference: GameReference = field(metadata=stored_as("game"))
    """The id, version and digest of the definition of the table's game."""
    denomination_cents: int
    return_reason: Literal["taken_down", "stopped", "changed"] = field(metadata=stored_as("why"))
    """Why the bets were returned.

    ``taken_down``: the player leaves and the rules allow it. ``stopped``: the machine cannot continue the game.
    ``changed``: the definition of the game has changed, cannot read the table's stored state, or is no longer offered
    at the denomination of the bets.
    """
    amount_cents: CentsOrZero


@dataclass(frozen=True, slots=True, kw_only=True)
class LastGame:
    """The last finished game and what it paid."""

    play_id: str
    paid_cents: int = field(metadata=stored_as("win_cents"))
    """The amount that the game paid, progressive levels and returned stakes included, in minor units."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MysteryPrizeRecord:
    """A prize of a controller's mystery level, with its published secret amount (entry ``progressive.won``)."""

    play_id: str | None = omit_if_default(None)
    """The id of the game that won the prize; None if no wager of this machine did."""
    pool_id: str = field(metadata=stored_as("pool"))
    claim_id: str = field(metadata=stored_as("claim"))
    contribution_number: Count = field(metadata=stored_as("sequence"))
    """The number of this machine's contribution that won the prize."""
    amount_cents: Cents
    hit_number: Count = field(metadata=stored_as("order"))
    """The number of this hit among all hits of the level."""
    opened_secret: Mapping[str, JSON] = field(metadata=stored_as("trigger"))
    """The published secret as JSON of :class:`egm.progressive.trigger.MysteryTrigger`; its number is stored as text."""
    commitment: Sha256Digest | None
    """The commitment to the secret that the controller sent beforehand; None if the machine received none."""
    is_verified: bool = field(metadata=stored_as("proved"))
    """Whether the published secret matches the commitment and shows that this contribution won."""
    hits: tuple[LevelHitRecord, ...] = omit_if_default(())
    """The hits that the prize adds to its game; empty if that game has ended."""
    late_decision: Literal["", "hand", "void", "declined"] = omit_if_default("", key="late")
    """What was done with the prize if its game had ended; empty if the game was open.

    ``hand``: paid by hand. ``void``: the game was void. ``declined``: staff have declined the prize.
    """
