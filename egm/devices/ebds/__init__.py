"""EBDS (MEI, PTI RS-232) bill acceptors."""
