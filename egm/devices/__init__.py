"""Peripherals: for each protocol a codec, a driver for the machine, and a simulated device.

:mod:`egm.devices.interface` contains what the machine uses: one interface and its events for each kind of device.
:mod:`egm.devices.protocols` lists every protocol with its kind of device, its simulated device and its line settings.
``python -m egm.app.bench`` runs the simulated devices.
"""
