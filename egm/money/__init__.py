"""Money: value in and out, hand-pays, tickets, and the host that authorises tickets and transfers."""
