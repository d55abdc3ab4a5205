"""Tables of SAS: polls, exceptions and meters, each with how certain its row is, and denominations."""
