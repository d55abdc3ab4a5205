"""Jurisdictions as data: every rule that differs by jurisdiction is a value in a TOML profile, never an ``if``."""

from egm.profiles.profile import Profile, available, load_profile

__all__ = ["Profile", "available", "load_profile"]
