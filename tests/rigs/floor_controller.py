"""The real progressive controller, connected to a machine in memory; only its secrets are scripted."""

from egm.clock import SystemClock
from egm.testing.machine import ScriptedStep
from tools.floor.progressive.controller import Controller, ReceivedMessage
from tools.floor.progressive.mystery_secrets import MysterySecrets
from tools.floor.progressive.store import SqliteStore


class ScriptedGenerator:
    """A generator that returns the given secrets in order, each followed by the salt 7."""

    def __init__(self, *drawn):
        self.drawn = [number for value in drawn for number in (value, 7)]

    def step(self):
        return ScriptedStep(self.drawn)


class RealController:
    """A controller of the given levels; ``spoil`` may change its answers."""

    def __init__(self, folder, *definitions, drawn=()):
        self.store = SqliteStore(folder / "controller.db")
        self.real = Controller(
            self.store, SystemClock().now, MysterySecrets(bytes(32), lambda _: ScriptedGenerator(*drawn))
        )
        self.real.open_levels(definitions)
        self.real.admit_machine("TEST-1")
        self.spoil = lambda answer: answer

    def update_values(self):
        return self.real.update_values()

    def process_message(self, message):
        return [
            self.spoil(answer)
            for answer in self.real.process_messages([ReceivedMessage(message.machine, message)])
        ]

    @property
    def hits(self):
        return self.real.read_win_register()

    def close(self):
        self.real.verify_levels()
        self.store.close()
