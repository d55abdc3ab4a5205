"""Links: lines to hosts and inspectors (SAS, GAT, metrics), the socket between machine and screen, and systemd."""
