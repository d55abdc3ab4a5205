"""Stored records of money in progress, and the functions that read them."""
