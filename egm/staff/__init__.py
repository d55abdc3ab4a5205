"""Staff work at the machine and its records: forms, sign-in, interventions, registers, slips, the service menu.

:mod:`~egm.staff.forms` lists the forms. Each other module has the guards and effects of its state-table rules.
The pages are in :mod:`egm.staff.service`.
"""
