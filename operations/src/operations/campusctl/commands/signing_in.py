"""Who is at the keyboard: sign-in with two factors, sign-out, and what the edge still allows."""

import os
import warnings
from getpass import GetPassWarning
from typing import Annotated

import typer

from operations.campusctl.exits import Refused
from operations.campusctl.registering import Operator, command
from operations.campusctl.showing import Output


def register(app: typer.Typer) -> None:
    command(
        app,
        "login",
        "campusctl login ops@campus.example",
        "CAMPUS_EMAIL=… CAMPUS_PASSWORD=… CAMPUS_TOTP=… campusctl login --json",
    )(login)
    command(app, "logout", "campusctl logout")(logout)
    quotas = typer.Typer(help="What the edge still lets you do.", no_args_is_help=True)
    command(quotas, "show", "campusctl quotas show", "campusctl quotas show --json")(show_quotas)
    app.add_typer(quotas, name="quotas")


def login(
    operator: Operator, email: Annotated[str, typer.Argument(envvar="CAMPUS_EMAIL", help="Your address.")]
) -> Output:
    """Sign in with password and authenticator code.

    Both are asked for, or read from CAMPUS_PASSWORD and CAMPUS_TOTP. The tokens rest in a file that only you can read,
    under STATE_DIR or the XDG folder for state, and are renewed by themselves.
    """
    first = operator.api.sign_in(email, _secret("CAMPUS_PASSWORD", "Password"))
    second = operator.api.second_step(first, _secret("CAMPUS_TOTP", "Code of the authenticator"))
    return Output({"email": second.email, "baseUrl": operator.base_url, "aal": "aal2"})


def logout(operator: Operator) -> Output:
    """End the session at the marketplace and forget its tokens."""
    operator.api.sign_out()
    return Output({"baseUrl": operator.base_url, "signedOut": True})


def show_quotas(operator: Operator) -> Output:
    """Show limit, rest and end of the window of your own tier, as the edge tells them.

    It makes one call and counts it: the figures are the answer's headers.
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
            # Without a terminal nothing is echoed: the words come from a pipe, or there are none.
            warnings.simplefilter("ignore", GetPassWarning)
            return str(typer.prompt(question, hide_input=True, err=True))
    except typer.Abort:
        raise Refused(f"{question}: nothing was given.", f"In a script, set {variable}") from None
