"""The public API as an operator's program meets it: envelopes, problem documents, and answers that get lost."""

import time
from collections.abc import Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, Final
from uuid import uuid4

import httpx

from operations.campusctl.exits import NOT_REACHABLE, Refused
from operations.campusctl.sign_ins import SignIn, SignIns

RESPONSE_SECONDS_MAX: Final = 60.0
# A key makes a repeated act the same act, so a lost answer may be asked for again.
TRIES_MAX: Final = 3
# A token that ends within this is renewed first: the call may wait in a queue.
RENEW_BEFORE_SECONDS: Final = 20.0

_ADVICE: Final = {
    401: "Sign in again: campusctl login",
    403: "Your role does not open this, or your two-factor sign-in is older than 15 minutes: campusctl login",
    404: "Check the id with the list command; what your role may not see does not exist for you",
    409: "Look at its present state with the show or list command before you try again",
    422: "Mend what is named, then run the command again",
}


@dataclass(frozen=True, slots=True)
class ApiResult:
    """What a call brought: the envelope's `data` and `meta`, and the headers."""

    data: Any
    meta: Mapping[str, Any]
    headers: Mapping[str, str]


class PublicApi:
    """Calls under the operator's own token; whether something is allowed is decided there alone."""

    def __init__(self, base_url: str, sign_ins: SignIns) -> None:
        self._base_url = base_url
        self._sign_ins = sign_ins
        self._http = httpx.Client(base_url=base_url, timeout=RESPONSE_SECONDS_MAX, trust_env=False)

    def close(self) -> None:
        self._http.close()

    def get(self, path: str, **query: Any) -> ApiResult:
        """A GET; what is None is left out of the query."""
        given = {name: value for name, value in query.items() if value is not None}
        return self._call("GET", path, self._token(), params=given)

    def get_openly(self, path: str) -> dict[str, Any]:
        """The bare JSON of a document that everybody may read."""
        return _object_of(self._send("GET", path, {}))

    def act(self, path: str, body: Mapping[str, Any], key: str | None = None) -> ApiResult:
        """A POST with an idempotency key, the same one when its answer is lost and it is sent again."""
        given = {name: value for name, value in body.items() if value is not None}
        return self._call("POST", path, self._token(), json=given, key=key or str(uuid4()))

    def call(self, method: str, path: str, body: Mapping[str, Any], key: str | None = None) -> ApiResult:
        """Any other door: a GET without a body, else the body under an idempotency key."""
        if method == "GET":
            return self._call("GET", path, self._token())
        return self._call(method, path, self._token(), json=body, key=key or str(uuid4()))

    def sign_in(self, email: str, password: str) -> SignIn:
        """The first step; nothing is kept yet."""
        return _sign_in(email, self._call("POST", "/api/auth/login", None, json={"email": email, "password": password}))

    def second_step(self, first: SignIn, code: str) -> SignIn:
        """The second step with a code of the authenticator; keeps the tokens."""
        result = self._call("POST", "/api/auth/mfa/verify", first.access_token, json={"code": code})
        sign_in = _sign_in(first.email, result)
        with self._sign_ins.held():
            self._sign_ins.keep(self._base_url, sign_in)
        return sign_in

    def sign_out(self) -> None:
        """Ends the session there and forgets it here."""
        try:
            self._call("POST", "/api/auth/logout", self._token(), json={})
        except Refused as error:
            # A session that has ended there already is only forgotten.
            if error.status != HTTPStatus.UNAUTHORIZED:
                raise
        with self._sign_ins.held():
            self._sign_ins.forget(self._base_url)

    def _token(self) -> str:
        with self._sign_ins.held():
            sign_in = self._sign_ins.at(self._base_url)
            if sign_in is None:
                raise Refused(f"Nobody is signed in at {self._base_url}.", _ADVICE[401])
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
                # The first request may still run there; it gets a moment to end.
                time.sleep(0.2 * attempt)
                continue
            if not response.is_success:
                raise _problem_of(response)
            return response
        raise self._lost(lost, headers.get("Idempotency-Key"))

    def _not_reachable(self, error: Exception) -> Refused:
        return Refused(
            f"{self._base_url} is not reachable: {error or type(error).__name__}",
            "Is the system running (make run)? Another address: --base-url or CAMPUS_URL",
            NOT_REACHABLE,
        )

    def _lost(self, error: Exception, key: str | None) -> Refused:
        advice = f"It may have had its effect: repeat it with --idempotency-key {key}" if key else "Try again"
        return Refused(f"{self._base_url} gave no answer: {error or type(error).__name__}", advice, NOT_REACHABLE)


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
    return Refused("The answer is not one of the marketplace.", "Does --base-url name the gateway?")


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
