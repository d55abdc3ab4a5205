"""The independent audit: recompute the money and replay the games of a journal from its entries."""
