"""A link under fault: simulated machines, a broker and a database of one's own, and the fault campaign."""
