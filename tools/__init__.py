"""Tools for people: the ``egm`` command, audit, laboratory, floor and image, and the developers' tools."""
