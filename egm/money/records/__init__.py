"""Stored records of money in progress, and the queries over them."""
