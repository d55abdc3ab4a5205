"""An independent host polls the machine over a pseudo-terminal: sas_comm_py from PyPI.

Its constructor calls a method that it does not have, and it has no general poll; both are added here. It has no
wakeup bit (it sends 80 before each poll), and therefore needs a lenient line.
"""

import pytest
import sas_comm_py
from sas_cabin import Cabin, wait_for


class OutsideHost(sas_comm_py.SlotMachine):
    """The library's host, with the missing methods."""

    def get_serial_number(self):
        """Send poll 54, which the constructor needs."""
        answer = self.write_type_R(0x54, following_length=True)
        length, *text = (int(byte, 16) for byte in answer.data)
        assert length == len(text)
        return bytes(text[3:]).decode("ascii")

    def general(self):
        """Send a general poll, which the library does not have."""
        self.port.write(bytes((0x80 | self.address,)))
        return self.port.read(1)


@pytest.fixture(scope="module")
def cabin(tmp_path_factory):
    channels = {"main": {"framing": "lenient", "chirp": False}}
    with Cabin(tmp_path_factory.mktemp("outside"), channels) as cabin:
        yield cabin


@pytest.fixture(scope="module")
def host(cabin):
    """One host for all tests: it requests a parity that no pseudo-terminal has, which the kernel permits only once."""
    port = cabin.folder.run_folder / "sas" / "main"
    host = OutsideHost(str(port), address=1, wakeup_bit=0x80)
    yield host
    host.port.close()


def number(answer):
    """Return the BCD value in a reply."""
    return int("".join(answer.data))


def test_the_client_reads_the_machines_serial_number(host):
    assert host.serial_number == "SAS-1"


def test_the_client_disables_and_enables_the_machine(cabin, host):
    assert host.write(0x01, poll_type="S", response_type="ack_nack").ack_nack == b"\x01"
    cabin.player.wait_until_shown(state="out_of_service")
    assert host.write(0x02, poll_type="S", response_type="ack_nack").ack_nack == b"\x01"
    cabin.player.wait_until_shown(state="idle")


def test_the_client_reads_meters_and_receives_exceptions(cabin, host):
    cabin.insert_bill(1000)
    # One credit is one cent here. The screen may be updated a moment before the line.
    wait_for(lambda: number(host.write_type_R(0x1A, length_to_read=4)) == 1000, "the credits never came")
    assert number(host.write_type_R(0x20, length_to_read=4)) == 10
    assert number(host.write_type_R(0x46, length_to_read=4)) == 1000
    coin_in = number(host.write_type_R(0x11, length_to_read=4))
    cabin.player.play_games()
    wait_for(lambda: number(host.write_type_R(0x11, length_to_read=4)) > coin_in, "coin-in never rose")
    six = host.write_type_R(0x0F, length_to_read=24)
    assert len(six.data) == 24
    selected = host.write_type_M(0x2F, [0x00, 0x05], add_length_binary=True)
    assert len(bytes(int(byte, 16) for byte in selected.data)) == 2 + 2 * 5
    codes = set()

    def takes_the_next():
        codes.add(host.general()[0])
        host.port.write(b"\x80")
        return codes & {0x49, 0x4F}  # ten dollars, or a bill without its own code

    wait_for(takes_the_next, lambda: f"no exception of the bill: {codes}")
