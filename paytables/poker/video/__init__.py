"""The video poker family: five cards, a hold, a draw, for one hand or for many of the same deal."""
