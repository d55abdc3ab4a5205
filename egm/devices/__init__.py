"""Peripherals: for each protocol a pure codec, a driver for the machine, and a simulated twin for the bench.

:mod:`egm.devices.interface` holds what the machine sees: one small interface a kind of device, and its
events. :mod:`egm.devices.catalogue` names every protocol with its driver, its twin and its line settings.
``python -m egm.app.bench`` runs the twins.
"""
