"""One round of a game: its events (decisions, settlements and cues) and its outcome."""

from collections.abc import Callable, Generator, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Final, TypeAlias

from paytables.contract.data import Json
from paytables.contract.prizes import LevelHit, PartialLevelHit, parse_level_hit
from paytables.contract.wager import SINGLE_SPOT_ID, Bet, Wager
from paytables.errors import ChoiceError

#: The kind of a decision that a real wheel answers: its options are the pockets, and no player answers it.
WHEEL_DECISION_KIND: Final = "wheel"
#: The kind of a decision that the table answers: whether every seat of a shared round has wagered its stakes.
SEATS_DECISION_KIND: Final = "seats"
#: The answer to :data:`SEATS_DECISION_KIND` if all seats have wagered: the round is played.
ALL_STAKED_OPTION: Final = "all-staked"
#: The answer to :data:`SEATS_DECISION_KIND` if not all seats have wagered: the stakes are returned.
STAKES_RETURNED_OPTION: Final = "stakes-returned"
#: The seat of a decision that no player answers.
NO_SEAT: Final = -1


@dataclass(frozen=True, slots=True)
class Decision:
    """A decision asked of a seat; the game waits until one of ``options`` is chosen.

    At least one option costs nothing. If the player does not answer and other players are waiting, the first
    option that costs nothing is used.
    """

    kind: str
    """What is decided, such as ``double_up`` or ``war``."""
    options: tuple[Json, ...]
    """The possible answers; the player chooses one."""
    prompt: Mapping[str, Json] = field(default_factory=dict)
    """The data that the screen needs to ask for the decision, without what :attr:`build_more_prompt` computes."""
    stakes: Mapping[Json, Bet] = field(default_factory=dict)
    """The bet that each option adds, by option. An option that costs nothing has no entry."""
    seat: int = 0
    """The number of the seat that must decide, or :data:`NO_SEAT`."""
    build_more_prompt: Callable[[], Mapping[str, Json]] | None = field(
        default=None, repr=False, compare=False
    )
    """Builds the data of the prompt that take time to compute, such as the advice; None: there are none.

    It must be called before the round continues. A replay that shows nothing to a player need not call it.
    """

    def with_complete_prompt(self) -> "Decision":
        """Return the decision with its complete prompt in :attr:`prompt`."""
        if self.build_more_prompt is None:
            return self
        return replace(self, prompt={**self.prompt, **self.build_more_prompt()}, build_more_prompt=None)

    def get_chosen_option(self, choice: "Choice | None") -> Json:
        """Return the option chosen by ``choice``. Raises :class:`ChoiceError` if it is not one of the options."""
        if choice is None or choice.value not in self.options:
            given_text = "nothing" if choice is None else repr(choice.value)
            raise ChoiceError(f"{self.kind}: {given_text} is not one of {list(self.options)}")
        return choice.value

    def get_added_credits(self, option: Json) -> int:
        """Return the credits that choosing an option adds to the stake; 0 if it is free."""
        bet = self.get_added_bet(option)
        return 0 if bet is None else bet.credits

    def get_added_bet(self, option: Json) -> Bet | None:
        """Return the bet that choosing an option adds, or None if it is free."""
        return self.stakes.get(option) if self.stakes else None

    @property
    def default_option(self) -> Json:
        """Return the option that is used if the player does not answer: the first option without cost."""
        return next(option for option in self.options if not self.get_added_credits(option))

    def limit_to_credits(self, credits_: int) -> "Decision":
        """Return the decision with only those options that add at most ``credits_`` to the stake."""
        affordable_options = tuple(
            option for option in self.options if self.get_added_credits(option) <= credits_
        )
        return (
            self
            if len(affordable_options) == len(self.options)
            else replace(self, options=affordable_options)
        )

    def to_json(self) -> dict[str, Json]:
        """Return the decision as the JSON object that journal and screen use."""
        return {"kind": self.kind, "options": list(self.options), "prompt": dict(self.prompt)}


@dataclass(frozen=True, slots=True)
class Choice:
    """A player's answer to a :class:`Decision`."""

    value: Json
    """The chosen option, one of :attr:`Decision.options`."""


