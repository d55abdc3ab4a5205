"""Certification: the check of a game against every rule of a jurisdiction, and the signed bundle of the evidence."""
