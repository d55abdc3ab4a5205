"""The gaming machine (cabinet): state table, devices, jurisdictions, screen and links.

It is built on the packages rng, paytables and meters.
"""
