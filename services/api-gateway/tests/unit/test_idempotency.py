"""Syntax of a key, and the identity of two requests."""

from uuid import uuid4

import pytest

from api_gateway.idempotency import fingerprint_of, is_stored, key_hash_of
from common.primitives.problems import ValidationFailed
from common.web.endpoint_table import Idempotency

KEY = b"3f2b8c1e-9d4a-4e6b-8a7c-1d2e3f4a5b6c"


@pytest.mark.parametrize(
    "header",
    [b"", b"x", KEY[:-1], KEY + b"0", b"3f2b8c1e-9d4a-1e6b-8a7c-1d2e3f4a5b6c", b"3f2b8c1e-9d4a-4e6b-0a7c-1d2e3f4a5b6c"],
)
@pytest.mark.parametrize("rule", [Idempotency.REQUIRED, Idempotency.ACCEPTED])
def test_a_key_that_is_not_a_uuid_v4_is_rejected(header: bytes, rule: Idempotency) -> None:
    with pytest.raises(ValidationFailed) as rejection:
        key_hash_of(header, rule)
    assert [param.name for param in rejection.value.invalid_params] == ["Idempotency-Key"]


def test_absence_is_rejected_only_where_a_key_is_required() -> None:
    assert key_hash_of(None, Idempotency.ACCEPTED) is None
    with pytest.raises(ValidationFailed):
        key_hash_of(None, Idempotency.REQUIRED)


def test_where_keys_are_ignored_they_are_not_validated() -> None:
    assert key_hash_of(b"nonsense", Idempotency.IGNORED) is None


def test_a_key_is_compared_without_case_and_never_stored() -> None:
    kept = key_hash_of(KEY, Idempotency.REQUIRED)
    assert kept == key_hash_of(KEY.upper(), Idempotency.REQUIRED)
    assert kept is not None
    assert KEY not in kept
    assert kept != key_hash_of(str(uuid4()).encode(), Idempotency.REQUIRED)


def test_method_path_query_and_body_each_make_another_request() -> None:
    request = ("POST", "/api/orders/checkout", b"a=1", b"{}")
    others = [
        ("PUT", *request[1:]),
        ("POST", "/api/payouts/dispatch", b"a=1", b"{}"),
        ("POST", "/api/orders/checkout", b"a=2", b"{}"),
        ("POST", "/api/orders/checkout", b"a=1", b"{ }"),
        ("POST", "/api/orders/checkout", b"", b"a=1{}"),
    ]
    assert fingerprint_of(*request) not in {fingerprint_of(*other) for other in others}


def test_ids_in_a_path_are_the_same_in_either_case() -> None:
    assert fingerprint_of("POST", "/api/orders/AB/cancel", b"", b"") == fingerprint_of(
        "POST", "/api/orders/ab/cancel", b"", b""
    )


@pytest.mark.parametrize(
    ("status", "stored"),
    [(200, True), (201, True), (204, True), (400, True), (422, True), (423, True)]
    + [(status, False) for status in (301, 401, 403, 404, 409, 413, 415, 429, 500, 502, 503)],
)
def test_only_final_responses_are_stored(status: int, stored: bool) -> None:
    assert is_stored(status) is stored
