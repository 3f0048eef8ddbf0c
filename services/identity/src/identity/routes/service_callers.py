"""The service callers that endpoints of credentials and of staff decisions act as."""

from typing import Final

from common.auth.caller import ServiceItself

# No caller may access the tables of credentials, so their endpoints act as the service (see the README).
AUTHENTICATING: Final = ServiceItself("authentication")
# Staff decisions write roles and states, which no caller's role may write. The caller's right was checked before, in
# the caller's own unit of work.
DECIDING: Final = ServiceItself("staff decision")
# Row policies show profiles to readers of staff only. This read returns names to colleagues.
NAMING: Final = ServiceItself("names of staff for their colleagues")
