"""Verification that the software on this machine is the one its manufacturer signed.

A *manifest* lists every file of the software with its SHA-256 and is signed by the manufacturer (Ed25519); the
cabinet file contains the manufacturer's public key. The machine verifies the files at each start and again
after each door closes. For a check from outside, a verifier requests keyed signatures over GAT or with ``egm
signature``.

This check cannot prove itself: the platform below (a read-only medium, secure boot) must protect the
interpreter that runs it and the cabinet file that contains the key.
"""
