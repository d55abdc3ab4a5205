"""Our bench host and our machine: two readings of the same tables, one line, real processes."""

from sas_cabin import Cabin

from tools.host.messages import Outcome


def test_the_host_finds_the_machine(tmp_path):
    with Cabin(tmp_path, {"main": {}}) as cabin, cabin.host() as host:
        assert host.known.serial == "SAS-1"
        assert host.answer_to(0x01).outcome is Outcome.ACK
        cabin.player.sees(state="out_of_service")
        assert host.answer_to(0x02).outcome is Outcome.ACK
        cabin.player.sees(state="idle")
