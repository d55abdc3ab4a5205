"""The socket between the machine and its screens: server, client, access tokens and start-up progress."""
