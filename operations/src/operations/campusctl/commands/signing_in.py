"""Sign in with two factors, sign out, and show the remaining quota."""

import os
import warnings
from getpass import GetPassWarning
from typing import Annotated

import typer

from operations.campusctl.exits import MISUSED, Refused
from operations.campusctl.provider_sign_in import sign_in_by_browser
from operations.campusctl.registering import Operator, command
from operations.campusctl.showing import Output


def register(app: typer.Typer) -> None:
    command(
        app,
        "login",
        "campusctl login ops@campus.example",
        "campusctl login --provider school",
        "CAMPUS_EMAIL=… CAMPUS_PASSWORD=… CAMPUS_TOTP=… campusctl login --json",
    )(login)
    command(app, "logout", "campusctl logout")(logout)
    quotas = typer.Typer(help="Your request quota.", no_args_is_help=True)
    command(quotas, "show", "campusctl quotas show", "campusctl quotas show --json")(show_quotas)
    app.add_typer(quotas, name="quotas")


def login(
    operator: Operator,
    email: Annotated[str | None, typer.Argument(envvar="CAMPUS_EMAIL", help="Your address.")] = None,
    provider: Annotated[
        str | None,
        typer.Option("--provider", metavar="NAME", help="Sign in by this identity provider, in the browser."),
    ] = None,
    browser: Annotated[
        bool, typer.Option("--browser/--no-browser", help="Open the browser, or only print the address.")
    ] = True,
) -> Output:
    """Sign in with password and authenticator code, or by the identity provider of your institution.

    Password and code are prompted, or read from CAMPUS_PASSWORD and CAMPUS_TOTP. With --provider the browser returns to
    a port of this machine; a code is prompted where the provider asked for no second factor and you have one. The
    tokens are stored in a file that only you can read, under STATE_DIR or the XDG state folder, and are refreshed
    automatically.
    """
    if provider is not None:
        session = sign_in_by_browser(operator.api, provider, opens_browser=browser)
        if session.needs_code:
            operator.api.second_step(session.sign_in, _secret("CAMPUS_TOTP", "Code of the authenticator"))
        else:
            operator.api.store(session.sign_in)
        aal = "aal2" if session.needs_code else session.aal
        return Output({"email": session.sign_in.email, "baseUrl": operator.base_url, "aal": aal})
    if not email:
        raise Refused(
            "The command names no user.", "Name your address, or an identity provider with --provider", MISUSED
        )
    first = operator.api.sign_in(email, _secret("CAMPUS_PASSWORD", "Password"))
    second = operator.api.second_step(first, _secret("CAMPUS_TOTP", "Code of the authenticator"))
    return Output({"email": second.email, "baseUrl": operator.base_url, "aal": "aal2"})


def logout(operator: Operator) -> Output:
    """End the session and delete its tokens."""
    operator.api.sign_out()
    return Output({"baseUrl": operator.base_url, "signedOut": True})


def show_quotas(operator: Operator) -> Output:
    """Show limit, remaining requests and reset time of your quota.

    The figures are the headers of one request, which counts too.
    """
    headers = operator.api.get("/api/profiles/current").headers
    counted = {
        "limit": int(headers["RateLimit-Limit"]),
        "remaining": int(headers["RateLimit-Remaining"]),
        "resetAt": int(headers["RateLimit-Reset"]),
    }
    return Output({**counted, "policy": headers.get("RateLimit-Policy"), "state": headers.get("RateLimit")})


def _secret(variable: str, question: str) -> str:
    if given := os.environ.get(variable):
        return given
    try:
        with warnings.catch_warnings():
            # Without a terminal nothing is echoed; the input is a pipe or empty.
            warnings.simplefilter("ignore", GetPassWarning)
            return str(typer.prompt(question, hide_input=True, err=True))
    except typer.Abort:
        raise Refused(f"{question}: no value was given.", f"In a script, set {variable}") from None
