"""Whom the doors of credentials act for."""

from typing import Final

from common.auth.caller import ServiceItself

# No caller may read or write the tables of credentials, so their doors act for the service; see the README.
AUTHENTICATING: Final = ServiceItself("authentication")
# Decisions of staff on vendors write what no caller's role may: a role, a status. Each follows after the caller's right to it was
# established in a unit of work of the caller.
DECIDING: Final = ServiceItself("a decision of staff")
