"""`campusctl`: the operators' commands.

Exit codes: 0 done; 1 rejected or failed; 2 wrong usage; 3 unreachable; 4 findings of doctor, the audit, a ledger, a
rotation check or the templates.
"""

import contextlib
import os
from importlib.metadata import version
from pathlib import Path
from typing import Annotated

import typer

from operations.campusctl.commands import (
    any_endpoint,
    api_keys,
    backup,
    dead_letters,
    doctor,
    drill,
    installation,
    messaging,
    on_the_machine,
    payouts,
    refunds,
    rotation,
    secrets,
    signing_in,
    staff,
    status,
    stops,
    subscribers,
)
from operations.doctor.settings_files import read_settings

app = typer.Typer(
    name="campusctl",
    help="Operate the campus marketplace.\n\nExit codes: 0 done; 1 rejected or failed; 2 wrong usage; 3 unreachable; "
    "4 findings of doctor, the audit, a ledger, a rotation check or the templates.",
    epilog="Example:\n\ncampusctl exceptions list --status open --json",
    no_args_is_help=True,
    pretty_exceptions_show_locals=False,
    rich_markup_mode="rich",
)
for part in (
    status,
    doctor,
    installation,
    signing_in,
    staff,
    api_keys,
    on_the_machine,
    rotation,
    secrets,
    backup,
    dead_letters,
    payouts,
    stops,
    drill,
    refunds,
    messaging,
    subscribers,
    any_endpoint,
):
    part.register(app)


def _print_version(version_requested: bool) -> None:
    if version_requested:
        typer.echo(f"campusctl {version('campus-operations')}")
        raise typer.Exit


@app.callback()
def read_options(
    _version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """Read the options before the command."""


def main() -> None:
    """Run a command. `CAMPUS_SETTINGS` names the settings of an installed system; the environment wins over them."""
    if path := os.environ.get("CAMPUS_SETTINGS"):
        with contextlib.suppress(OSError, ValueError):  # `install` reports them.
            for name, text in read_settings(Path(path)).items():
                os.environ.setdefault(name, text)
            os.environ.setdefault("CAMPUS_URL", os.environ.get("BASE_URL", ""))
    app()


if __name__ == "__main__":
    main()
