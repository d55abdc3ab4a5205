"""Service pages sent to the screen: every page has the same structure and is drawn generically.

The machine builds each page completely, from its memory. The screen draws title, tables, actions and at most
one prompt, and knows no page by name. The attendant's reply is an :class:`~egm.kernel.messages.Intent`
``answer``: ``value`` is the id of the action touched, ``options`` hold ``page`` (the page replied to) and, if
the page has a prompt, ``input`` (the text entered). All text on a page is a catalogue key with values, or
typed data, so that every page exists in every language.
"""

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict


class _PageModel(BaseModel):
    """Base class of the parts of a service page; an unknown field is refused."""

    model_config = ConfigDict(defer_build=True, frozen=True, extra="forbid", strict=True)


class PageText(_PageModel):
    """One text of a service page (a label, a table cell or a sentence).

    ``kind`` says how ``value`` is shown:
    * ``text``: a catalogue key; ``values`` replace its placeholders (a value named ``x_cents`` is money, shown
      as ``{x}``, as in notices).
    * ``code``: a code of the machine, translated by the catalogue section that ``of`` in ``values`` names, or
      shown unchanged if the section lacks it.
    * ``plain``: shown unchanged (serials, digests, names of persons).
    * ``money``: minor units; amounts in ``values`` are shown beside it.
    * ``number``: a count.
    * ``moment``: ISO 8601 UTC, shown in the venue's time zone.
    * ``local``: ``values`` has the text (such as a game's name) by language code.
    * ``list``: the texts of the catalogue keys in ``values``, separated by ``value``.
    """

    kind: Literal["text", "code", "plain", "money", "number", "moment", "local", "list"] = "text"
    value: int | str = ""
    values: dict[str, int | str] = {}


class PageAction(_PageModel):
    """A button of a service page; when it is touched, its ``id`` is returned as the answer's ``value``.

    Of the styles, ``back`` leaves the page, ``go`` opens another page, ``confirm`` sends the prompt or acts,
    ``danger`` acts and cannot be undone. A disabled action is drawn grey, and the page's notice gives the
    reason.
    """

    id: str
    label: PageText
    style: Literal["go", "confirm", "danger", "back"] = "go"
    enabled: bool = True


class PageRow(_PageModel):
    """One line of a table on a service page. With an ``action`` the whole line is touchable."""

    cells: tuple[PageText, ...]
    action: str = ""
    icon: Literal["", "good", "warning", "alarm"] = ""
    """The symbol before the row's text: an alarm and a warning differ in shape as well as in colour."""


class PageTable(_PageModel):
    """A table on a service page.

    Each line has one cell per column. Without column titles the table is a plain list of pairs. The screen
    splits a long table into pages; numbers and money are right-aligned.
    """

    title: PageText | None = None
    columns: tuple[PageText, ...] = ()
    rows: tuple[PageRow, ...] = ()


class Prompt(_PageModel):
    """The single input field of a service page; ``kind`` is the kind of input.

    ``pin``: digits, shown as dots and never stored. ``digits``: a number as typed. ``amount``: minor units.
    ``text``: letters, from an on-screen keyboard. ``serial``: capital letters, digits and hyphens only.
    ``search``: letters that filter the rows of the page's tables; only the touched row is sent. ``choice``: one
    of ``choices``, drawn as touchable lines; its ``id`` is the input. ``value`` is the initial input.
    """

    label: PageText
    kind: Literal["pin", "digits", "amount", "text", "serial", "search", "choice"]
    value: str = ""
    length_max: int = 64
    choices: tuple[PageAction, ...] = ()
    confirm: PageText = PageText(value="service.confirm")
    """The label of the key that submits the input; the reply's action is then ``enter``."""


class Replay(_PageModel):
    """One step of a recorded game, to be drawn under a clear RECALL mark, without any new random numbers.

    ``step`` counts from 1 to ``steps``. A step is either a decision or the outcome. For a decision,
    ``decision_kind`` is its kind, ``options`` what could be chosen, ``answer`` the player's choice and
    ``answered`` its text; for the outcome, ``decision_kind`` is empty. ``display`` is the data for drawing that
    step, as in :class:`~egm.kernel.messages.GameOutcome` and :class:`~egm.kernel.messages.DecisionRequest`.
    ``paid_cents``: None while the game is open.
    """

    play_id: str
    game_id: str
    game_version: str
    time_utc: str
    denomination_cents: int
    bet_credits: int
    bet_wager: dict[str, object] = {}
    credit_before_cents: int
    returned_credits: int | None
    paid_cents: int | None
    step: int
    steps: int
    decision_kind: str = ""
    options: tuple[int | str, ...] = ()
    answer: int | str | None = None
    answered: PageText | None = None
    display: dict[str, Any]


class ServicePage(_PageModel):
    """One complete page of the service menu. It covers everything else on the screen.

    ``id`` identifies this page at this moment (a menu page leaves it empty, and the service desk sets it);
    replies to any other page are ignored. ``person`` is the signed-in person (name and role), None before
    sign-in. ``test`` marks a page that operates devices: the screen shows a clear TEST mark, and with
    ``pattern`` runs its own test (colour bars, touch targets, tones). With the pattern ``calibrate`` it shows
    the crosses of :mod:`egm.kernel.touch`; the reply ``crosses`` has the points touched as ``input``.
    """

    id: str
    title: PageText
    depth: int = 0
    """The depth in the menu, 1 for the first page.

    When the person returns to a page, the screen restores the page's scroll position.
    """
    person: PageText | None = None
    notice: PageText | None = None
    """The result of the last reply to a page, or the reason why it was refused."""
    notice_severity: Literal["info", "warning", "alarm"] = "info"
    unconfirmed: bool = False
    """Whether leaving the page would discard form entries and the person was not warned of that yet."""
    tables: tuple[PageTable, ...] = ()
    prompt: Prompt | None = None
    actions: tuple[PageAction, ...] = ()
    replay: Replay | None = None
    test: bool = False
    pattern: Literal["", "display", "touch", "calibrate", "sound"] = ""

    @property
    def only_confirmation(self) -> PageAction | None:
        """Return the page's confirm action if the Enter key may confirm, because there is no other way forward.

        Return None if the page has a prompt, other actions, or a disabled confirm action.
        """
        if self.prompt is not None or [action.style for action in self.actions] != ["back", "confirm"]:
            return None
        confirm = self.actions[1]
        return confirm if confirm.enabled else None
