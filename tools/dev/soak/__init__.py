"""The soak: a whole cabinet lives through years of players, faults and power cuts in minutes.

The machine, its drivers and the simulated devices are the real ones, on an event loop whose time jumps from
one thing to the next. Everything random comes from one seed, so a run that finds something can be run again.
At the end everything is held against everything else: what the journal says, what lies in the boxes, what
the tickets in people's pockets are worth, and what the independent audit derives from the export.
"""
