"""The printable page of a vendor's month."""
