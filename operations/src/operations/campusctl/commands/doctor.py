"""The check of a system before and after it goes live."""

import asyncio
import json
import os
from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Final

import typer

from operations.campusctl.commands.status import machine_of
from operations.campusctl.exits import FINDINGS, MISUSED, Refused
from operations.campusctl.registering import Operator, command
from operations.campusctl.showing import Output
from operations.doctor.findings import Finding
from operations.doctor.run import CHECKS, examine
from operations.doctor.settings_files import read_settings
from operations.server_checks import check_servers

MACHINE: Final = "machine"
"""The check of the servers of this machine, where a system is installed or runs."""
Checked = StrEnum("Checked", {name: name for name in (*CHECKS, MACHINE)})  # type: ignore[misc]


def register(app: typer.Typer) -> None:
    command(
        app,
        "doctor",
        "campusctl doctor --settings production.env --dkim-selector s1",
        "campusctl doctor --only gateway --only sms --json",
    )(doctor)


def doctor(
    operator: Operator,
    settings: Annotated[
        list[Path] | None,
        typer.Option(metavar="FILE", help="NAME=value lines of the services' settings; the environment wins."),
    ] = None,
    only: Annotated[list[Checked] | None, typer.Option(help="Only these checks; all when omitted.")] = None,
    dkim_selector: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="DKIM selector of the mail company.")
    ] = None,
    templates: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Exported templates of the messaging app; each must be approved."),
    ] = None,
    name_server: Annotated[
        str | None,
        typer.Option(metavar="HOST[:PORT]", help="Name server, for hosts too; that of the machine when omitted."),
    ] = None,
) -> Output:
    """Check settings, accounts and addresses for real operation against the live providers, without changing anything.

    Each line is `ok`, `warning` or `fault` and says what to do. Exit code 4: there is a fault. docs/going-live.md.
    """
    environment, chosen = _environment(operator, settings or []), only or ()
    findings: list[tuple[str, Finding]] = []
    # No provider is called for the machine alone.
    if set(chosen) != {MACHINE}:
        findings = asyncio.run(
            examine(
                environment,
                chosen,
                dkim_selectors=tuple(dkim_selector or ()),
                templates=_names_in(templates),
                name_server=name_server,
            )
        )
    if (not chosen or MACHINE in chosen) and not settings and (operator.own.state_dir / "secrets.env").exists():
        found = asyncio.run(check_servers(machine_of(operator), environment))
        findings += [(MACHINE, finding) for finding in found]
    elif MACHINE in chosen:
        raise Refused(
            "No system is on this machine.", "Set STATE_DIR to the folder of secrets.env, without --settings", MISUSED
        )
    rows = [
        {
            "state": finding.state,
            "check": name,
            "subject": finding.subject,
            "found": finding.found,
            "advice": finding.advice,
        }
        for name, finding in findings
    ]
    exit_code = FINDINGS if any(finding.state == "fault" for _, finding in findings) else 0
    shown = tuple(line for _, finding in findings for line in _lines(finding))
    return Output(rows, lines=shown, exit_code=exit_code)


def _lines(finding: Finding) -> Iterator[str]:
    """Yield a finding as one line, so that its names can be copied and searched, and its advice below it."""
    yield f"{finding.state:<8}{finding.subject}: {finding.found}"
    if finding.advice:
        yield f"{'':<8}-> {finding.advice}"


def _names_in(templates: Path | None) -> frozenset[str]:
    """Return the names in an exported file of templates, a JSON list of objects with `name`."""
    if templates is None:
        return frozenset()
    try:
        return frozenset(str(template["name"]) for template in json.loads(templates.read_text()))
    except (OSError, ValueError, KeyError, TypeError) as error:
        advice = "Export it: campusctl messaging templates export --out FILE"
        raise Refused(f"{templates} is no file of templates: {error}", advice, MISUSED) from None


def _environment(operator: Operator, files: list[Path]) -> dict[str, str]:
    """Return the settings of files and environment; without files, those of this machine's system if there is one."""
    if not files and (operator.own.state_dir / "secrets.env").exists():
        return {**operator.own.environment(), **os.environ, "BASE_URL": operator.base_url}
    given: dict[str, str] = {}
    for file in files:
        try:
            given |= read_settings(file)
        except (OSError, ValueError) as error:
            reason = error.strerror if isinstance(error, OSError) else error
            raise Refused(f"{file} is not readable: {reason}", "Write NAME=value lines", MISUSED) from None
    return {**given, **os.environ}
