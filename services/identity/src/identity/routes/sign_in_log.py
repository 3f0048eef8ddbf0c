"""Sign-ins in the access log (decision 200)."""

from collections.abc import Iterator
from contextlib import contextmanager
from uuid import UUID

from starlette.requests import Request

from common.observability import access_log
from common.observability.logging import REQUEST_ID
from common.primitives.problems import Problem
from common.web.client_address import client_address_of
from common.web.http import dependencies_of
from identity.credentials.tokens import SignedIn
from identity.dependencies import Dependencies
from identity.domain.errors import WrongCredentials

_PURPOSE = "access log"


class SignInAttempt:
    """A sign-in in progress. `account` is None until it is known."""

    def __init__(self, account: UUID | None) -> None:
        self.account = account

    def succeeded(self, signed: SignedIn) -> None:
        """Set the account."""
        self.account = signed.user_id


@contextmanager
def recorded_sign_in(request: Request, method: str, account: UUID | None = None) -> Iterator[SignInAttempt]:
    """Write a line for the sign-in of the block: a success, or a refusal by a Problem below 500.

    `method` names the credential, `account` is the user of a second factor.
    """
    attempt = SignInAttempt(account)
    try:
        yield attempt
    except Problem as problem:
        if problem.http_status < 500:
            known = problem.user_id if isinstance(problem, WrongCredentials) else None
            record_sign_in(request, method, known or attempt.account, refused=problem.code)
        raise
    record_sign_in(request, method, attempt.account)


def record_sign_in(request: Request, method: str, account: UUID | None, *, refused: str | None = None) -> None:
    """Write the line of a sign-in; `refused` is the code of its error."""
    if not access_log.is_enabled():
        return
    dependencies = dependencies_of(request, Dependencies)
    address = client_address_of(request)
    access_log.write(
        access_log.SignIn(
            at=dependencies.clock.now(),
            request_id=REQUEST_ID.get(),
            method=method,
            outcome="success" if refused is None else "refused",
            account=account,
            code=refused,
            address_hash=dependencies.hashes.of(_PURPOSE, address).hex()[:32] if address else "",
        )
    )
