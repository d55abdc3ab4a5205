"""The state table of this machine: the rules of its features, added up."""

from typing import Final

from egm.cabinet.cabinet import Cabinet
from egm.cabinet.features import device_tests, host, integrity, machine, money, play, progressive, staff
from egm.cabinet.staff.forms import FORMS
from egm.errors import invariant
from egm.kernel.rules import Refusal, Rules

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
