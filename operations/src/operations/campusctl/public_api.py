"""Client of the public API: envelopes, problem documents, retries of lost responses."""

import time
from collections.abc import Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, Final
from urllib.parse import urlencode
from uuid import uuid4

import httpx

from common.primitives.tls import client_tls
from operations.campusctl.exits import NOT_REACHABLE, Refused
from operations.campusctl.sign_ins import SignIn, SignIns

RESPONSE_SECONDS_MAX: Final = 60.0
# A request with an idempotency key can be repeated safely when its response is lost.
TRIES_MAX: Final = 3
# A token that expires within this time is refreshed first: the request may wait in a queue.
RENEW_BEFORE_SECONDS: Final = 20.0

_ADVICE: Final = {
    401: "Sign in again: campusctl login",
    403: "Your role does not permit this, or your two-factor sign-in is older than 15 minutes: campusctl login",
    404: "Check the id with the list command; resources that your role may not see are not found either",
    409: "Check its current state with the show or list command before you try again",
    422: "Correct the named values, then run the command again",
}


@dataclass(frozen=True, slots=True)
class ApiResult:
    """A response: `data` and `meta` of the envelope, and the headers."""

    data: Any
    meta: Mapping[str, Any]
    headers: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class ProviderSession:
    """The tokens of a sign-in by an identity provider, its level, and whether the account's own factor is needed."""

    sign_in: SignIn
    aal: str
    needs_code: bool


class PublicApi:
    """Calls with the operator's token. The API decides on permissions."""

    def __init__(self, base_url: str, sign_ins: SignIns) -> None:
        self._base_url = base_url
        self._sign_ins = sign_ins
        self._http = httpx.Client(base_url=base_url, timeout=RESPONSE_SECONDS_MAX, trust_env=False, verify=client_tls())

    def close(self) -> None:
        self._http.close()

    def get(self, path: str, **query: Any) -> ApiResult:
        """Send a GET; None values are left out of the query."""
        given = {name: value for name, value in query.items() if value is not None}
        return self._call("GET", path, self._token(), params=given)

    def get_openly(self, path: str) -> dict[str, Any]:
        """Return a public JSON document without an envelope."""
        return _object_of(self._send("GET", path, {}))

    def act(self, path: str, body: Mapping[str, Any], key: str | None = None) -> ApiResult:
        """Send a POST with an idempotency key; a retry after a lost response repeats the key."""
        given = {name: value for name, value in body.items() if value is not None}
        return self._call("POST", path, self._token(), json=given, key=key or str(uuid4()))

    def call(self, method: str, path: str, body: Mapping[str, Any], key: str | None = None) -> ApiResult:
        """Call any endpoint: a GET without a body, other methods with body and idempotency key."""
        if method == "GET":
            return self._call("GET", path, self._token())
        return self._call(method, path, self._token(), json=body, key=key or str(uuid4()))

    def sign_in(self, email: str, password: str) -> SignIn:
        """Sign in with the password; nothing is stored yet."""
        return _sign_in(email, self._call("POST", "/api/auth/login", None, json={"email": email, "password": password}))

    def second_step(self, first: SignIn, code: str) -> SignIn:
        """Verify an authenticator code and store the tokens."""
        result = self._call("POST", "/api/auth/mfa/verify", first.access_token, json={"code": code})
        sign_in = _sign_in(first.email, result)
        self.store(sign_in)
        return sign_in

    def provider_start(self, provider: str, return_to: str, code_challenge: str) -> str:
        """Return the address at which the browser starts a sign-in by an identity provider. Raises Refused."""
        known = [one["name"] for one in self._call("GET", "/api/auth/oidc", None).data]
        if provider not in known:
            advice = f"Known ones: {', '.join(known)}" if known else "The administrator sets OIDC_PROVIDERS"
            raise Refused(f"{self._base_url} has no identity provider {provider!r}.", advice)
        query = urlencode({"returnTo": return_to, "codeChallenge": code_challenge})
        return f"{self._base_url}/api/auth/oidc/{provider}/start?{query}"

    def sign_in_by_provider(self, code: str, verifier: str) -> ProviderSession:
        """Exchange the code of a sign-in by an identity provider; nothing is stored yet."""
        body = {"code": code, "codeVerifier": verifier}
        result = self._call("POST", "/api/auth/oidc/exchange", None, json=body)
        profile = self._call("GET", "/api/profiles/current", result.data["accessToken"]).data
        return ProviderSession(_sign_in(profile["email"], result), result.data["aal"], result.data["mfaRequired"])

    def store(self, sign_in: SignIn) -> None:
        """Store the tokens of this address."""
        with self._sign_ins.held():
            self._sign_ins.keep(self._base_url, sign_in)

    def sign_out(self) -> None:
        """End the session and delete its tokens."""
        try:
            self._call("POST", "/api/auth/logout", self._token(), json={})
        except Refused as error:
            # The session has already ended: only its tokens are deleted.
            if error.status != HTTPStatus.UNAUTHORIZED:
                raise
        with self._sign_ins.held():
            self._sign_ins.forget(self._base_url)

    def _token(self) -> str:
        with self._sign_ins.held():
            sign_in = self._sign_ins.at(self._base_url)
            if sign_in is None:
                raise Refused(f"You are not signed in at {self._base_url}.", _ADVICE[401])
            if sign_in.expires_at - time.time() < RENEW_BEFORE_SECONDS:
                sign_in = self._renewed(sign_in)
            return sign_in.access_token

    def _renewed(self, sign_in: SignIn) -> SignIn:
        body = {"refreshToken": sign_in.refresh_token}
        renewed = _sign_in(sign_in.email, self._call("POST", "/api/auth/refresh", None, json=body))
        self._sign_ins.keep(self._base_url, renewed)
        return renewed

    def _call(self, method: str, path: str, token: str | None, *, key: str | None = None, **more: Any) -> ApiResult:
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        if key is not None:
            headers["Idempotency-Key"] = key
        response = self._send(method, path, headers, **more)
        envelope = _json_of(response)
        return ApiResult(envelope["data"], envelope.get("meta", {}), response.headers)

    def _send(self, method: str, path: str, headers: Mapping[str, str], **more: Any) -> httpx.Response:
        repeatable = method == "GET" or "Idempotency-Key" in headers
        for attempt in range(TRIES_MAX if repeatable else 1):
            try:
                response = self._http.request(method, path, headers=headers, **more)
            except httpx.ConnectError as error:
                raise self._not_reachable(error) from error
            except httpx.TransportError as error:
                lost = error
                # The first request may still be in progress.
                time.sleep(0.2 * attempt)
                continue
            if not response.is_success:
                raise _problem_of(response)
            return response
        raise self._lost(lost, headers.get("Idempotency-Key"))

    def _not_reachable(self, error: Exception) -> Refused:
        return Refused(
            f"{self._base_url} is unreachable: {error or type(error).__name__}",
            "Is the system running (make run)? Set another address with --base-url or CAMPUS_URL",
            NOT_REACHABLE,
        )

    def _lost(self, error: Exception, key: str | None) -> Refused:
        advice = f"The request may have taken effect: repeat it with --idempotency-key {key}" if key else "Try again"
        return Refused(f"{self._base_url} sent no response: {error or type(error).__name__}", advice, NOT_REACHABLE)


