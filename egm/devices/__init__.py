"""Peripherals: for each protocol a codec, a driver for the machine, and a simulated device.

:mod:`egm.devices.interface` contains what the machine uses: one small interface per kind of device, and its
events. :mod:`egm.devices.catalogue` lists every protocol with its driver, its simulated device and its line
settings. ``python -m egm.app.bench`` runs the simulated devices.
"""
