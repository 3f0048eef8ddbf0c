"""The channels of notifications."""

from typing import Literal

Channel = Literal["push", "messaging", "sms", "email"]
