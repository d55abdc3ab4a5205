"""Staff work at the machine and its records: forms, sign-in, interventions, registers, slips, the service menu.

Each module has the guards and effects of its rules; :mod:`~egm.staff.forms` is the table of the forms. Their
pages are in :mod:`egm.staff.service`.
"""
