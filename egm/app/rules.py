"""The state table of this machine: the rules of its features, added up."""

from typing import Final

from egm.app import machine_rules as machine
from egm.errors import invariant
from egm.integrity import rules as integrity
from egm.kernel.machine import Cabinet
from egm.kernel.rules import Refusal, Rules
from egm.money import rules as money
from egm.money.host import rules as host
from egm.play import rules as play
from egm.progressive import rules as progressive
from egm.staff import device_test_rules as device_tests
from egm.staff import rules as staff
from egm.staff.forms import FORMS

#: In the order in which they are tried: tests before the real thing, a failed generator before a call for
#: service, an award before a host's order, a host before the machine's own ways out.
RULES: Final[Rules[Cabinet]] = Rules(
    (
        *device_tests.RULES,
        *integrity.RULES,
        *staff.RULES,
        *progressive.RULES,
        *host.RULES,
        *money.RULES,
        *play.RULES,
        *machine.RULES,
    )
)
for _form in FORMS:
    invariant(
        RULES.refusal(_form.event) is Refusal.TELL or RULES.always_takes(_form.event),
        f"the form {_form.id} could be refused in silence",
    )
