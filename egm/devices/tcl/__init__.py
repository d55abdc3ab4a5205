"""Ticket printers that take template commands (FutureLogic's TCL style)."""
