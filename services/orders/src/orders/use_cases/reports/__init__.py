"""Reports of products, reviews, vendors and messages by users, and their decisions by staff.

Support dismisses a report or hides its subject; staff who may suspend the vendor do that through identity, which has
the vendor's status. No user decides on their own report or on one about their own vendor.
"""
