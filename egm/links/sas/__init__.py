"""The SAS line, machine side: pure codec and channel, the line's own thread, and what the machine answers."""
