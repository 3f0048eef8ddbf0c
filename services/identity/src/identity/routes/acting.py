"""Whom the doors of credentials act for."""

from typing import Final

from common.caller import ServiceItself

# No caller may read or write the tables of credentials, so their doors act for the service; see the README.
AUTHENTICATING: Final = ServiceItself("authentication")
