"""Source checks that ``make check`` runs in addition to the linters."""
