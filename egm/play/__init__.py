"""Play: rounds from wager to result, installed games, player protection, residual credit, prizes in kind."""
