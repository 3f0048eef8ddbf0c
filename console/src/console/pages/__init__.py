"""The screens by role, with their templates beside them; each folder has its `FAMILIES`."""
