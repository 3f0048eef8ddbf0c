"""The approved templates of the messaging app."""
