"""Money: value in and out, hand-pays, tickets, and the host the money goes through."""
