"""If a port is in use, the command reports its number and the option that changes it."""

import socket

import click
import pytest

from egm.errors import OperatorError
from tools.cli.commands.progressive import _create_exporter
from tools.cli.commands.run import _open_browser_sockets
from tools.floor.progressive.controller_metrics import ControllerMetrics


@pytest.fixture
def taken():
    with socket.create_server(("127.0.0.1", 0)) as other:
        yield other.getsockname()[1]


def test_a_screen_port_in_use_is_reported_with_the_option_to_change_it(taken):
    with pytest.raises(click.ClickException) as raised:
        _open_browser_sockets("screen", taken)
    message = f"screen: port {taken} on 127.0.0.1: Address already in use; choose another with --port, or 0 for any free one"
    assert raised.value.message.startswith(message)


def test_a_metrics_port_in_use_is_reported_with_its_option(taken):
    with pytest.raises(OperatorError, match=f"--metrics: port {taken} of 127.0.0.1: Address already in use"):
        _create_exporter(ControllerMetrics(), taken)
