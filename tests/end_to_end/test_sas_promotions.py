"""Promotional credit, bonuses and locks between the bench host and a whole machine in its own process."""

import signal

import pytest
from sas_cabin import Cabin

from meters import open_view

MONEY = '[host]\ntickets = "system"\ntransfers = true\nbonuses = true\nasset_number = 100\n'
AGES = 60.0


@pytest.fixture
def cabin(tmp_path):
    with Cabin(tmp_path, {"main": {}}, MONEY) as cabin:
        yield cabin


def until(host, condition):
    assert host.run_until(condition, AGES), list(host.received)


def transfer(host, way, cents=0, **options):
    """Order a transfer, follow it to its end, and check that it moved everything."""
    movement = host.transfers[host.order_transfer(way, cents, **options)]
    until(host, lambda: movement.state != "ordered")
    assert (movement.state, movement.moved_cents) == ("done", movement.total_cents)


def has_credits(cabin, restricted, nonrestricted, all_):
    """Wait until the screen shows these credits, because a host may receive them first."""
    cabin.player.wait_until_shown(
        state="idle", restricted_cents=restricted, nonrestricted_cents=nonrestricted, credit_cents=all_
    )


@pytest.mark.requirement("D-12", "F-03", "K-09")
def test_promotional_credit_is_played_first_and_transferred_out_as_itself(cabin):
    with cabin.host() as host:
        host.register()
        transfer(host, "in", 100, restricted_cents=40, nonrestricted_cents=20)
        has_credits(cabin, 40, 20, 160)
        cabin.player.play_games(1)
        cabin.player.wait_until_shown(state="idle", restricted_cents=35)
        cabin.stop(signal.SIGKILL)
        cabin.start()
    with cabin.host() as host:
        cabin.player.wait_until_shown(state="idle", restricted_cents=35)
        cabin.player.send_intent("cash_out")
        until(host, lambda: (now := cabin.player.snapshot) and now.credit_cents == 35 and now.state == "idle")
        transfer(host, "out", restricted_cents=35)
        has_credits(cabin, 0, 0, 0)
        transfer(host, "bonus", 250)
        has_credits(cabin, 0, 0, 250)
    with open_view(cabin.folder.root) as view:
        meters = view.meters().values
        view.self_audit()
    assert (meters["coin_in.restricted"], meters["coin_in"]) == (5, 5)
    assert meters["aft_in.promo_restricted.value"] == meters["aft_out.promo_restricted.value"] + 5
    assert meters["ticket_out.cashable.value"] == 120 + meters["coin_out"]
    assert (meters["bonus_in.cashable.value"], meters["credits"]) == (250, 250)


def test_a_host_lock_ends_at_its_timeout(cabin):
    with cabin.host() as host:
        host.register()
        cabin.insert_bill(500)
        host.read_values(0x74, {"code": 0x00, "condition": 1, "timeout": 100})
        seen = cabin.player.sequences
        until(host, lambda: any(shown.state == "locked" for shown in list(seen.values())))
        assert not any(
            "play" in shown.accepted_inputs for shown in list(seen.values()) if shown.state == "locked"
        )
        until(host, lambda: (now := cabin.player.snapshot) and now.state == "idle")
        cabin.player.play_games(1)
