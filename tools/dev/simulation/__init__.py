"""Simulation of a whole venue in one process, in virtual time, from one seed.

The machine is the product, composed as :mod:`egm.app` composes it; only its surroundings are replaced. Its media lose
what was not synced (:mod:`egm.testing.forgetful`), its devices are simulated and connected in memory, its clock and
loop are virtual, and every random byte comes from the seed.

* :mod:`~tools.dev.simulation.cabinet_setup` derives the cabinet from a seed: positions, devices, games, jurisdiction,
and for some seeds one table at which the players of all positions gather, as games between players need it;

* :mod:`~tools.dev.simulation.world` runs that cabinet: its power, and access to its devices;

* :mod:`~tools.dev.simulation.player` simulates a person at a screen, and :mod:`~tools.dev.simulation.actions` defines
everything that people do and that fails, each action with its own seed;

* :mod:`~tools.dev.simulation.clears` clears the memory of the machine while it is off, and
:mod:`~tools.dev.simulation.cabinet_file_work` updates, signs and loses its cabinet file;

* :mod:`~tools.dev.simulation.history` reads each journal, before a clear and at the end;

* :mod:`~tools.dev.host.host` is the host of its tickets and transfers, if it has one;

* :mod:`~tools.dev.simulation.oracle` keeps independent books and compares the machine with them, and
:mod:`~tools.dev.simulation.rounds` adds up the rounds that players play against each other;

* :mod:`~tools.dev.simulation.campaign` runs a script of actions, and :mod:`~tools.dev.simulation.shrinking` reduces one
that fails to a minimum.
"""
