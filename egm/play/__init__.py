"""Play: rounds, installed games, player protection, residual credit, prizes in kind, rulings on games."""
