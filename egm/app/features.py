"""The features of this machine, added up: to add one, put its declaration into the tuple."""

from typing import Final

from egm.app.machine_rules import MACHINE
from egm.errors import invariant
from egm.integrity.feature import INTEGRITY
from egm.kernel.feature import Features
from egm.kernel.keys import Fate
from egm.kernel.rules import Refusal
from egm.links.feature import LINKS
from egm.memory_clear.claims import CLAIMS, WITH
from egm.money.feature import MONEY
from egm.money.host.feature import HOST
from egm.play.feature import PLAY
from egm.progressive.feature import PROGRESSIVE
from egm.staff.feature import DEVICE_TESTS, STAFF
from egm.staff.form import Form
from egm.staff.service.desk import Entry
from egm.staff.service.menu import Menu

#: In the order in which their rules are tried: tests before the real thing, a failed generator before a call
#: for service, an award before a host's order, a host before the machine's own ways out.
FEATURES: Final = Features((DEVICE_TESTS, INTEGRITY, STAFF, PROGRESSIVE, HOST, MONEY, PLAY, LINKS, MACHINE))
for _key in FEATURES.keys:
    invariant(
        _key.fate is not Fate.OWED or _key in CLAIMS or _key in WITH,
        f"the key {_key!r} is owed, and an authorised clear makes no claim of it",
    )
#: What the main menu of the staff offers.
MENU: Final = Menu(pages=FEATURES.offered(Entry), forms=FEATURES.offered(Form))
for _form in MENU.forms:
    invariant(
        FEATURES.rules.refusal(_form.event) is Refusal.TELL or FEATURES.rules.always_takes(_form.event),
        f"the form {_form.id} could be refused in silence",
    )
