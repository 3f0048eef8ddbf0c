"""Sign-in with a second factor, sign-out, step-up."""

from starlette.responses import JSONResponse, Response

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
    return visit.render("everyone/sign_in.html", next=local_path(visit.query.get("next", "/")), held="")


@SCREENS.action("/sign-in", is_open=True)
async def sign_in(visit: Visit) -> Response:
    form = visit.form
    held, path = form[HELD_FIELD], local_path(form["next"])
    try:
        await visit.api.sign_in(form["email"], form["password"])
    except ApiProblem as problem:
        visit.error = problem
        return visit.render("everyone/sign_in.html", title="Sign in", next=path, held=held)
    return _show_code(visit, path, held) if visit.session.is_mfa_due else await _enter(visit, path, held)


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
