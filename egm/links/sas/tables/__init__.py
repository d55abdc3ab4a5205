"""What SAS calls things, as data: polls, exceptions, meters, denominations, each row with its confidence."""