@dataclass(frozen=True, slots=True)
class Settlement:
    """One decided bet of a round, or one prize that was won in it, with the credits that the player receives.

    Credits up to the stake count as returned stake, not as a win, unless ``is_pay_table_prize`` is set. Two
    settlements that differ only in that field are equal, because journals written by earlier versions do not have
    it.
    """

    name: str
    """The result by its name in the definition, such as ``push``, ``lost`` or the id of a pay."""
    credits: int
    """The credits that the player receives, the stake included."""
    detail: Mapping[str, Json] = field(default_factory=dict)
    """Details of the result that the game adds, such as the line of a win, the commission or the levy."""
    spot: str = SINGLE_SPOT_ID
    """Id of the betting spot; empty in a game with a single bet."""
    staked_credits: int = 0
    """The credits that were bet on the spot and are decided by this settlement."""
    seat: int = 0
    """The number of the seat that made the bet; 0 in a game with one seat."""
    is_pay_table_prize: bool = field(default=False, compare=False)
    """Whether this is a pay-table prize, and therefore a win even if it does not exceed the stake."""

    @property
    def is_stake_returned(self) -> bool:
        """Return whether this settlement only returns the stake or a part of it, such as a push."""
        return 0 < self.credits <= self.staked_credits and not self.is_pay_table_prize

    def to_json(self) -> dict[str, Json]:
        """Return the settlement as the JSON object that journal and screen use; :meth:`from_json` is the inverse."""
        fields = {
            "spot": self.spot,
            "staked": self.staked_credits,
            "seat": self.seat,
            "pays": self.is_pay_table_prize,
        }
        optional = {key: value for key, value in fields.items() if value}
        return {"name": self.name, "credits": self.credits, **optional, **self.detail}

    @classmethod
    def from_json(cls, data: Mapping[str, Json]) -> "Settlement":
        """Return the settlement that :meth:`to_json` has written to the JSON object ``data``."""
        detail = {name: value for name, value in data.items() if name not in _SETTLEMENT_FIELDS}
        return cls(
            name=str(data["name"]),
            credits=int(data["credits"]),
            detail=detail,
            spot=str(data.get("spot", SINGLE_SPOT_ID)),
            staked_credits=int(data.get("staked", 0)),
            seat=int(data.get("seat", 0)),
            is_pay_table_prize=data.get("pays") is True,
        )


#: Members of a settlement's JSON that are not details.
_SETTLEMENT_FIELDS: Final = frozenset({"name", "credits", "spot", "staked", "seat", "pays"})


