"""Test rigs: the machine on a clock that jumps, on in-memory lines, with simulated people and hosts.

This package is public: tests of operator-supplied games and devices may use it. :mod:`~egm.testing.machine`
is the machine without its process, :mod:`~egm.testing.service_menu` its staff,
:mod:`~egm.testing.jumping_loop` an event loop on which an hour takes no time, :mod:`~egm.testing.cable` a
line. :mod:`~egm.testing.device` runs a driver on its twin, :mod:`~egm.testing.crash` kills it while it
records. :mod:`~egm.testing.sas` is one host's channel, :mod:`~egm.testing.controller` a controller of linked
levels, :mod:`~egm.testing.clearing` an authorised memory clear.

A device's twin is next to its driver in :mod:`egm.devices`. Nothing of this package is installed on a
machine.
"""
