"""Mutation testing: a copy of the code or of a database with one fault at a time, which a test must detect
(decision 75).
"""
