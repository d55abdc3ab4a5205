"""If the memory fails during operation, the machine prints the error in plain words and restarts."""

import asyncio
from pathlib import Path

import pytest

from egm.app import __main__ as process
from egm.config.cabinet_file import StateFolder, load_cabinet
from egm.errors import InvariantError, RestartRequested
from egm.record_codec import RecordError
from egm.testing.machine import StoppedClock
from egm.tickets.errors import TicketLedgerDamaged, TicketLedgerUnwritable
from meters import JournalDamaged, JournalError


def list_subclasses(family):
    """Return a class and its subclasses, in an order that does not depend on the order of imports."""
    children = sorted(family.__subclasses__(), key=lambda child: child.__qualname__)
    return [family, *(kind for child in children for kind in list_subclasses(child))]


def build_error(kind, reason="the disk is gone"):
    return kind("a place", reason) if issubclass(kind, JournalDamaged) else kind(reason)


@pytest.fixture
def ends(tmp_path, monkeypatch):
    """Return a function that runs a machine of which one task raises the given error."""

    def run(error):
        class Ends:
            def __init__(self, *_, **__):
                pass

            async def run(self):
                async def fails():
                    raise error

                async with asyncio.TaskGroup() as outer:

                    async def work():
                        async with asyncio.TaskGroup() as inner:
                            inner.create_task(fails())

                    outer.create_task(work())

        monkeypatch.setattr(process, "MachineProcess", Ends)
        file = load_cabinet()
        return process._run_until_stopped(
            StateFolder(tmp_path), file, StoppedClock(), 0, Path(), requires_screen=False
        )

    return run


@pytest.mark.parametrize(
    "kind", [*list_subclasses(JournalError), TicketLedgerUnwritable, TicketLedgerDamaged]
)
def test_an_error_of_the_memory_is_printed_in_one_line_and_the_machine_restarts(ends, capsys, kind):
    assert ends(build_error(kind))
    output = capsys.readouterr().err
    assert "the disk is gone" in output
    assert "Traceback" not in output
    assert "ExceptionGroup" not in output
    assert len(output.splitlines()) == 1


def test_a_requested_restart_prints_nothing(ends, capsys):
    assert ends(RestartRequested())
    assert not capsys.readouterr().err


def test_a_record_that_cannot_be_read_stops_the_machine_until_a_clear(ends):
    with pytest.raises(JournalDamaged, match="the game of the record"):
        ends(RecordError("the game of the record"))


def test_an_internal_error_is_raised_unchanged(ends):
    with pytest.raises(ExceptionGroup):
        ends(InvariantError("ours"))
