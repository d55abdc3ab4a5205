"""What people run: the ``egm`` command line, certification, readout, audit, simulated hosts and devices."""
