"""The cabinet as an installable system: a Debian package, with its user, its units and its devices' names."""
