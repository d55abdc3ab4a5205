"""The cabinet: state table, devices, jurisdictions, screen and links, built on rng, paytables and meters."""
