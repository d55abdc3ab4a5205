"""A generator for laboratories, started as a cabinet starts it."""

import os
import time
from importlib.metadata import version

import rng


def start_laboratory_generator() -> rng.RandomService:
    """Return an RNG service like a cabinet's, personalised with the time instead of a boot counter."""
    return rng.RandomService.start(
        personalization=rng.Personalization(
            product="open-egm",
            version=version("open-egm"),
            machine_serial="laboratory",
            instance=os.getpid(),
            boot_counter=time.time_ns(),
        )
    )
