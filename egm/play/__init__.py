"""Play: the life of a round, the games installed, player protection, residual credit, prizes in kind."""
