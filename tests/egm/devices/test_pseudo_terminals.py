"""A pseudo-terminal ignores the settings of a real port, but can be opened with them repeatedly."""

import os
import pty

import pytest

from egm.devices.line import LineSettings, open_port
from egm.devices.protocols import PROTOCOLS


@pytest.mark.parametrize("protocol", sorted(PROTOCOLS))
def test_every_protocols_line_opens_repeatedly_on_a_pseudo_terminal(protocol):
    master, slave = pty.openpty()
    try:
        for _ in range(3):
            open_port(os.ttyname(slave), PROTOCOLS[protocol].line_settings).close()
    finally:
        os.close(master)
        os.close(slave)


def test_a_line_opens_with_seven_bits_after_eight_and_eight_after_seven():
    master, slave = pty.openpty()
    try:
        for bits in (8, 7, 7, 8, 8):
            open_port(os.ttyname(slave), LineSettings(data_bits=bits, parity="E")).close()
    finally:
        os.close(master)
        os.close(slave)
