"""What the staff may do at the machine, and the books they keep: forms, rulings, interventions, registers.

Each module has the guards and effects of its rules; :mod:`~egm.staff.forms` is the
table of what may be filled in. The pages that show them are in :mod:`egm.staff.service`.
"""
