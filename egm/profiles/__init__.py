"""Jurisdictions as data: every rule that differs by jurisdiction is a value in a TOML profile, never an ``if``."""

from egm.profiles.profile import Profile, list_profile_ids, load_profile

__all__ = ["Profile", "list_profile_ids", "load_profile"]
