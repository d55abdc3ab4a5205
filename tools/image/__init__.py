"""The cabinet as an installable system: a Debian package with its user, its systemd units and its device names."""
