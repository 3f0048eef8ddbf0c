"""Histories of what clients saw, and the checker that decides whether one order of events explains them."""
