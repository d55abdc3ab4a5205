"""Links: the lines of hosts and inspectors (SAS, GAT, Prometheus) and the screen's socket."""