def _sign_in(email: str, result: ApiResult) -> SignIn:
    tokens = result.data
    ends = time.time() + float(tokens["expiresIn"])
    return SignIn(email, tokens["accessToken"], tokens["refreshToken"], ends)


def _json_of(response: httpx.Response) -> dict[str, Any]:
    envelope = _object_of(response)
    if "data" not in envelope:
        raise _not_ours()
    return envelope


def _object_of(response: httpx.Response) -> dict[str, Any]:
    try:
        document = response.json()
    except ValueError:
        document = None
    if not isinstance(document, dict):
        raise _not_ours()
    return document


def _not_ours() -> Refused:
    return Refused("The response is not one of the marketplace.", "Is --base-url the gateway's address?")


def _problem_of(response: httpx.Response) -> Refused:
    try:
        problem = response.json()
    except ValueError:
        problem = {}
    if not isinstance(problem, dict):
        problem = {}
    wait = response.headers.get("Retry-After")
    advice = (
        f"Try again in {wait} s" if wait else _ADVICE.get(response.status_code, "Give the requestId to the developers")
    )
    return Refused(
        detail=str(problem.get("detail") or problem.get("title") or f"HTTP status {response.status_code}"),
        advice=advice,
        status=response.status_code,
        code=problem.get("code"),
        request_id=problem.get("requestId") or response.headers.get("X-Request-Id"),
        invalid_params=problem.get("invalid_params") or [],
    )
