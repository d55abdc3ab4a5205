"""The vocabulary of SAS as data: polls, exceptions, meters, denominations, each row with its confidence."""
