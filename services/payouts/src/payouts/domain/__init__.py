"""What is true about wallets and payouts, without a database, a broker or a framework."""
