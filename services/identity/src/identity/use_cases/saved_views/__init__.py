"""Saved views of the console's lists.

**A view is a link**: the path of a list and the query of its address. The API interprets neither; the console checks
both as it does every address.
"""
