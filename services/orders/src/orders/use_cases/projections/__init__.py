"""Projections of identity's users, vendors, campuses and hubs. A stale event returns STALE.

**A suspended vendor's products are neither listed nor sold; open orders continue.** A checkout is 409. Suspension and
name have separate sequences, because different events carry them. The commission of an unknown vendor is 500 basis
points. Products store their vendor's name and campus.
"""
