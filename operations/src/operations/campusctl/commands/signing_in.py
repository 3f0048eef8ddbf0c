"""Sign in with two factors, sign out, and show the remaining quota."""

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
    quotas = typer.Typer(help="Your request quota.", no_args_is_help=True)
    command(quotas, "show", "campusctl quotas show", "campusctl quotas show --json")(show_quotas)
    app.add_typer(quotas, name="quotas")


def login(
    operator: Operator, email: Annotated[str, typer.Argument(envvar="CAMPUS_EMAIL", help="Your address.")]
) -> Output:
    """Sign in with password and authenticator code.

    Both are prompted, or read from CAMPUS_PASSWORD and CAMPUS_TOTP. The tokens are stored in a file that only you can
    read, under STATE_DIR or the XDG state folder, and are refreshed automatically.
    """
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
