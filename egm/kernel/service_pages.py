"""Service pages on their way to the screen: any page in one shape, drawn generically.

The machine makes each page whole, from its memory; the screen draws title, tables, actions and the one
prompt, and knows none of them by name. The attendant's answer comes back as an
:class:`~egm.kernel.messages.Intent` ``answer``: ``value`` is the id of the action touched, ``options`` hold
``page`` (the page answered) and, where the page has a prompt, ``input`` (what was typed). Everything a page
says is a catalogue key with its values, or a datum with its form; so every page exists in every language.
"""

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict


class _Part(BaseModel):
    model_config = ConfigDict(defer_build=True, frozen=True, extra="forbid", strict=True)


class Words(_Part):
    """One text, cell or label.

    ``say``: ``value`` is a catalogue key, ``values`` what stands in its braces (a value named ``x_cents`` is
    money, shown as ``{x}``, as in notices). ``code``: a code of the machine's, in the words that the section
    of the catalogue named by ``of`` in ``values`` has for it, else as it stands. ``plain``: as it stands
    (serials, digests, a person's name). ``money``: minor units; amounts in ``values`` stand beside it.
    ``number``: a count. ``moment``: ISO 8601 UTC, shown in the place's own time. ``local``: a text each
    language brings itself, in ``values`` by language code (a game's name). ``list``: several catalogue keys,
    the ``values``, with ``value`` between them.
    """

    kind: Literal["say", "code", "plain", "money", "number", "moment", "local", "list"] = "say"
    value: int | str = ""
    values: dict[str, int | str] = {}


class Action(_Part):
    """Something the attendant may touch; ``id`` comes back as the answer's ``value``.

    ``back`` leaves the page, ``go`` opens another, ``confirm`` sends the prompt or acts, ``danger`` acts and
    cannot be undone. An action that is not ``enabled`` is shown grey, with the reason in the page's notice.
    """

    id: str
    label: Words
    style: Literal["go", "confirm", "danger", "back"] = "go"
    enabled: bool = True


class Row(_Part):
    """One line of a table. With an ``action`` the whole line may be touched."""

    cells: tuple[Words, ...]
    action: str = ""
    mark: Literal["", "good", "warning", "alarm"] = ""
    """Said by a sign as well as by colour."""


class Table(_Part):
    """Lines of as many cells as there are columns; without column titles a plain list of pairs.

    The screen pages through what does not fit; numbers and money stand right-aligned.
    """

    title: Words | None = None
    columns: tuple[Words, ...] = ()
    rows: tuple[Row, ...] = ()


class Prompt(_Part):
    """The one thing a page asks.

    ``pin``: digits, shown as dots and kept nowhere. ``digits``: a number as typed. ``amount``: minor units.
    ``text``: letters, from a keyboard on the screen. ``serial``: of them only what a serial number may have,
    capital letters, digits and hyphens. ``find``: letters that choose which rows of the page's
    tables are shown; nothing is sent but the row touched. ``choice``: one of ``choices``, whose ``id`` is the
    input; drawn as touchable lines. ``value`` is what stands there at first.
    """

    label: Words
    kind: Literal["pin", "digits", "amount", "text", "serial", "find", "choice"]
    value: str = ""
    length_max: int = 64
    choices: tuple[Action, ...] = ()
    confirm: Words = Words(value="service.confirm")
    """What the key that sends the input says; it answers with the action ``enter``."""


class Replay(_Part):
    """A game as it was recorded, to be drawn under a clear RECALL mark: nothing is drawn by chance again.

    ``step`` counts from 1 to ``steps``; each is either a question the game asked (``asked``: its kind, with
    the options and, in ``answer``, what the player chose, said in ``answered``) or the outcome (``asked``
    empty). ``display`` is what the family's evaluation returned for that step, as in ``Play`` and
    ``Decision``. ``win_cents`` is None while the game is still open.
    """

    play_id: str
    game_id: str
    game_version: str
    time_utc: str
    denomination_cents: int
    bet_credits: int
    bet_wager: dict[str, object] = {}
    credit_before_cents: int
    win_credits: int | None
    win_cents: int | None
    step: int
    steps: int
    asked: str = ""
    options: tuple[int | str, ...] = ()
    answer: int | str | None = None
    answered: Words | None = None
    display: dict[str, Any]


class ServicePage(_Part):
    """One page of the service menu, complete. It covers whatever the machine would show else.

    ``id`` is that of this page at this moment; an answer to another is not heard. ``person`` is who is signed
    in (name and role), None before. ``test`` marks a page that works devices: the screen shows a clear TEST
    mark, and with ``pattern`` runs its own part (colour bars, touch targets, tones). ``calibrate`` shows the
    crosses of :mod:`egm.kernel.touch`; its answer ``crosses`` has as ``input`` where each touch was felt.
    """

    id: str
    title: Words
    depth: int = 0
    """Counted from the first page, 1: whoever comes back to a page finds its rows where they were."""
    person: Words | None = None
    notice: Words | None = None
    """What the last answer led to, or why it was refused."""
    notice_severity: Literal["info", "warning", "alarm"] = "info"
    unconfirmed: bool = False
    """Leaving loses entries of a form, and the page has not yet said so."""
    tables: tuple[Table, ...] = ()
    prompt: Prompt | None = None
    actions: tuple[Action, ...] = ()
    replay: Replay | None = None
    test: bool = False
    pattern: Literal["", "display", "touch", "calibrate", "sound"] = ""

    @property
    def only_confirmation(self) -> Action | None:
        """The page's confirmation where nothing is asked and all else is to leave: Enter is enough for it."""
        if self.prompt is not None or [each.style for each in self.actions] != ["back", "confirm"]:
            return None
        confirm = self.actions[1]
        return confirm if confirm.enabled else None
