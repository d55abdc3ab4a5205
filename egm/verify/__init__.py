"""Whether the software on this machine is the one its manufacturer signed.

A *manifest* lists every file of the software with its SHA-256 and is signed by the manufacturer (Ed25519);
the cabinet file pins the manufacturer's public key. The machine verifies at each start and again after each
door closes; whoever wants to check from outside asks for keyed signatures over GAT or with ``egm signature``.

What this cannot be is its own root: the interpreter that runs it, and the cabinet file that pins the key, are
vouched for by the platform below (a read-only medium, secure boot), not by a program.
"""
