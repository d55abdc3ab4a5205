"""Run a progressive link under faults: simulated machines, a private broker and database, and the campaign."""