@dataclass(frozen=True, slots=True)
class Cue:
    """An animation for the screen: a card dealt or turned, a ball, a throw, chips."""

    kind: str
    """The kind of animation, such as a card that is dealt."""
    data: Mapping[str, Json] = field(default_factory=dict)
    """The details of the animation for the screen."""

    def to_json(self) -> dict[str, Json]:
        """Return the cue as the JSON object that the screen uses."""
        return {"cue": self.kind, **self.data}


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of one round of a game: settled bets, other prizes, screen data, and state for the next round."""

    settlements: tuple[Settlement, ...] = ()
    """The decided bets in order; the win is their sum and is not stored separately."""
    progressives: tuple[LevelHit, ...] = ()
    """The progressive levels won, whole or in part, in order; the win does not include them."""
    merchandise: tuple[str, ...] = ()
    """The ids of the prizes in kind won, in order; the win does not include them."""
    display: Mapping[str, Json] = field(default_factory=dict)
    """The data that a screen needs to redraw the end of the round."""
    table_state: Json = None
    """State for the next round, such as a shoe (:meth:`paytables.game.GameRules.with_table_state`), or None."""

    @property
    def returned_credits(self) -> int:
        """Return the sum of all settlements, a double-up and returned stakes included.

        What the player wins in the sense of the by-law is this sum minus :attr:`push_credits`.
        """
        return sum([settlement.credits for settlement in self.settlements])

    @property
    def push_credits(self) -> int:
        """Return the part of :attr:`returned_credits` that is only returned stakes: pushes, halves, bets taken down."""
        return sum([settlement.credits for settlement in self.settlements if settlement.is_stake_returned])

    @property
    def double_up_stakes(self) -> tuple[int, ...]:
        """Return the credits at stake in each doubling of the game's double-up; empty if there was none.

        The first is the win before the double-up; each later one is the win after the previous doubling.
        """
        for settlement in self.settlements:
            if settlement.name == "double-up" and "rounds" in settlement.detail:
                later_stakes = (int(doubling["credits"]) for doubling in settlement.detail["rounds"][:-1])
                return (self.returned_credits - settlement.credits, *later_stakes)
        return ()

    def to_json(self) -> dict[str, Json]:
        """Return the outcome as the JSON object that the journal stores; the settlements have the key ``wins``."""
        table = {} if self.table_state is None else {"table": self.table_state}
        return {
            "win_credits": self.returned_credits,
            "wins": [settlement.to_json() for settlement in self.settlements],
            "progressives": [
                hit.to_json() if isinstance(hit, PartialLevelHit) else hit for hit in self.progressives
            ],
            "merchandise": list(self.merchandise),
            "display": dict(self.display),
            **table,
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Json]) -> "Outcome":
        """Return the outcome that :meth:`to_json` has written to the JSON object ``data``.

        Raises ValueError if the win in ``data`` is not the sum of the settlements.
        """
        outcome = cls(
            settlements=tuple(Settlement.from_json(settlement_data) for settlement_data in data["wins"]),
            progressives=tuple(parse_level_hit(hit_data) for hit_data in data["progressives"]),
            merchandise=tuple(data["merchandise"]),
            display=dict(data["display"]),
            table_state=data.get("table"),
        )
        if outcome.returned_credits != int(data["win_credits"]):
            raise ValueError(
                f"win_credits: {data['win_credits']}, and its settlements add to {outcome.returned_credits}"
            )
        return outcome


#: Anything that a round yields.
RoundEvent: TypeAlias = Decision | Settlement | Cue
#: A round in progress: it yields events, is sent the choice for each decision (None for other events), and
#: returns its outcome, whose settlements are the ones it yielded.
RoundEvents: TypeAlias = Generator[RoundEvent, Choice | None, Outcome]


def filter_events_for_seat(play: RoundEvents, seat: int) -> RoundEvents:
    """Return the events of a shared round as one seat sees them, without other seats' stakes and settlements.

    Decisions of other seats stay, because they affect what is drawn, but without the bets that their options add.
    """
    answer: Choice | None = None
    while True:
        try:
            event = play.send(answer)
        except StopIteration as end:
            outcome: Outcome = end.value
            return outcome
        answer = None
        if isinstance(event, Decision) and event.seat != seat:
            event = replace(event, stakes={})
        if not isinstance(event, Settlement) or event.seat == seat:
            answer = yield event


class Round:
    """A round of a game in progress. Nothing is played before the first call of :meth:`advance`.

    If ``completes_prompts`` is False, decisions lack the data of their prompts that take time to compute.
    """

    def __init__(self, play: RoundEvents, wager: Wager, *, completes_prompts: bool = True) -> None:
        self.decision: Decision | None = None
        """The decision that the round waits for, or None."""
        self.outcome: Outcome | None = None
        """The result of the round once it is over, or None."""
        self.staked_bets: list[Bet] = [bet for bet in wager.bets if bet.credits > 0]
        """The new bets of the wager, not the standing ones, and every bet that a decision has added so far."""
        self.settlements: list[Settlement] = []
        """The settlements of the bets decided so far."""
        self.cues: list[Cue] = []
        """The animation cues of the events that the last call of :meth:`advance` played."""
        self._play = play
        self._completes_prompts = completes_prompts

    def advance(self, choice: Choice | None = None) -> None:
        """Play the round up to its next decision or to its end.

        The first call has no choice, each later one has the answer to the last decision. Raises
        :class:`ChoiceError` for an answer that is not among the options.
        """
        decision, self.cues = self.decision, []
        try:
            if decision is None:
                event = next(self._play)
            else:
                added_bet = decision.get_added_bet(decision.get_chosen_option(choice))
                event = self._play.send(choice)
                self.staked_bets += () if added_bet is None else (added_bet,)
            while not isinstance(event, Decision):
                if isinstance(event, Cue):
                    self.cues.append(event)
                else:
                    self.settlements.append(event)
                event = next(self._play)
            self.decision = event.with_complete_prompt() if self._completes_prompts else event
        except StopIteration as end:
            self.decision = None
            self.outcome = replace(end.value, settlements=tuple(self.settlements))

    @property
    def staked_credits(self) -> int:
        """Return the credits staked in the round so far: the new bets of the wager, and what decisions added."""
        return sum(bet.credits for bet in self.staked_bets)


def play_with_answers(play: RoundEvents, wager: Wager, answer: Callable[[Decision], Choice]) -> Outcome:
    """Play a round to its end and return its outcome; the function ``answer`` makes every decision.

    Raises :class:`ChoiceError`.
    """
    round_ = Round(play, wager)
    round_.advance()
    while round_.decision is not None:
        round_.advance(answer(round_.decision))
    if round_.outcome is None:
        raise ChoiceError("the game has neither a decision nor an outcome")
    return round_.outcome


def play_with_choices(play: RoundEvents, wager: Wager, choices: Iterable[Choice] = ()) -> Outcome:
    """Play a round to its end with the given choices, in order, and return its outcome.

    Raises :class:`ChoiceError` if a decision has no choice left, or if choices remain unused.
    """
    remaining_choices = iter(choices)

    def take_next_choice(decision: Decision) -> Choice:
        """Return the next of the given choices. Raises :class:`ChoiceError` if none is left."""
        choice = next(remaining_choices, None)
        if choice is None:
            raise ChoiceError(f"{decision.kind}: no choice given; the options are {list(decision.options)}")
        return choice

    outcome = play_with_answers(play, wager, take_next_choice)
    unused_count = len(list(remaining_choices))
    if unused_count:
        raise ChoiceError(f"the game ended with {unused_count} choices unused")
    return outcome
