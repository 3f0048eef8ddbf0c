"""Takedowns of products by campus admins, with their end.

A takedown hides one product of the admin's campus from buyers and names the reason to its vendor. Open orders go on.
"""
