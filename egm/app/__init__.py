"""The machine process: composition of features, devices and screens, start-up, and supervision.

:mod:`~egm.app.features` lists the features; :mod:`~egm.app.process` opens the memory, tests the machine and
runs it; :mod:`~egm.app.player_position` is one player position at work; :mod:`~egm.app.first_start` creates a missing
cabinet file.
"""
