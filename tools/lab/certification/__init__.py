"""Certification: a game held against every rule of a jurisdiction, and the signed bundle of the evidence."""
