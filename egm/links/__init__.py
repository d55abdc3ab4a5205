"""Links: the lines of hosts and inspectors (SAS, GAT, metrics), both ends of the screen's socket, and systemd."""
