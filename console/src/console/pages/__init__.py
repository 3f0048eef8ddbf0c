"""The screens, one module for each family; each has a `FAMILY`."""
