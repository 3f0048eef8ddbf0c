"""`campusctl`, the command line of those who run the marketplace."""
