"""Facts of the providers' APIs as JSON Schemas in our own words, and checks of calls, responses and events against
them.
"""
