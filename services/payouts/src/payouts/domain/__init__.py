"""Pure rules of wallets and payouts: no database, broker or framework."""
