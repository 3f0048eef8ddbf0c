"""Both ledgers rebuilt from recorded inputs: messages, commands, and the gateway's record."""
