"""Responses, one module for each noun: each model is built from a row and encoded as it is (contract sections 6 and
11).
"""
