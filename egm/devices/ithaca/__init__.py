"""Ticket printers driven line by line (TransAct Ithaca's ESC style)."""
