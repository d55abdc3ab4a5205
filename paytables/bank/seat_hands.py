"""The hands of a round of chemin de fer, banque or Super Pan 9, as one seat sees them: its own hand and open cards."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from paytables.cards.card import Card, Shoe, format_card
from paytables.contract import Cue, DrawSource
from paytables.seating import FACE_DOWN_CARD_TEXT, can_see_seat_cards, describe_owner

#: The option that takes a third card.
DRAW_OPTION: Final = "draw"
#: The option that takes no third card.
STAND_OPTION: Final = "stand"


@dataclass(slots=True)
class RoundHands:
    """The hands of one round, dealt and turned; they are described as one seat, the viewer, sees them."""

    holder_by_hand_id: Mapping[str, int | None]
    """The seat that holds each hand, by hand id in the order of the screen; None if no player holds it (the house's
    bank, or a hand without bets)."""
    viewer: int | None
    """The seat for whose screen the hands are shown. None if one player plays alone, who sees every hand of a seat."""
    count_card_points: Callable[[Sequence[Card]], int]
    """Function that returns the points of a hand's cards."""
    face_down_card_count: int
    """Number of cards at the start of each hand that lie face down until it is turned; later cards lie face up."""
    cards_by_hand_id: dict[str, list[Card]] = field(init=False)
    """The cards dealt to each hand, by hand id."""
    face_up_hand_ids: set[str] = field(default_factory=set)
    """Ids of the hands that have been turned face up for all seats."""

    def __post_init__(self) -> None:
        self.cards_by_hand_id = {hand_id: [] for hand_id in self.holder_by_hand_id}

    def deal_card(self, hand_id: str, shoe: Shoe, draw: DrawSource) -> Cue:
        """Deal a card to a hand; return the animation cue."""
        hand = self.cards_by_hand_id[hand_id]
        hand.append(shoe.deal(draw, f"{hand_id} card {len(hand) + 1}"))
        return Cue("deal", {"hand": hand_id, "card": self._list_seen_cards(hand_id)[-1]})

    def turn_face_up(self, *hand_ids: str) -> Iterator[Cue]:
        """Turn these hands face up; yield the animation cues of the cards that the viewer has not seen."""
        for hand_id in hand_ids:
            seen_cards = self._list_seen_cards(hand_id)
            self.face_up_hand_ids.add(hand_id)
            for index, card in enumerate(self.cards_by_hand_id[hand_id]):
                if seen_cards[index] == FACE_DOWN_CARD_TEXT:
                    yield Cue("flip", {"hand": hand_id, "index": index, "card": format_card(card)})

    def count_points(self, hand_id: str) -> int:
        """Return the points of a hand."""
        return self.count_card_points(self.cards_by_hand_id[hand_id])

    def compare_points(self, hand_id: str, other_hand_id: str) -> int:
        """Return 1 if a hand beats the other, 0 if they tie, -1 if it loses."""
        points, other_points = self.count_points(hand_id), self.count_points(other_hand_id)
        return (points > other_points) - (points < other_points)

    def to_json(self) -> dict[str, object]:
        """Return the hands as the viewer's screen shows them; a hand has its points if all of its cards are seen."""
        hands = []
        for hand_id, holder in self.holder_by_hand_id.items():
            cards = self._list_seen_cards(hand_id)
            points = {} if FACE_DOWN_CARD_TEXT in cards else {"says": str(self.count_points(hand_id))}
            owner = {} if holder is None else describe_owner(holder, self.viewer)
            hands.append({"id": hand_id, "cards": cards, **points, **owner})
        return {"kind": "table", "felt": "cards", "hands": hands}

    def _list_seen_cards(self, hand_id: str) -> list[str]:
        """Return a hand's cards as text, with the face-down mark for those that the viewer may not see."""
        holder = self.holder_by_hand_id[hand_id]
        is_face_up = hand_id in self.face_up_hand_ids or (
            holder is not None and can_see_seat_cards(holder, self.viewer)
        )
        return [
            format_card(card) if is_face_up or index >= self.face_down_card_count else FACE_DOWN_CARD_TEXT
            for index, card in enumerate(self.cards_by_hand_id[hand_id])
        ]
