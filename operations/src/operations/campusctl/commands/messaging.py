"""The messaging app: its approved templates, and the end of a pause."""

import json
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from operations.campusctl.exits import FINDINGS, MISUSED, NOT_REACHABLE, REFUSED, Refused
from operations.campusctl.registering import Operator, Yes, command
from operations.campusctl.showing import Output

_COMMAND: Final = "message-templates"
_PROVIDER: Final = "messaging-app"
_STATE_COLUMNS: Final = ("name", "state", "status", "category", "reason")
_PUSH_COLUMNS: Final = ("name", "action", "error")


def register(app: typer.Typer) -> None:
    messaging = typer.Typer(help="The messaging app (WhatsApp).", no_args_is_help=True)
    templates = typer.Typer(help="Approved templates of the messaging app.", no_args_is_help=True)
    command(templates, "export", "campusctl messaging templates export --out templates.json")(export_templates)
    command(templates, "push", "campusctl messaging templates push --yes", on_cluster=True)(push_templates)
    command(templates, "status", "campusctl messaging templates status --json", on_cluster=True)(show_templates)
    command(messaging, "resume", "campusctl messaging resume --yes", on_cluster=True)(resume)
    messaging.add_typer(templates, name="templates")
    app.add_typer(messaging, name="messaging")


def export_templates(
    operator: Operator,
    out: Annotated[Path, typer.Option(help="File to write: the payload that registers each template.")],
    language: Annotated[str, typer.Option(help="Language code of the templates.")] = "en",
) -> Output:
    """Write the templates as a file for the provider, on the system's machine (STATE_DIR)."""
    operator.own.must("notifications", _COMMAND, "export", "--out", str(out.resolve()), "--language", language)
    return Output({"written": str(out)})


def push_templates(operator: Operator, yes: Yes = False) -> Output:
    """Register missing templates at the provider and replace changed ones, on the system's machine (STATE_DIR) or with
    --kubernetes.

    A repetition changes nothing. Exit code 1: the provider rejected a template; its reason is shown.
    """
    operator.runner.check()
    operator.confirm("Submit the approved templates to the messaging app for review?", yes=yes)
    exit_code, rows = _run(operator, "push")
    return Output(rows, _PUSH_COLUMNS, exit_code=exit_code)


def show_templates(operator: Operator) -> Output:
    """Compare the templates with the provider's, on the system's machine or with --kubernetes. Exit code 4: not all are
    approved.

    `rejected` shows the reviewer's reason; `differs` is registered with another text: push it.
    """
    exit_code, rows = _run(operator, "status")
    return Output(rows, _STATE_COLUMNS, exit_code=exit_code)


def resume(operator: Operator, yes: Yes = False) -> Output:
    """End the pause that a fault of our account caused, on the system's machine or with --kubernetes. A new fault
    pauses again.
    """
    operator.runner.check()
    operator.confirm("Send by the messaging app again?", yes=yes)
    return Output({"said": operator.runner.must("notifications", "resume-provider", _PROVIDER)})


def _run(operator: Operator, action: str) -> tuple[int, list[dict[str, Any]]]:
    """Run the service's command; its document is on its standard output, also with findings."""
    ended = operator.runner.run("notifications", _COMMAND, action)
    if ended.output:
        return (ended.exit_code if ended.exit_code in (REFUSED, FINDINGS) else 0), json.loads(ended.output)
    lines = ended.complained.splitlines() or [f"exit code {ended.exit_code}"]
    exit_code = ended.exit_code if ended.exit_code in (MISUSED, NOT_REACHABLE) else REFUSED
    raise Refused(lines[-1], f"Failed command: python -m notifications {_COMMAND} {action}", exit_code)
