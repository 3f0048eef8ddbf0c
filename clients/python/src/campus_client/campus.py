"""The blocking client: every operation, and the session."""

from collections.abc import Callable, Mapping
from types import TracebackType
from typing import Any, ParamSpec, Self, TypeVar, Unpack
from uuid import UUID

import httpx

from campus_client import models
from campus_client.calls import IdempotentOptions, request_call
from campus_client.resources import Resources
from campus_client.session import (
    RETRIES,
    RETRY_AFTER_SECONDS_MAX,
    TIMEOUT_SECONDS,
    Response,
    Session,
    SessionTokens,
    captured_response,
)
from campus_client.tokens import Tokens, TokenStore
from campus_client.transport import BlockingTransport, run

T = TypeVar("T")
P = ParamSpec("P")


class Campus(Resources, SessionTokens):
    """The blocking client of one system: `with Campus("http://localhost:8080") as campus: ...`.

    Args:
        base_url: the gateway's public address.
        tokens: the tokens of an earlier session, or a store of your own; without one they are kept in memory. A program
            with an API key passes `Tokens(key)`.
        timeout: seconds of an attempt in which no byte arrives.
        retries: further attempts of a call that is safe to repeat; an idempotency key stays the same.
        retry_after_seconds_max: a longer `Retry-After` is an error at once.
        http: an httpx client of your own, with its proxies and certificates; you close it.
    """

    def __init__(
        self,
        base_url: str,
        *,
        tokens: Tokens | TokenStore | None = None,
        timeout: float = TIMEOUT_SECONDS,
        retries: int = RETRIES,
        retry_after_seconds_max: float = RETRY_AFTER_SECONDS_MAX,
        http: httpx.Client | None = None,
    ) -> None:
        self._http = http or httpx.Client()
        self._closes_http = http is None
        self._session = Session(
            BlockingTransport(self._http),
            base_url,
            tokens,
            timeout=timeout,
            retries=retries,
            retry_after_seconds_max=retry_after_seconds_max,
        )
        super().__init__(self._session)

    def sign_in(self, email: str, password: str, code: str | None = None) -> models.Tokens:
        """Sign in and store the tokens. `mfa_required`: the account has a second factor (`step_up`).

        With `code` the second factor is shown at once, as the permissions of staff need it.

        Raises:
            ApiError: unknown address, wrong password, or an address that is not confirmed.
        """
        tokens = self._signed_in(self.auth.login(models.LogInRequest(email=email, password=password)))
        return tokens if code is None else self.step_up(code)

    def sign_in_with_code(self, email: str, code: str, password: str) -> models.Tokens:
        """Confirm an address after `auth.sign_up` or `auth.request_code`, and store the tokens."""
        request = models.VerifyCodeRequest(email=email, code=code, password=password)
        return self._signed_in(self.auth.verify_code(request))

    def step_up(self, code: str, factor_id: UUID | None = None) -> models.Tokens:
        """Show the second factor and store the tokens, whose `aal` is `aal2`."""
        fields = {} if factor_id is None else {"factor_id": factor_id}
        return self._signed_in(self.auth.verify_factor(models.VerifyFactorRequest(code=code, **fields)))

    def sign_out(self) -> None:
        """End the session on the server and remove the tokens."""
        self.auth.logout()
        self.set_tokens(None)

    def with_response(self, operation: Callable[P, T], *args: P.args, **options: P.kwargs) -> Response[T]:
        """Return the result of an operation with its status, headers, meta and bytes: `with_response(campus.orders.get,
        id)`.
        """
        with captured_response() as responses:
            result = operation(*args, **options)
        return Response.of(result, responses[-1])

    def request(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, Any] | None = None,
        json: Any = None,
        **options: Unpack[IdempotentOptions],
    ) -> httpx.Response:
        """Return the response of any path, with tokens and retries.

        Raises:
            ApiError: the API rejected the request; its subclass names the code.
            TransportError: no response.
        """
        call = request_call(method, path, query or {}, json, options)
        return run(self._session.call(call))

    def close(self) -> None:
        """Close the connections."""
        if self._closes_http:
            self._http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
