"""The cookie that holds the session."""

from datetime import UTC, datetime

import pytest
from starlette.responses import Response

from common.primitives.clock import SystemClock
from console.session import Session, SessionCookies, Tokens
from console.visit import HeldForm, HeldForms

KEY, OTHER_KEY = "k" * 16, "o" * 16


def cookies(key: str = KEY, key_previous: str = "", *, is_secure: bool = False) -> SessionCookies:
    return SessionCookies(key, key_previous, is_secure=is_secure, clock=SystemClock())


def header_of(written_by: SessionCookies, session: Session) -> str:
    response = Response()
    written_by.write(response, session)
    return response.headers["set-cookie"]


def signed_in() -> Session:
    session = Session()
    session.accept(Tokens("a" * 900, "r" * 100, 900), int(datetime.now(UTC).timestamp()))
    return session


def test_a_session_is_read_from_its_cookie_and_is_not_readable_in_it() -> None:
    session = signed_in()
    header = header_of(cookies(), session)
    assert session.access_token not in header
    assert session.csrf_token not in header
    assert cookies().read([header.partition(";")[0]]) == session


def test_a_cookie_is_for_this_host_over_tls_only() -> None:
    header = header_of(cookies(is_secure=True), signed_in())
    assert header.startswith("__Host-console=")
    assert {"HttpOnly", "Secure", "SameSite=lax", "Path=/"} <= set(header.split("; "))
    assert "Domain" not in header


def test_a_cookie_of_the_previous_key_is_valid_during_a_rotation() -> None:
    session = signed_in()
    header = header_of(cookies(OTHER_KEY), session).partition(";")[0]
    assert cookies(KEY, OTHER_KEY).read([header]) == session
    assert not cookies(KEY).read([header]).is_signed_in


def test_a_changed_cookie_is_no_session() -> None:
    header = header_of(cookies(), signed_in()).partition(";")[0]
    changed = header[:-8] + ("AAAAAAAA" if not header.endswith("AAAAAAAA") else "BBBBBBBB")
    assert not cookies().read([changed]).is_signed_in
    assert not cookies().read(["console="]).is_signed_in
    assert not cookies().read([]).is_signed_in


def test_a_cookie_that_browsers_would_drop_is_refused() -> None:
    session = signed_in()
    session.access_token = "a" * 4_000
    with pytest.raises(ValueError, match="browsers keep"):
        header_of(cookies(), session)


def test_a_cookie_cannot_serve_as_a_held_form() -> None:
    forms = HeldForms(KEY, "")
    form = HeldForm("/refunds/1/approve", "user", [("hash", "abc"), ("_key", "k")])
    assert forms.decrypt(forms.encrypt(form)) == form
    value = header_of(cookies(), signed_in()).partition(";")[0].partition("=")[2]
    assert forms.decrypt(value) is None
    assert forms.decrypt("") is None
