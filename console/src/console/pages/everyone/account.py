"""Sign-in by password or identity provider, second factor, sign-out, step-up."""

import hmac
import secrets
from typing import Final
from urllib.parse import urlencode

from starlette.responses import JSONResponse, RedirectResponse, Response

from console.api import ApiProblem, Json
from console.families import Screens
from console.visit import HELD_FIELD, HeldForm, Visit, local_path

SCREENS = Screens()


@SCREENS.page("/sign-in", title="Sign in", is_open=True)
async def sign_in_page(visit: Visit) -> Response:
    if visit.session.is_signed_in:
        return visit.go(visit.query.get("next", "/"))
    if visit.session.access_token:
        return _show_code(visit, visit.query.get("next", "/"), "")
    return await _show_sign_in(visit, local_path(visit.query.get("next", "/")))


@SCREENS.action("/sign-in", is_open=True)
async def sign_in(visit: Visit) -> Response:
    form = visit.form
    held, path = form[HELD_FIELD], local_path(form["next"])
    try:
        await visit.api.sign_in(form["email"], form["password"])
    except ApiProblem as problem:
        visit.error = problem
        return await _show_sign_in(visit, path, held)
    return _show_code(visit, path, held) if visit.session.is_mfa_due else await _enter(visit, path, held)


@SCREENS.page("/forgotten-password", title="Forgotten password", is_open=True)
async def forgotten_password_page(visit: Visit) -> Response:
    return visit.render("everyone/forgotten_password.html", is_sent=False)


@SCREENS.action("/forgotten-password", is_open=True)
async def request_password_reset(visit: Visit) -> Response:
    """Have a code mailed, and show the form for it: also for an unknown address, which nothing reveals."""
    try:
        await visit.api.request_password_reset(visit.form["email"])
    except ApiProblem as problem:
        visit.error = problem
    is_sent = visit.error is None
    return visit.render("everyone/forgotten_password.html", title="Forgotten password", is_sent=is_sent)


@SCREENS.action("/forgotten-password/reset", is_open=True)
async def reset_password(visit: Visit) -> Response:
    """Set the new password. The second factor stays as it is."""
    try:
        await visit.api.reset_password("".join(visit.form["token"].split()), visit.form["password"])
    except ApiProblem as problem:
        visit.error = problem
        return visit.render("everyone/forgotten_password.html", title="Forgotten password", is_sent=True)
    return visit.go("/sign-in", "The password is changed. Sign in with it.")


@SCREENS.page("/sign-in/provider/{name}", title="Sign in", is_open=True)
async def start_provider_sign_in(visit: Visit) -> Response:
    """Lead to the identity provider. The value in the cookie proves that this browser started the sign-in."""
    visit.session.sign_in_flow = secrets.token_urlsafe(24)
    path = local_path(visit.query.get("next", "/"))
    page = f"{visit.console_url}/sign-in/provider?{urlencode({'flow': visit.session.sign_in_flow, 'next': path})}"
    try:
        return RedirectResponse(await visit.api.provider_address(visit["name"], page), 303)
    except ApiProblem as problem:
        visit.error = ApiProblem(problem.status, {**problem.extensions, "title": _NOT_SIGNED_IN}, problem.request_id)
        return await _show_sign_in(visit, path)


@SCREENS.page("/sign-in/provider", title="Sign in", is_open=True)
async def finish_provider_sign_in(visit: Visit) -> Response:
    """Receive the browser from the identity provider, with a code or an error. Each flow returns once."""
    path, flow = local_path(visit.query.get("next", "/")), visit.session.sign_in_flow
    visit.session.sign_in_flow = ""
    if not flow or not hmac.compare_digest(flow.encode(), visit.query.get("flow", "").encode()):
        return await _refuse_provider(visit, path, _OTHER_BROWSER)
    if "code" not in visit.query:
        return await _refuse_provider(visit, path, _PROVIDER_ERRORS.get(visit.query.get("error", ""), _NO_RESULT))
    try:
        await visit.api.exchange_provider_code(visit.query["code"])
    except ApiProblem as problem:
        visit.error = problem
        return await _show_sign_in(visit, path)
    return _show_code(visit, path, "") if visit.session.is_mfa_due else visit.go(path)


