"""Consumed events with encrypted fields, and the purposes of their keys."""

from typing import Final

from contracts.identity import CODE_DELIVERY, OneTimeCodeIssued
from contracts.orders import PIN_DELIVERY, DeliveryPinIssued

__all__ = ["CODE_DELIVERY", "PIN_DELIVERY", "TYPES"]

TYPES: Final = (OneTimeCodeIssued.TYPE, DeliveryPinIssued.TYPE)
