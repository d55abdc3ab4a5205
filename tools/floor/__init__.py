"""The server programs of a gaming floor: the controller of linked levels, the venue's registers, monitoring."""
