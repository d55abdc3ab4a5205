"""Play: game rounds, installed games, player protection, residual credit, prizes in kind, and rulings on games."""
