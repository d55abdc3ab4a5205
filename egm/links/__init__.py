"""Links: the lines of hosts and inspectors (SAS, GAT, Prometheus), the screen's socket, and systemd."""
