"""Facts of Flutterwave's API (v3), read in its documentation and in its official SDKs.

The field names are those of the responses and webhooks that the documentation shows. Amounts are naira, as JSON
numbers.
"""
