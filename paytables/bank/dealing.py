"""The shoe of a card table: its decks, when it is shuffled again, and what remains between rounds."""

from operator import gt
from typing import Annotated, Final, Literal

from pydantic import Field, model_validator

from paytables.cards.card import RANK_LETTERS, Shoe, format_card, get_rank
from paytables.contract import Cue, DrawSource
from paytables.definition import StrictTable

#: Minimum number of cards behind a shoe's stop card, if the game's own shoe does not set another one.
CARDS_BEHIND_STOP_CARD_MIN = 8
#: With more players than this, one deck is shuffled after every round (Québec s. 8).
PLAYERS_WITHOUT_SHUFFLE_AFTER_ROUND_MAX: Final = 3
#: The most cards that are burned after the first burned card, by its value (``burn = true``).
_BURNED_AFTER_CARD_MAX: Final = 10


class ShoeRules(StrictTable):
    """The shoe of a card game's definition (``[shoe]``): the number of decks, and when they are shuffled.

    One deck may serve two rounds of at most three players (Québec s. 8).
    """

    deck_count: Annotated[int, Field(strict=True, ge=1, le=8)] = Field(default=8, alias="decks")
    """The number of decks in the shoe."""
    cards_behind_stop_card: Annotated[int, Field(strict=True, ge=CARDS_BEHIND_STOP_CARD_MIN)] | None = Field(
        default=None,
        description="cards behind the stop card; none: a fresh shuffle every round",
        alias="stop",
    )
    """The number of cards behind the stop card; None: a fresh shuffle for every round."""
    rounds_per_shuffle: Literal[1, 2] = Field(
        default=1, description="2: one deck is shuffled after every second round", alias="rounds"
    )
    """The number of rounds dealt from one deck before it is shuffled (Québec s. 8)."""
    burned_card_count: bool | Annotated[int, Field(strict=True, ge=1, le=20)] = Field(
        default=False, alias="burn"
    )
    """The number of cards discarded after the shuffle; true: the first card, and as many more as its value."""

    @model_validator(mode="after")
    def _check_shoe(self) -> "ShoeRules":
        """Refuse shoe rules that contradict each other."""
        if self.cards_behind_stop_card is not None and self.cards_behind_stop_card >= self.deck_count * 52:
            raise ValueError(
                f"stop: {self.cards_behind_stop_card} cards are behind the stop card; expected "
                f"fewer than the {self.deck_count * 52} of the shoe"
            )
        if self.rounds_per_shuffle > 1 and (self.deck_count > 1 or self.cards_behind_stop_card is not None):
            raise ValueError("rounds: only one deck without a stop card may serve two rounds")
        return self

    def format_deck_line(self, language: str) -> str:
        """Return the number of decks as a line of the help text, in one language."""
        return {"en": "Decks: {0}.", "fr": "Paquets de cartes : {0}."}[language].format(self.deck_count)

    @property
    def is_shoe_carried_over(self) -> bool:
        """Return whether cards left in the shoe after a round may be dealt in the next round."""
        return self.cards_behind_stop_card is not None or self.rounds_per_shuffle > 1

    @property
    def cards_left_min(self) -> int:
        """Return how many cards must be left in the shoe for another round: one more than lie behind the stop card."""
        return (self.cards_behind_stop_card or 0) + 1

    @property
    def round_start_cards_min(self) -> int:
        """Return how many cards are left at least when a round starts; after a shuffle, those that are not burned."""
        burned_max = (
            1 + _BURNED_AFTER_CARD_MAX if self.burned_card_count is True else int(self.burned_card_count)
        )
        cards_after_shuffle = self.deck_count * 52 - burned_max
        return (
            cards_after_shuffle
            if self.cards_behind_stop_card is None
            else min(cards_after_shuffle, self.cards_left_min)
        )

    def check_player_count(self, player_count: int) -> None:
        """Raise ValueError for more than three players if one deck is dealt for two rounds."""
        if self.rounds_per_shuffle > 1 and player_count > PLAYERS_WITHOUT_SHUFFLE_AFTER_ROUND_MAX:
            raise ValueError(
                "shoe.rounds: two rounds from one deck allow "
                f"{PLAYERS_WITHOUT_SHUFFLE_AFTER_ROUND_MAX} players at most, not {player_count}"
            )


def open_shoe(shoe_rules: ShoeRules, table_state: object, draw: DrawSource) -> tuple[Shoe, list[Cue]]:
    """Return the shoe for the next round, and the animation cues of its shuffle.

    If the stored table has no shoe to continue with, the new one is shuffled and cards are burned.
    """
    if table_state is not None:
        return read_shoe(shoe_rules, table_state), []
    shoe = Shoe.from_decks(shoe_rules.deck_count)
    if not shoe_rules.burned_card_count:
        return shoe, [Cue("shuffle", {"decks": shoe_rules.deck_count})]
    if shoe_rules.burned_card_count is not True:
        for n in range(shoe_rules.burned_card_count):
            shoe.deal(draw, f"burn {n + 1}")
        return shoe, [
            Cue("shuffle", {"decks": shoe_rules.deck_count}),
            Cue("burn", {"cards": shoe_rules.burned_card_count}),
        ]
    burn_card = shoe.deal(draw, "burn")
    burned_count = (
        min(get_rank(burn_card) + 2, _BURNED_AFTER_CARD_MAX)
        if RANK_LETTERS[get_rank(burn_card)] != "A"
        else 1
    )
    for n in range(burned_count):
        shoe.deal(draw, f"burn {n + 1}")
    return shoe, [
        Cue("shuffle", {"decks": shoe_rules.deck_count}),
        Cue("burn", {"card": format_card(burn_card), "cards": burned_count}),
    ]


def build_table_after_round(
    shoe_rules: ShoeRules, shoe: Shoe, table_state: object
) -> dict[str, object] | None:
    """Return the table state with the remaining shoe, to store after a round that started on ``table_state``.

    None: the shoe is shuffled again before the next round.
    """
    if shoe_rules.cards_behind_stop_card is not None:
        is_retained = shoe.cards_left >= shoe_rules.cards_left_min
    else:
        # without a table state, the first of the two rounds has just been played
        is_retained = shoe_rules.rounds_per_shuffle > 1 and table_state is None
    return {"shoe": shoe.to_json()} if is_retained else None


def read_shoe(shoe_rules: ShoeRules, table_state: object) -> Shoe:
    """Return the card shoe in a stored table state. Raises ValueError if no round of these rules can leave it."""
    if (
        not isinstance(table_state, dict)
        or set(table_state) != {"shoe"}
        or not isinstance(table_state["shoe"], dict)
    ):
        raise ValueError(f"the table of a shoe must list its cards, not {table_state!r}")
    shoe, full_shoe = Shoe.from_json(table_state["shoe"]), Shoe.from_decks(shoe_rules.deck_count)
    if not shoe_rules.is_shoe_carried_over or (
        shoe_rules.cards_behind_stop_card is not None and shoe.cards_left < shoe_rules.cards_left_min
    ):
        raise ValueError(
            f"the table stores a shoe of {shoe.cards_left} cards, "
            "but a shoe of that size is shuffled before the next round"
        )
    if any(map(gt, shoe.counts, full_shoe.counts)):
        card = next(card for card, count in enumerate(shoe.counts) if count > full_shoe.counts[card])
        raise ValueError(
            f"the shoe has {shoe.counts[card]} cards {format_card(card)}; its {shoe_rules.deck_count} decks have fewer"
        )
    return shoe
