"""The page on which a vendor prints a month."""
