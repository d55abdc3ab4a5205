"""What stands on a server of a floor: the controller of linked levels, the house's registers, monitoring."""
