"""Start machine processes for the kill test: real ones, forked after all imports.

It reads one command per line (``start``, ``start ticket`` or ``reap PID``) and answers with one line. ``start
ticket`` starts a machine that is killed between the record that a ticket is being printed and the first byte to the
printer. It runs as a separate process without threads, so that a fork is safe. Only the polling interval is changed,
so that more happens in a short run.
"""

import asyncio
import os
import signal
import sys
from pathlib import Path

from egm.app.__main__ import _run_until_signal
from egm.app.process import MachineProcess
from egm.clock import SystemClock
from egm.config.cabinet_file import StateFolder, load_cabinet
from egm.devices import printer_driver as printers
from egm.devices.cctalk.coin import CctalkCoinDriver
from egm.devices.id003 import driver as id003
from egm.devices.interface import PrintState


def run_machine(state: Path, cabinet: Path) -> None:
    folder = StateFolder(state)
    folder.create_private_folders()
    asyncio.run(_run_until_signal(MachineProcess(folder, load_cabinet(cabinet), SystemClock()).run()))


def die_before_printing() -> None:
    """Kill this process as soon as it has recorded that a ticket is being printed."""
    record = printers.PrinterDriver._record_state

    def record_and_die(driver, printing, state, *arguments):
        record(driver, printing, state, *arguments)
        if state is PrintState.PRINTING:
            os.kill(os.getpid(), signal.SIGKILL)

    printers.PrinterDriver._record_state = record_and_die


def main() -> None:
    state, cabinet, log = map(Path, sys.argv[1:])
    CctalkCoinDriver.poll_seconds = 0.01
    id003._IDLE_POLL_SECONDS = id003._BUSY_POLL_SECONDS = 0.01
    printers._IDLE_POLL_SECONDS = printers._POLL_SECONDS_WHILE_PRINTING = 0.01
    for line in sys.stdin:
        verb, *operands = line.split()
        if verb == "start":
            pid = os.fork()
            if pid == 0:
                os.dup2(os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT), 2)
                os.close(0)
                status = 1
                try:
                    if operands:
                        die_before_printing()
                    run_machine(state, cabinet)
                    status = 0
                except BaseException:  # noqa: BLE001 (a child must never return into the loop)
                    import traceback

                    traceback.print_exc()
                finally:
                    sys.stderr.flush()
                    os._exit(status)
            print(pid, flush=True)
        else:
            _, status = os.waitpid(int(operands[0]), 0)
            print(os.waitstatus_to_exitcode(status), flush=True)


if __name__ == "__main__":
    main()
