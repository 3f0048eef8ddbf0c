"""`campusctl`, the command line of the marketplace's operators."""
