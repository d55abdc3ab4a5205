"""Money: value in and out, hand-pays, disputed amounts, rulings on money, and the ticket ledger."""
