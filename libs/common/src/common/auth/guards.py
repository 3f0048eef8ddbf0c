"""The requirements of an endpoint. Services check them at each request, the edge before it replays a stored
response.
"""

from dataclasses import dataclass, replace
from datetime import datetime
from enum import Enum
from typing import Final, Self

from common.auth.caller import Caller
from common.primitives.problems import Forbidden
from contracts.permissions import KEY_SCOPES


class Access(Enum):
    """The credentials of an endpoint. Edge and service check a token; the service alone checks the others."""

    ANONYMOUS = "anonymous"
    """A token is optional and must be valid."""
    TOKEN = "token"  # noqa: S105
    """A valid token is required."""
    CREDENTIALS = "credentials"
    """The body names the caller. A token, perhaps expired, is ignored."""
    SIGNATURE = "signature"
    """A signature or a secret in the address identifies another company. A token is ignored."""
    SERVICE_KEY = "service_key"
    """`Authorization: Bearer <SERVICE_ROLE_KEY>`, current or previous."""
    OPEN = "open"
    """A token is optional, and the edge does not check it: it reads its own keys here."""


@dataclass(frozen=True, slots=True)
class Guard:
    """The callers that an endpoint admits. Order, before the body is read: token, permission, step-up
    (contract section 5).
    """

    access: Access = Access.TOKEN
    permission: str | None = None
    one_of: tuple[str, ...] = ()
    step_up: bool = False
    # A caller with this permission must have stepped up, whatever other permission admits them.
    step_up_with: str | None = None
    # The scopes of API keys, any of which suffices. Without one no key is admitted, whatever its permissions.
    key_scopes: tuple[str, ...] = ()

    def for_keys(self, *scopes: str) -> Self:
        """Return the guard that also admits API keys with any of these scopes; ValueError for one with a step-up."""
        if self.step_up or self.step_up_with is not None or not KEY_SCOPES.keys() >= {*scopes}:
            raise ValueError("an API key has scopes of KEY_SCOPES and never a second factor")
        return replace(self, key_scopes=scopes)

    def check(self, caller: Caller, now: datetime) -> None:
        """Raise Forbidden, SecondFactorRequired and StepUpRequired (403)."""
        if caller.key_scopes is not None:
            if self.access is not Access.ANONYMOUS and caller.key_scopes.isdisjoint(self.key_scopes):
                raise Forbidden
            return
        if self.permission is not None:
            caller.must_be_allowed(self.permission)
        if self.one_of:
            caller.must_be_allowed_one_of(*self.one_of)
        if self.needs_step_up_of(caller):
            caller.must_have_stepped_up(now)

    def needs_step_up_of(self, caller: Caller) -> bool:
        return self.step_up or (self.step_up_with is not None and caller.may(self.step_up_with))

    def hides_rows_of(self, caller: Caller) -> bool:
        """Return whether rows decide, and staff without a second factor see fewer of them (contract section 5.4)."""
        if not (self.is_decided_by_rows and caller.withheld):
            return False
        return not self.one_of or not caller.withheld.isdisjoint(self.one_of)

    @property
    def permissions(self) -> tuple[str, ...]:
        """Any of these permissions suffices; none: no permission is needed."""
        return (self.permission,) if self.permission is not None else self.one_of

    @property
    def is_decided_by_rows(self) -> bool:
        """Return whether callers with several rights come here, and their rights decide on the rows."""
        return self.access is Access.TOKEN and self.permission is None

    @property
    def anonymous(self) -> bool:
        """Return whether callers without a token and without the service key are admitted."""
        return self.access not in (Access.TOKEN, Access.SERVICE_KEY)

    @property
    def ignores_token(self) -> bool:
        return self.access in (Access.CREDENTIALS, Access.SIGNATURE)


PUBLIC: Final = Guard(Access.ANONYMOUS)
SIGNED_IN: Final = Guard()
"""Every caller with a valid token; row policies limit what they read."""
STEPPED_UP: Final = Guard(step_up=True)
"""Callers of every role whose second factor is at most 15 minutes old: for changes of own credentials."""
CREDENTIALS: Final = Guard(Access.CREDENTIALS)
SIGNATURE: Final = Guard(Access.SIGNATURE)
SERVICE_KEY: Final = Guard(Access.SERVICE_KEY)
OPEN: Final = Guard(Access.OPEN)


def permission(name: str, *, step_up: bool = False) -> Guard:
    """Return the guard for callers with this permission, and with `step_up` a second factor at most 15 minutes old."""
    return Guard(permission=name, step_up=step_up)


def one_of(*permissions: str, step_up: bool = False, step_up_with: str | None = None) -> Guard:
    """Return the guard for callers with any of these permissions, for endpoints where rights differ by row or field.

    Holders of the permission `step_up_with` need a second factor at most 15 minutes old.
    """
    return Guard(one_of=permissions, step_up=step_up, step_up_with=step_up_with)
