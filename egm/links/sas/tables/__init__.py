"""The vocabulary of SAS as data: polls, exceptions and meters, each with its confidence; and denominations."""
