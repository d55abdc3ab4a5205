"""What people run beside the machine: the ``egm`` command, audit, laboratory, floor, developers' tools."""
