"""Money: bills, coins and tickets in, payouts, hand-pays, disputed amounts, rulings on money, and the ticket ledger."""
