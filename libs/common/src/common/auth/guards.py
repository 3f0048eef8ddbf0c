"""The requirements of an endpoint. Services check them at each request, the edge before it replays a stored response."""

from dataclasses import dataclass
from datetime import datetime

from common.auth.caller import Caller


@dataclass(frozen=True, slots=True)
class Guard:
    """The callers that an endpoint admits. Order, before the body is read: token, permission, step-up (contract section 5)."""

    anonymous: bool = False
    ignores_token: bool = False
    permission: str | None = None
    one_of: tuple[str, ...] = ()
    step_up: bool = False
    # A caller with this permission must have stepped up, whatever other permission admits them.
    step_up_with: str | None = None
    service_key: bool = False

    def check(self, caller: Caller, now: datetime) -> None:
        """Raise Forbidden, SecondFactorRequired and StepUpRequired (403)."""
        if self.permission is not None:
            caller.must_be_allowed(self.permission)
        if self.one_of:
            caller.must_be_allowed_one_of(*self.one_of)
        if self.needs_step_up_of(caller):
            caller.must_have_stepped_up(now)

    def needs_step_up_of(self, caller: Caller) -> bool:
        return self.step_up or (self.step_up_with is not None and caller.may(self.step_up_with))

    def hides_rows_of(self, caller: Caller) -> bool:
        """Whether rows decide, and staff without a second factor see fewer of them (contract section 5.4)."""
        if not (self.is_decided_by_rows and caller.withheld):
            return False
        return not self.one_of or not caller.withheld.isdisjoint(self.one_of)

    @property
    def is_decided_by_rows(self) -> bool:
        """Whether callers with several rights come here, and their rights decide on the rows."""
        return not (self.anonymous or self.service_key) and self.permission is None