_NOT_SIGNED_IN: Final = "You are not signed in"
_OTHER_BROWSER: Final = "This sign-in was not started in this browser. Start it here."
_NO_RESULT: Final = "The identity provider ended the sign-in with an error. Try again, or use your password."
_PROVIDER_ERRORS: Final = {
    "access_denied": "The sign-in was cancelled at the identity provider.",
    "provider_unavailable": "The identity provider does not respond. Try again in a minute, or use your password.",
    "invalid_response": "The identity provider's response is invalid. Its administrator must check the registration.",
    "email_not_verified": (
        "The identity provider has not verified your mail address. Ask your institution to verify it."
    ),
    "email_domain_not_accepted": "Addresses of this domain cannot sign in by this provider. Use your password.",
    "no_account": "No account has your mail address. Sign up with it first, then sign in by the provider.",
    "linked_to_another_user": "Your account is linked to another user of this provider. Ask a platform admin.",
}
"""The reasons of section 10.6 of the contract, for people."""


@SCREENS.action("/sign-in/code", is_open=True)
async def verify_code(visit: Visit) -> Response:
    """Return the second step: a code of the authenticator app, or a recovery code."""
    form = visit.form
    held, path = form[HELD_FIELD], local_path(form["next"])
    if not visit.session.access_token:
        return visit.go("/sign-in", "The sign-in took too long. Start again.")
    try:
        await visit.api.verify_code(form["code"].replace(" ", ""))
    except ApiProblem as problem:
        visit.error = problem
        return _show_code(visit, path, held)
    return await _enter(visit, path, held)


@SCREENS.action("/sign-out", is_open=True)
async def sign_out(visit: Visit) -> Response:
    """End the session everywhere, and delete the cookie whatever the API responds."""
    if visit.session.access_token:
        try:
            await visit.api.post("/api/auth/logout")
        except ApiProblem as problem:
            if problem.status >= 500:
                raise
    visit.session.end()
    return visit.go("/sign-in", "You are signed out.")


@SCREENS.action("/step-up")
async def step_up(visit: Visit) -> Response:
    """Return a page that needed a recent second factor: the checks before this have verified it."""
    return visit.go(visit.form["next"])


@SCREENS.action("/step-up/passkey")
async def passkey_challenge(visit: Visit) -> Response:
    """Return what `passkey.js` hands to the browser's authenticator."""
    return JSONResponse(await visit.api.post("/api/auth/mfa/passkeys/assertion-options"))


@SCREENS.action("/second-factor")
async def enrol_second_factor(visit: Visit) -> Response:
    """Return the first authenticator app of a new member of the staff: its secret is shown once."""
    return _show_factor(visit, await visit.api.post("/api/auth/mfa/enroll"))


@SCREENS.action("/second-factor/code")
async def confirm_second_factor(visit: Visit) -> Response:
    try:
        await visit.api.verify_code(visit.form["code"].replace(" ", ""))
    except ApiProblem as problem:
        visit.error = problem
        return _show_factor(visit, {"secret": visit.form["secret"], "otpauthUri": ""})
    return visit.go("/", "Your second factor is set up. Make recovery codes under My account.")


async def _show_sign_in(visit: Visit, path: str, held: str = "") -> Response:
    # A form of an ended session is kept in the page, and a provider leads away from it.
    providers = [] if held else await visit.api.sign_in_providers()
    return visit.render("everyone/sign_in.html", title="Sign in", next=path, held=held, providers=providers)


async def _refuse_provider(visit: Visit, path: str, detail: str) -> Response:
    visit.error = ApiProblem(403, {"code": "AUTH_FORBIDDEN", "title": _NOT_SIGNED_IN, "detail": detail})
    return await _show_sign_in(visit, path)


def _show_factor(visit: Visit, factor: Json) -> Response:
    return visit.render("everyone/second_factor.html", title="Set up your second factor", factor=factor)


def _show_code(visit: Visit, path: str, held: str) -> Response:
    return visit.render("everyone/code.html", title="Second factor", next=path, held=held)


async def _enter(visit: Visit, path: str, held: str) -> Response:
    """Lead to the page that was asked for; a held form is shown to the person who filled it in, to be sent again."""
    form = visit.held_forms.decrypt(held) if held else None
    if form is None:
        return visit.go(path)
    me = await visit.api.get("/api/profiles/current")
    if not form.user_id or form.user_id != me["id"]:
        return visit.go("/", "The form of the former session was not sent: it belongs to another person.")
    return visit.render("everyone/resume.html", title="Send the form again", form=form, summary=_summary(form))


def _summary(form: HeldForm) -> list[tuple[str, str]]:
    # A PIN is sent again, and never shown.
    return [(name, value) for name, value in form.fields if not name.startswith("_") and name != "pin" and value]
