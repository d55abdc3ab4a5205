"""Every journal that a machine of these tests writes is audited when the machine is switched off."""

from contextlib import suppress

import pytest

from egm.testing.machine import MachineRig
from meters.errors import JournalError
from tools.audit.entry_rules import UNDECLARED_KIND_ERROR
from tools.audit.games import GameFiles
from tools.audit.verify import Auditor


@pytest.fixture(autouse=True)
def _journals_pass_the_audit(request, monkeypatch):
    """Audit the journals of the machines that the test closes; a finding fails the test.

    Findings that no feature declares a kind of entry are ignored: tests write such entries themselves, for example
    ``test.fund``. A test that writes false entries of declared kinds has the mark ``not_audited``.
    """
    if request.node.get_closest_marker("not_audited"):
        yield
        return
    journals, close = [], MachineRig.close

    def close_and_read(rig):
        if rig.is_open and rig.first_rig is None:
            with suppress(JournalError):  # if the test has damaged the memory
                journals.append(list(rig.journal.iter_bodies()))
        close(rig)

    monkeypatch.setattr(MachineRig, "close", close_and_read)
    yield
    for bodies in journals:
        findings = Auditor(GameFiles()).audit_entries(bodies).findings
        assert [finding for finding in findings if UNDECLARED_KIND_ERROR not in finding.text] == []
