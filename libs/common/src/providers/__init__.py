"""The wire of each payment gateway, once: calls, records of its objects, amounts, and what its errors mean.

An adapter of a service decides what follows from a record. No decision of the product is here.
"""
