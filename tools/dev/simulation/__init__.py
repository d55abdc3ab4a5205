"""Simulation of a whole house in one process, on one virtual time, from one seed.

The machine is the one that ships, composed as :mod:`egm.app` composes it; only what stands around it is
replaced: its media forget what was not synced (:mod:`egm.testing.forgetful`), its devices are the twins on
cables in memory, its clock and loop jump, and every random byte is the seed's.

* :mod:`~tools.dev.simulation.house` is what a seed makes of the cabinet: positions, devices, games, place;
* :mod:`~tools.dev.simulation.world` is that cabinet, its power, and hands on its devices;
* :mod:`~tools.dev.simulation.player` is a person before a screen, and :mod:`~tools.dev.simulation.actions`
  everything that persons do and that goes wrong, each action with a seed of its own;
* :mod:`~tools.dev.simulation.clears` clears the memory of the machine while it is off, and
  :mod:`~tools.dev.simulation.upkeep` updates, signs and loses its cabinet file;
* :mod:`~tools.dev.simulation.history` reads what each journal says, before a clear and at the end;
* :mod:`~tools.dev.simulation.oracle` keeps books of its own and holds the machine against them;
* :mod:`~tools.dev.simulation.campaign` runs a script of actions, and :mod:`~tools.dev.simulation.shrink`
  makes one that fails as short as it can.
"""
