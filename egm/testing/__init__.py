"""The machine on a clock that jumps, on cables in memory, with people and hosts at it: for tests, and public.

* :mod:`~egm.testing.machine` is the machine without its process, :mod:`~egm.testing.service_menu` its staff;
* :mod:`~egm.testing.jumping_loop` is a loop on which an hour takes no time, :mod:`~egm.testing.cable` a line;
* :mod:`~egm.testing.device` tries a driver on its twin, :mod:`~egm.testing.crash` kills it as it records;
* :mod:`~egm.testing.sas` is one host's channel, :mod:`~egm.testing.controller` a controller of linked levels,
  :mod:`~egm.testing.clearing` an authorised clear.

A twin stays beside its driver in :mod:`egm.devices`. Nothing of this is installed with a machine.
"""
