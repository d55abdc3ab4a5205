"""Programs for a venue's servers: the controller of linked levels, the register of machines, the Keno office."""
