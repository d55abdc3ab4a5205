"""Test rigs, part of the public API: the machine on a simulated clock, in-memory lines, and simulated people and hosts.

* :mod:`~egm.testing.machine` is the machine without its process, :mod:`~egm.testing.service_menu` its staff;
* :mod:`~egm.testing.jumping_loop` is an event loop that skips waiting time, :mod:`~egm.testing.cable` a line;
* :mod:`~egm.testing.device` tests a driver on its simulated device;
* :mod:`~egm.testing.crash` kills the process as it writes a record, and the disks of :mod:`~egm.testing.forgetful`
  lose unsynced data at a power loss;
* :mod:`~egm.testing.admission` caches the admission of games;
* :mod:`~egm.testing.sas` is one host's channel, :mod:`~egm.testing.controller` a controller of linked levels,
  :mod:`~egm.testing.clearing` an authorised memory clear.

Simulated devices are beside their drivers in :mod:`egm.devices`. None of this is installed with a machine.
"""
