"""What a game and whoever plays it say to each other: wagers, draws, decisions, outcomes.

All of it is plain data that goes to JSON and back, because the journal keeps it and the audit replays it.
Amounts are credits (int).
"""

from collections.abc import Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Protocol, TypeAlias

from paytables.errors import ChoiceError, ReplayError

Json: TypeAlias = Any


class Draw(Protocol):
    """A source of chance: each call is one recorded random number."""

    def below(self, bound: int, purpose: str) -> int:
        """Return a uniform integer in [0, ``bound``); ``purpose`` says in the record what it decided."""


@dataclass(frozen=True, slots=True)
class Remark:
    """What is legal in a definition and may surprise: at which key, and what it does."""

    key: str
    text: str


@dataclass(frozen=True, slots=True)
class Wager:
    """A bet the game has accepted: its total in credits, and what the family needs to play it."""

    credits: int
    options: Mapping[str, Json] = field(default_factory=dict)

    def to_json(self) -> dict[str, Json]:
        """Return the wager as the journal keeps it; :meth:`from_json` is the inverse."""
        return {"credits": self.credits, "options": dict(self.options)}

    @classmethod
    def from_json(cls, data: Mapping[str, Json]) -> "Wager":
        """Read a wager back. The game that plays it validates it again."""
        return cls(credits=int(data["credits"]), options=dict(data["options"]))


@dataclass(frozen=True, slots=True)
class Decision:
    """The game stops and asks: one of ``options`` must come back. ``prompt`` is for the screen."""

    kind: str
    options: tuple[Json, ...]
    prompt: Mapping[str, Json] = field(default_factory=dict)

    def check(self, choice: "Choice | None") -> Json:
        """Return the chosen value. Raises :class:`ChoiceError` unless it is one of the options."""
        if choice is None or choice.value not in self.options:
            got = "nothing" if choice is None else repr(choice.value)
            raise ChoiceError(f"{self.kind}: {got} is not one of {list(self.options)}")
        return choice.value

    def to_json(self) -> dict[str, Json]:
        """Return the decision as the journal and the screen see it."""
        return {"kind": self.kind, "options": list(self.options), "prompt": dict(self.prompt)}


@dataclass(frozen=True, slots=True)
class Choice:
    """The player's answer to a :class:`Decision`."""

    value: Json


