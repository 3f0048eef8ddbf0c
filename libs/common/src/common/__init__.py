"""Mechanisms without a business word: what every service needs and none of them owns."""
