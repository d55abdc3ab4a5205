"""The example of a tournament's rules file, changed copies of it, and a machine used for the tournament."""

from dataclasses import replace
from datetime import UTC, datetime

from egm.app.features import SERVICE_MENU
from egm.features.tournament.example import EXAMPLE_RULES_FILE
from egm.features.tournament.installed import RULES_FILE_NAME, RulesFile
from egm.features.tournament.rules import parse_rules
from egm.kernel.events import EventType, State
from egm.kernel.positions import Position
from egm.play.keys import PlayKey
from egm.testing.machine import MachineRig
from meters import open_view
from tools.audit.games import GameFiles
from tools.audit.verify import Auditor

RULES = EXAMPLE_RULES_FILE.read_text(encoding="utf-8")


def change_rules(*changes: tuple[str, str]) -> str:
    """Return the rules with the first occurrence of each text replaced; each must occur."""
    text = RULES
    for old, new in changes:
        assert old in text, old
        text = text.replace(old, new, 1)
    return text


#: The noon of the tournament's day at a venue in UTC; registration closes at 18:30, and play starts at 19:00.
DAY = datetime(2027, 3, 8, 12, tzinfo=UTC)
#: Entries of staff: an attendant, and a manager.
ATTENDANT = {"person": "1", "persons": ("1",)}
MANAGER = {"person": "5", "persons": ("5",)}
FEE_CENTS = 5000


def describe_machine(*changes, game="maple-classic", denomination_cents=5, bet=3):
    """Return rules in which machine 7 has this game, denomination and wager, with further ``changes``."""
    machine = (
        ("A-101", "7"),
        ("denomination_cents = 100", f"denomination_cents = {denomination_cents}"),
        ("denomination_cents = 100", f"denomination_cents = {denomination_cents}"),
        ("bet = 3", f"bet = {bet}"),
        ("bet = 3", f"bet = {bet}"),
        ('game = "maple-classic"', f'game = "{game}"'),
    )
    return change_rules(*machine, *changes)


def place_rules(folder, text):
    """Write a rules file, and return where a machine finds it."""
    path = folder / RULES_FILE_NAME
    path.write_text(text, encoding="utf-8")
    return RulesFile(path)


class Hall:
    """A machine used for tournaments, of one position or several, and its staff."""

    def __init__(
        self, folder, rules=None, *, games=("maple-classic",), count=1, wall=DAY, number="7", **options
    ):
        self.folder, self.file = folder, folder / "machine"
        self.file.mkdir(exist_ok=True)
        self.games, self.count, self.options = games, count, options
        self.rules = place_rules(folder, describe_machine() if rules is None else rules)
        self.rooms, self.number = [], number
        self.start(wall)

    def start(self, wall=None):
        """Switch the machine on with all its positions, for the first time or again."""
        wall = self.rooms[0].clock.wall if wall is None else wall
        self.rooms = []
        for number in range(1, self.count + 1):
            room = MachineRig(
                self.file,
                games=self.games,
                position=Position(number, self.count),
                first_rig=self.rooms[0] if self.rooms else None,
                wall_time=wall,
                **self.options,
            )
            room.machine.install(self.rules)
            room.machine.identity = replace(room.machine.identity, operator_number=self.number)
            self.rooms.append(room)
        for room in self.rooms:
            room.boot()
        return self

    @property
    def room(self):
        """Return the first position."""
        return self.rooms[0]

    def fill(self, form_id, room=None, by=MANAGER, **values):
        """Fill in a form at a position as staff; return the reason for a refusal, or None."""
        room = room or self.room
        room.engine.handle(EventType.OPEN_SERVICE_MENU, key="operator")
        event = next(form.event for form in SERVICE_MENU.forms if form.id == form_id)
        room.engine.handle(event, form=form_id, **by, **values)
        refusal = room.notice
        room.engine.handle(EventType.SERVICE_MENU_CLOSED, why="key")
        for other in self.rooms:
            other.engine.update_state()
        return refusal

    def enter(self):
        """Install the rules and enter the tournament."""
        assert self.fill("tournament_rules") is None
        assert self.fill("tournament_enter") is None
        assert {room.state for room in self.rooms} == {State.TOURNAMENT}
        return self

    def open_play(self):
        """Advance the clock to the start of play."""
        rules = parse_rules(self.rules.read())
        seconds = (rules.starts_at.replace(tzinfo=UTC) - self.room.clock.wall).total_seconds()
        self.room.clock.pass_seconds(max(0, seconds))
        return self

    def sell(self, entry, participant, room=None, by=ATTENDANT, fee_cents=FEE_CENTS, start="here"):
        """Sell an entry as an attendant; return the reason for a refusal, or None."""
        sold = {"entry": entry, "participant": participant, "fee_cents": fee_cents, "start": start}
        return self.fill("tournament_entry", room, by, **sold)

    def begin(self, entry, participant, number, room=None):
        """Give an entry the points of a round as an attendant; return the reason for a refusal, or None."""
        return self.fill(
            "tournament_round", room, ATTENDANT, entry=entry, participant=participant, round=number
        )

    def end(self, status, room=None, reason="as seen on the floor"):
        """End the round of a position as staff; return the reason for a refusal, or None."""
        return self.fill("tournament_round_end", room, MANAGER, status=status, reason=reason)

    def play_round(self, room=None, games=1000):
        """Play until the round ends, or play ``games`` games; return the purse."""
        room = room or self.room
        for _ in range(games):
            if read_purse(room)["ending"]:
                break
            room.play()
            assert room.state is State.PLAYING, room.notice
            room.report_shown()
        return read_purse(room)

    def cut_power(self):
        """Cut the power and switch the machine on again; finish the display of an open game."""
        self.room.lose_power()
        self.room.journal.close()
        self.start()
        for room in self.rooms:
            if room.state is State.PLAYING:
                room.report_shown()
        return self

    def audit(self):
        """Switch the machine off; return the findings of an audit."""
        self.room.journal.self_audit()
        self.room.close()
        with open_view(self.file) as view:
            return Auditor(GameFiles()).audit_entries(view.iter_bodies()).findings


def read_purse(room):
    """Return the stored purse of a position."""
    return {"ending": "", "won_points": 0, "games": 0, **room.machine.memory.get(PlayKey.TOURNAMENT_ROUND)}