@dataclass(frozen=True, slots=True)
class Win:
    """One prize of one game: ``name`` is a pay of the definition, ``detail`` where and how it was made."""

    name: str
    credits: int
    detail: Mapping[str, Json] = field(default_factory=dict)

    def to_json(self) -> dict[str, Json]:
        """Return the prize as the journal and the screen see it."""
        return {"name": self.name, "credits": self.credits, **self.detail}

    @classmethod
    def from_json(cls, data: Mapping[str, Json]) -> "Win":
        """Read a prize back."""
        detail = {name: value for name, value in data.items() if name not in {"name", "credits"}}
        return cls(name=str(data["name"]), credits=int(data["credits"]), detail=detail)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one game came to.

    ``win_credits`` is the sum of ``wins``, after a double-up where one was played. ``progressives`` and
    ``merchandise`` name the levels and prizes hit, in order; their value is the cabinet's to pay, and is not
    in
    ``win_credits``. ``display`` is all a screen needs to animate the game and to draw its end again.
    """

    win_credits: int
    wins: tuple[Win, ...] = ()
    progressives: tuple[str, ...] = ()
    merchandise: tuple[str, ...] = ()
    display: Mapping[str, Json] = field(default_factory=dict)

    def to_json(self) -> dict[str, Json]:
        """Return the outcome as the journal keeps it."""
        return {
            "win_credits": self.win_credits,
            "wins": [win.to_json() for win in self.wins],
            "progressives": list(self.progressives),
            "merchandise": list(self.merchandise),
            "display": dict(self.display),
        }

    @property
    def double_up_stakes(self) -> tuple[int, ...]:
        """What was put at stake in each round of its double-up, credits; nothing where none was.

        The first is what the game had won before; each later one what the round before it left.
        """
        for win in self.wins:
            if win.name == "double-up" and "rounds" in win.detail:
                left = (int(each["credits"]) for each in win.detail["rounds"][:-1])
                return (self.win_credits - win.credits, *left)
        return ()

    @classmethod
    def from_json(cls, data: Mapping[str, Json]) -> "Outcome":
        """Read an outcome back; :meth:`to_json` is the inverse."""
        return cls(
            win_credits=int(data["win_credits"]),
            wins=tuple(Win.from_json(win) for win in data["wins"]),
            progressives=tuple(data["progressives"]),
            merchandise=tuple(data["merchandise"]),
            display=dict(data["display"]),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class LevelPlay:
    """One progressive level as one wager plays for it: what it feeds, and what it may win.

    ``stake_credits`` plays for it at the exact mean number of hits ``odds``; every wager of that stake has
    the same odds (Québec by-law, s.92). ``increment`` is the share of the whole wager the meter grows by.
    ``reset_credits`` is what the meter starts from for that stake. ``ceiling_credits``: the meter is hit at
    a secret amount below it, which whoever keeps the meter draws; None: the game says when it is hit.
    ``one_price``: every wager that plays for it costs exactly ``stake_credits``, so machines may share it.
    ``names`` is what the player reads, by language.
    """

    level: str
    names: Mapping[str, str]
    stake_credits: int
    odds: Fraction
    increment: Fraction
    reset_credits: int
    ceiling_credits: int | None = None
    one_price: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class PrizeInKind:
    """A thing a game gives, by its id: what it is called and what it is, by language.

    ``value_cents`` is what the house states it is worth, in minor units; it counts in no return.
    """

    id: str
    names: Mapping[str, str]
    description: Mapping[str, str]
    value_cents: int


#: A game being played: yields decisions, is sent choices, returns the outcome.
Play: TypeAlias = Generator[Decision, Choice, Outcome]


@dataclass(slots=True)
class RecordingDraw:
    """A draw that keeps every number as ``(bound, value, purpose)`` in ``records``."""

    source: Draw
    records: list[tuple[int, int, str]] = field(default_factory=list)

    def below(self, bound: int, purpose: str) -> int:
        """Draw from the source and keep the number."""
        value = self.source.below(bound, purpose)
        self.records.append((bound, value, purpose))
        return value


@dataclass(slots=True)
class ReplayDraw:
    """A draw that gives back recorded numbers, and refuses a record that does not fit the game."""

    records: Sequence[Sequence[Json]]
    position: int = 0

    def below(self, bound: int, purpose: str) -> int:
        """Return the next recorded value. Raises :class:`ReplayError` where record and game differ."""
        if self.position >= len(self.records):
            raise ReplayError(
                f"draw {self.position} ({purpose}): the record has only {len(self.records)} draws"
            )
        recorded_bound, value, recorded_purpose = self.records[self.position]
        if recorded_bound != bound or recorded_purpose != purpose or not 0 <= value < bound:
            raise ReplayError(
                f"draw {self.position}: the game asks below({bound}) for {purpose}, "
                f"the record has {value} below {recorded_bound} for {recorded_purpose}"
            )
        self.position += 1
        return int(value)

    def finish(self) -> None:
        """Raise :class:`ReplayError` when the game ended before the record did."""
        if self.position != len(self.records):
            raise ReplayError(f"the game used {self.position} draws, the record has {len(self.records)}")


def drive(play: Play, choices: Iterable[Choice] = ()) -> Outcome:
    """Run ``play`` to its end with the given choices, in order.

    Raises :class:`ChoiceError` when a decision finds no choice left, or a choice finds no decision.
    """
    pending = iter(choices)
    try:
        decision = next(play)
        while True:
            choice = next(pending, None)
            if choice is None:
                raise ChoiceError(
                    f"{decision.kind}: no choice given; the options are {list(decision.options)}"
                )
            decision = play.send(choice)
    except StopIteration as end:
        left = len(list(pending))
        if left:
            raise ChoiceError(f"the game ended with {left} choices unused") from None
        outcome: Outcome = end.value
        return outcome
