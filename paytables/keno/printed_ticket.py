"""The contents of a Keno ticket and its selection slip, as data for printers and computers (ss. 77, 80-82).

Clauses are of the Québec By-law respecting casino games (S-13.1 r.3). A ticket exists only after the central
computer has recorded its selections (s. 81), and carries the number that proves it (s. 82 (4)). Amounts are
credits; the printing side supplies the texts for money.
"""

import hashlib
import hmac
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from enum import StrEnum
from typing import Final

from paytables.contract import Json
from paytables.errors import PaytableError
from paytables.keno.schema import KenoDefinition
from paytables.keno.ticket import KenoTicket


class TicketNotIssuedError(PaytableError):
    """Raised if a Keno ticket cannot be issued because required data are missing.

    The central computer's acknowledgement, the drawn numbers of a quick pick, or the definition's terms may
    be missing.
    """


class TicketLine(StrEnum):
    """One line of text on a printed Keno ticket."""

    SELECTION = "selection"
    STAKE = "stake"
    BONUS = "bonus"
    TOTAL = "total"
    DRAWS = "draws"
    CONTROL = "control"
    PAID_MAX = "most_paid"
    CLAIM = "claim"
    ISSUED = "issued"
    NUMBER = "number"
    STATION = "station"


#: The label of each line of a printed Keno ticket, by language. The first eight are s. 82 (1) to (6); New
#: Jersey also requires the others.
LINE_LABELS: Final[Mapping[TicketLine, Mapping[str, str]]] = {
    TicketLine.SELECTION: {"en": "Selection", "fr": "Sélection"},
    TicketLine.STAKE: {"en": "Wager per way", "fr": "Mise par combinaison"},
    TicketLine.BONUS: {"en": "With", "fr": "Avec"},
    TicketLine.TOTAL: {"en": "Total wager", "fr": "Mise totale"},
    TicketLine.DRAWS: {"en": "Draws", "fr": "Tirages"},
    TicketLine.CONTROL: {"en": "Control number", "fr": "Numéro de contrôle"},
    TicketLine.PAID_MAX: {"en": "Maximum paid per draw", "fr": "Maximum payable en lots par tirage"},
    TicketLine.CLAIM: {"en": "Claim by", "fr": "Délai de réclamation"},
    TicketLine.ISSUED: {"en": "Issued", "fr": "Émis le"},
    TicketLine.NUMBER: {"en": "Ticket", "fr": "Billet"},
    TicketLine.STATION: {"en": "Station", "fr": "Poste"},
}
#: Further texts of the selection slip (ss. 77, 80).
SLIP_TEXTS: Final[Mapping[str, Mapping[str, str]]] = {
    "en": {"mark": "Mark {least} to {most} numbers", "rules": "Rules", "pick": "quick pick", "colon": ": "},
    "fr": {
        "mark": "Cochez de {least} à {most} numéros",
        "rules": "Règles",
        "pick": "mise-éclair",
        "colon": " : ",
    },
}
#: Text where nothing limits the payment, by language.
_NO_LIMIT_TEXT: Final = {"en": "no limit", "fr": "sans limite"}
#: Text on how long and where to claim, by language.
_CLAIM_TEXT: Final = {
    "en": "{days} days after the last draw, at: {place}",
    "fr": "{days} jours après le dernier tirage, à : {place}",
}
#: Text on a number of spots and the wager on each of its ways, by language.
_SPOTS_TEXT: Final = {"en": "{spots} spots x {stake}", "fr": "{spots} numéros x {stake}"}
#: The keys of a stored ticket's JSON object that differ from the name of the field, by that name.
_KEY_BY_FIELD: Final = {
    "cost_per_draw_credits": "cost_a_draw_credits",
    "prize_limit_credits": "most_paid_credits",
    "bonus_ids": "bonuses",
    "draw_numbers": "draws",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Acknowledgement:
    """The central computer's acknowledgement that it has recorded a Keno ticket."""

    ticket_number: int
    """The number that the central computer gave to the ticket."""
    draw_numbers: tuple[int, ...]
    """The numbers of the draws in which the ticket takes part."""
    recorded_at: datetime
    """The time when the central computer recorded the ticket."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PrintedTicket:
    """A Keno ticket as the central computer stores it and the terminal prints it; all its numbers are known."""

    game_id: str
    game_version: str
    ticket_number: int
    """The number that the central computer gave to the ticket."""
    casino: str
    """The name of the casino."""
    station: str
    """The terminal that sold the ticket."""
    issued_at: datetime
    """The time when the central computer recorded the ticket."""
    selections: tuple[Mapping[str, Json], ...]
    """The selections with their numbers and stakes."""
    bonus_ids: tuple[str, ...]
    """The ids of the bonuses bought."""
    draw_numbers: tuple[int, ...]
    """The numbers of the draws in which the ticket takes part."""
    cost_per_draw_credits: int
    """The credits that the ticket costs for each draw."""
    prize_limit_credits: int | None
    """The largest prize of the ticket in one draw, or None if it is not limited."""
    claim_place: str
    """Where a winning ticket is presented."""
    claim_days: int
    """The number of days after the last draw in which a prize may be claimed."""
    control_number: str = ""
    """The number that proves that the paper is genuine."""

    @property
    def cost_credits(self) -> int:
        """Return what the player pays for the Keno ticket, in credits."""
        return self.cost_per_draw_credits * len(self.draw_numbers)

    @property
    def wager_options(self) -> dict[str, object]:
        """Return the Keno ticket as wager options, as :func:`paytables.keno.ticket.parse_request` accepts them."""
        return {
            "selections": list(self.selections),
            "draws": len(self.draw_numbers),
            "bonuses": list(self.bonus_ids),
        }

    def to_json(self) -> dict[str, Json]:
        """Return the ticket as the JSON object that the central computer stores; :meth:`from_json` is the inverse."""
        values = {
            **{field.name: getattr(self, field.name) for field in fields(self)},
            "issued_at": self.issued_at.isoformat(),
            "selections": [dict(selection) for selection in self.selections],
            "bonus_ids": list(self.bonus_ids),
            "draw_numbers": list(self.draw_numbers),
        }
        return {_KEY_BY_FIELD.get(name, name): value for name, value in values.items()}

    @classmethod
    def from_json(cls, data: Mapping[str, Json]) -> "PrintedTicket":
        """Return the Keno ticket that :meth:`to_json` has written to the JSON object ``data``."""
        field_by_key = {key: name for name, key in _KEY_BY_FIELD.items()}
        values = {field_by_key.get(key, key): value for key, value in data.items()}
        return cls(
            **{
                **values,
                "issued_at": datetime.fromisoformat(values["issued_at"]),
                "selections": tuple(values["selections"]),
                "bonus_ids": tuple(values["bonus_ids"]),
                "draw_numbers": tuple(values["draw_numbers"]),
            }
        )


#: The type of each value printed on a ticket, by its key in the JSON object.
PRINTED_TYPE_BY_KEY: Final[Mapping[str, object]] = {
    _KEY_BY_FIELD.get(field.name, field.name): field.type for field in fields(PrintedTicket)
}


def issue_ticket(
    definition: KenoDefinition,
    ticket: KenoTicket,
    acknowledgement: Acknowledgement | None,
    *,
    key: bytes,
    casino: str,
    station: str,
    claim_place: str,
) -> PrintedTicket:
    """Return the Keno ticket to print. ``key`` is the central computer's secret for control numbers.

    Raises :class:`TicketNotIssuedError` without an acknowledgement, for a quick pick whose numbers are not drawn yet,
    if the number of draws differs from the number bought, and for a definition without terms.
    """
    if acknowledgement is None:
        raise TicketNotIssuedError(
            "the central computer has not recorded the selections: no ticket, and no stake is due"
        )
    if definition.terms is None:
        raise TicketNotIssuedError(
            f"{definition.game.id}: the definition has no [terms], which a ticket needs for its claim period"
        )
    if any(s.is_quick_pick for s in ticket.selections):
        raise TicketNotIssuedError(
            "a quick pick has no numbers yet: they are drawn before the ticket is recorded"
        )
    if (
        len(acknowledgement.draw_numbers) != ticket.draw_count
        or len(set(acknowledgement.draw_numbers)) != ticket.draw_count
    ):
        raise TicketNotIssuedError(
            f"{ticket.draw_count} draws were bought, recorded are {list(acknowledgement.draw_numbers)}"
        )
    unsigned_ticket = PrintedTicket(
        game_id=definition.game.id,
        game_version=definition.game.version,
        ticket_number=acknowledgement.ticket_number,
        casino=casino,
        station=station,
        issued_at=acknowledgement.recorded_at,
        selections=tuple(s.to_json() for s in ticket.selections),
        bonus_ids=ticket.bonuses_in_force.bought_ids,
        draw_numbers=tuple(sorted(acknowledgement.draw_numbers)),
        cost_per_draw_credits=ticket.cost_per_draw_credits,
        prize_limit_credits=definition.prize_limit_credits,
        claim_place=claim_place,
        claim_days=definition.terms.claim_days,
    )
    return PrintedTicket.from_json(
        {**unsigned_ticket.to_json(), "control_number": compute_control_number(unsigned_ticket, key)}
    )


def compute_control_number(printed_ticket: PrintedTicket, key: bytes) -> str:
    """Return the number that proves a Keno ticket: 18 digits and two check digits.

    The digits are HMAC-SHA-256 of all the data on the ticket, modulo 10^18; the check digits are ISO/IEC 7064
    MOD 97-10, which detects every single wrong digit and every exchange of two neighbours.
    """
    canonical_json = json.dumps(
        {**printed_ticket.to_json(), "control_number": ""}, sort_keys=True, separators=(",", ":")
    )
    digest = hmac.new(key, canonical_json.encode(), hashlib.sha256).digest()
    proof_digits = int.from_bytes(digest) % 10**18
    return f"{proof_digits:018d}{98 - proof_digits * 100 % 97:02d}"


def is_well_formed_control_number(control_number: str) -> bool:
    """Return whether a Keno control number, as read or typed, has the right form and check digits."""
    return (
        len(control_number) == 20
        and control_number.isascii()
        and control_number.isdecimal()
        and int(control_number) % 97 == 1
    )


def is_same_control_number(control_number: str, other_control_number: str) -> bool:
    """Return whether two Keno control numbers are equal; the time taken does not show where they differ."""
    return hmac.compare_digest(control_number.encode(), other_control_number.encode())


def list_ticket_lines(
    definition: KenoDefinition,
    printed_ticket: PrintedTicket,
    language: str,
    format_money: Callable[[int], str],
) -> list[tuple[TicketLine, str, str]]:
    """Return a printed Keno ticket as (line, label, text), top to bottom. ``format_money`` formats credits."""
    line_texts: list[tuple[TicketLine, str]] = [
        (TicketLine.NUMBER, f"{printed_ticket.casino} {printed_ticket.ticket_number:09d}"),
        (TicketLine.STATION, printed_ticket.station),
        (TicketLine.ISSUED, f"{printed_ticket.issued_at.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC"),
    ]
    for selection in printed_ticket.selections:
        groups = selection["groups"]
        line_texts.append((TicketLine.SELECTION, " / ".join(" ".join(f"{n:02d}" for n in g) for g in groups)))
        stake_texts = [
            _SPOTS_TEXT[language].format(spots=s, stake=format_money(stake))
            for s, stake in selection["stakes"].items()
        ]
        line_texts.append((TicketLine.STAKE, ", ".join(stake_texts)))
    name_by_bonus_id = {b.id: b.name.model_dump()[language] for b in definition.bonuses}
    line_texts += [(TicketLine.BONUS, name_by_bonus_id[b]) for b in printed_ticket.bonus_ids]
    line_texts.append((TicketLine.TOTAL, format_money(printed_ticket.cost_credits)))
    line_texts.append((TicketLine.DRAWS, _format_draw_runs(printed_ticket.draw_numbers)))
    paid_max_credits = printed_ticket.prize_limit_credits
    line_texts.append(
        (
            TicketLine.PAID_MAX,
            _NO_LIMIT_TEXT[language] if paid_max_credits is None else format_money(paid_max_credits),
        )
    )
    claim_place_text = (
        definition.terms.claim_at.model_dump()[language] if definition.terms else printed_ticket.claim_place
    )
    line_texts.append(
        (
            TicketLine.CLAIM,
            _CLAIM_TEXT[language].format(days=printed_ticket.claim_days, place=claim_place_text),
        )
    )
    control_number = printed_ticket.control_number
    line_texts.append(
        (TicketLine.CONTROL, " ".join(control_number[i : i + 4] for i in range(0, len(control_number), 4)))
    )
    return [(line, LINE_LABELS[line][language], text) for line, text in line_texts]


def _format_draw_runs(draws: Sequence[int]) -> str:
    """Return Keno draw numbers as text, with consecutive ones as first-last."""
    draw_ranges: list[list[int]] = []
    for n in draws:
        if draw_ranges and n == draw_ranges[-1][1] + 1:
            draw_ranges[-1][1] = n
        else:
            draw_ranges.append([n, n])
    return ", ".join(str(a) if a == b else f"{a}-{b}" for a, b in draw_ranges)


def build_slip(definition: KenoDefinition) -> dict[str, Json]:
    """Return what the Keno selection slip and the point of sale must show (ss. 76, 77), as JSON data."""
    spots = sorted(t.spot_count for t in definition.pay_tables)
    return {
        "spots": spots,
        "fewest_spots": spots[0],
        "most_spots": spots[-1],
        "most_paid_a_draw_credits": definition.prize_limit_credits,
        "rules_at": definition.terms.rules_at.model_dump() if definition.terms else None,
        "rules": definition.game.help.model_dump(),
        "prizes": {
            str(t.spot_count): {str(c): p for c, p in sorted(t.pay_by_catch.items())}
            for t in definition.pay_tables
        },
    }


def format_slip_form(
    definition: KenoDefinition, language: str, format_money: Callable[[int], str], selection_count: int = 1
) -> str:
    """Return the Keno selection slip as a printable page: the text that s. 77 requires, and boxes to mark.

    ``format_money`` formats an amount of credits; the page has room for ``selection_count`` selections.
    """
    slip_data, slip_texts = build_slip(definition), SLIP_TEXTS[language]
    paid_max_credits, rules_at = slip_data["most_paid_a_draw_credits"], slip_data["rules_at"]
    colon = slip_texts["colon"]
    header = [
        f"{definition.game.title.model_dump()[language]}  {definition.game.version}",
        slip_texts["mark"].format(least=slip_data["fewest_spots"], most=slip_data["most_spots"]),
        (
            f"{LINE_LABELS[TicketLine.PAID_MAX][language]}{colon}"
            f"{_NO_LIMIT_TEXT[language] if paid_max_credits is None else format_money(paid_max_credits)}"
        ),
        f"{slip_texts['rules']}{colon}{(slip_data['rules'] if rules_at is None else rules_at)[language]}",
    ]
    boxes = [f"[ ] {number:02d}" for number in range(1, definition.field.number_count + 1)]
    columns, ticket_limits = definition.field.column_count, definition.ticket_limits
    rows = ["  ".join(boxes[i : i + columns]) for i in range(0, len(boxes), columns)]
    stakes = "  ".join(f"[ ] {stake}" for stake in ticket_limits.stake_options)
    cards = [
        "\n".join(
            [
                f"{LINE_LABELS[TicketLine.SELECTION][language]} {number}  [ ] {slip_texts['pick']}",
                *rows,
                f"{LINE_LABELS[TicketLine.STAKE][language]}{colon}{stakes}",
            ]
        )
        for number in range(1, selection_count + 1)
    ]
    choice_lines = (
        [f"{LINE_LABELS[TicketLine.DRAWS][language]} (1-{ticket_limits.draws_max}){colon}____"]
        if ticket_limits.draws_max > 1
        else []
    )
    names = (bonus.name.model_dump()[language] for bonus in definition.bonuses)
    choice_lines += [f"[ ] {LINE_LABELS[TicketLine.BONUS][language]}{colon}{name}" for name in names]
    return "\n\n".join(["\n".join(header), *cards, "\n".join(choice_lines)]) + "\n"
