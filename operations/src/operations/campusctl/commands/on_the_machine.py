"""Commands that need the system's secrets instead of a token: keys, audit, ledgers, demo data."""

import asyncio
import os
import sys
from enum import StrEnum
from typing import Annotated, Any, Final

import asyncpg
import typer

from operations.audit.access import work_folder
from operations.audit.findings import Finding, Report
from operations.audit.gateway import Gateway
from operations.audit.recording import NotRecorded, Run, record_audit
from operations.audit.report import SETTLE_SECONDS, is_with_gateway, rules
from operations.audit.report import audit as audit_of
from operations.campusctl.api_commands import Own, register_group
from operations.campusctl.commands.audit_on_cluster import audit_on_cluster
from operations.campusctl.exits import FINDINGS, MISUSED, NOT_REACHABLE, REFUSED, Refused
from operations.campusctl.registering import Operator, Yes, command
from operations.campusctl.showing import Output
from operations.processes import CAMPUS

# Exit codes of argparse, and of a service without that command.
_MISUSES: Final = frozenset({2, 64})
# Processes that `make run` starts; their addresses are not in a command's environment.
_PROCESSES: Final = frozenset({"api", "worker", "all", "migrate"})


class Ledger(StrEnum):
    payments = "payments"
    payouts = "payouts"


class Service(StrEnum):
    identity = "identity"
    orders = "orders"
    payments = "payments"
    payouts = "payouts"
    notifications = "notifications"


def register(app: typer.Typer) -> None:
    keys = {
        "show": Own(show_keys, ("--json",)),
        "rotate": Own(rotate_keys, ("--yes",), on_cluster=True),
        "retire": Own(retire_keys, ("", "--compromised KID --yes"), on_cluster=True),
    }
    register_group(app, "keys", "Keys that sign access tokens.", keys)
    audits = ("campusctl audit", "campusctl audit --settle-seconds 0 --json")
    command(app, "audit", *audits, "campusctl audit --kubernetes --context production", on_cluster=True)(audit)
    verifications = ("", "payments --length 1200 --head 9f86d081…", "--kubernetes --context production")
    verify = {"verify": Own(verify_ledger, verifications, on_cluster=True)}
    register_group(app, "ledger", "The chained ledgers.", verify)
    register_group(app, "demo", "Demo data.", {"load": Own(load_demo, ("--yes",))})
    command(
        app,
        "service",
        "campusctl service payments reconcile --from 2026-11-21T00:00:00Z",
        "campusctl service payouts explain-transfer po-0192 'The float was topped up by hand'",
        "campusctl service orders republish --since 2026-11-21T10:00:00Z --kubernetes",
        passes_on=True,
        on_cluster=True,
    )(run_command_of_a_service)


def show_keys(operator: Operator) -> Output:
    """Show the public keys that verify tokens."""
    return Output(operator.api.get_openly("/.well-known/jwks.json")["keys"], ("kid", "kty", "crv", "alg", "use"))


def rotate_keys(operator: Operator, yes: Yes = False) -> Output:
    """Create a signing key, on the system's machine (STATE_DIR) or with --kubernetes. The previous key stays valid
    until it is retired.
    """
    operator.runner.check()
    operator.confirm("Create a new signing key?", yes=yes)
    return Output({"said": operator.runner.must("identity", "rotate-keys")})


def retire_keys(
    operator: Operator,
    compromised: Annotated[str | None, typer.Option(metavar="KID", help="Reject this key at once.")] = None,
    yes: Yes = False,
) -> Output:
    """Retire signing keys that no valid token needs, on the system's machine (STATE_DIR) or with --kubernetes."""
    operator.runner.check()
    if compromised:
        operator.confirm(f"Reject the key {compromised} and every token that it signed?", yes=yes)
    more = ("--compromised", compromised) if compromised else ()
    return Output({"said": operator.runner.must("identity", "retire-keys", *more)})


def audit(
    operator: Operator,
    settle_seconds: Annotated[
        float, typer.Option(min=0, help="Seconds that a difference must persist; messages may be pending.")
    ] = SETTLE_SECONDS,
) -> Output:
    """Check all money invariants over all services, and record the result (GET /api/audits). Exit code 4: an invariant
    is broken.

    On the system's machine (STATE_DIR), or with --kubernetes as a Job of the CronJob `audit`.

    A finding is `broken`, `open` (staff must decide) or `waiting` (it resolves itself); the last two give exit code 0.
    """
    report = (
        audit_on_cluster(operator.cluster, settle_seconds)
        if operator.cluster
        else _audit_here(operator, settle_seconds)
    )
    known = rules()
    lines = [line for where, rule in known for line in _lines(report, where, rule)]
    # A cluster may run another version, with other rules.
    lines += [_line_of(finding) for finding in report.findings if (finding.where, finding.rule) not in known]
    exit_code = FINDINGS if report.verdict == "broken" else 0
    return Output(lines, ("holds", "kind", "where", "promise", "rows"), exit_code=exit_code)


def _audit_here(operator: Operator, settle_seconds: float) -> Report:
    known = operator.own.audit_secrets()
    try:
        gateway = Gateway.of(os.environ, known, operator.own.sandbox_url, work_folder(operator.own.state_dir))
        started = Run.start()
        report = asyncio.run(audit_of(known, gateway, settle_seconds=settle_seconds))
        asyncio.run(record_audit(started, report, operator.base_url, known))
    except NotRecorded as error:
        sys.stderr.write(f"The audit was not recorded, GET /api/audits does not show it: {error}\n")
    except (OSError, asyncpg.PostgresError) as error:
        raise Refused(
            f"The audit failed: {error or type(error).__name__}",
            "Is the system running (make run)? Set STATE_DIR and PORT_BASE to audit another one",
            NOT_REACHABLE,
        ) from error
    return report


def _lines(report: Report, where: str, rule: str) -> list[dict[str, Any]]:
    """Return one line for a rule that holds, or one for each kind of its findings."""
    line = {"where": where, "promise": rule}
    if report.not_compared is not None and is_with_gateway(rule):
        return [
            {**line, "holds": None, "kind": "not_compared", "rows": (f"{report.gateway_url}: {report.not_compared}",)}
        ]
    found = [finding for finding in report.findings if (finding.where, finding.rule) == (where, rule)]
    return [_line_of(finding) for finding in found] or [{**line, "holds": True, "kind": None, "rows": ()}]


def _line_of(finding: Finding) -> dict[str, Any]:
    return {
        "where": finding.where,
        "promise": finding.rule,
        "holds": finding.kind != "broken",
        "kind": finding.kind,
        "rows": finding.rows,
    }


def verify_ledger(
    operator: Operator,
    ledger: Annotated[
        Ledger | None, typer.Argument(metavar="LEDGER", help="Ledger to verify; both when omitted.")
    ] = None,
    length: Annotated[int | None, typer.Option(min=0, help="Length in an earlier report.")] = None,
    head: Annotated[str | None, typer.Option(help="Head in the same report; that link must be unchanged.")] = None,
) -> Output:
    """Verify the hash chain of a ledger from its first link, on the system's machine or with --kubernetes. Exit code 4:
    it was changed.
    """
    if (length is None) != (head is None) or (length is not None and ledger is None):
        raise Refused("--length and --head need each other and one ledger.", exit_code=2)
    earlier = () if length is None else (str(length), str(head))
    walks = [_walk(operator, one, earlier) for one in ([ledger] if ledger else list(Ledger))]
    whole = all(walk["holds"] for walk in walks)
    return Output(walks, ("book", "holds", "length", "head", "broken"), exit_code=0 if whole else FINDINGS)


def _walk(operator: Operator, ledger: Ledger, earlier: tuple[str, ...]) -> dict[str, Any]:
    ended = operator.runner.run(ledger.value, "verify-ledger", *earlier)
    report = ended.output.splitlines()[-1].split() if ended.output else []
    if len(report) != 2 or not report[0].isdigit():
        words = ended.complained.splitlines() or [f"exit code {ended.exit_code}"]
        raise Refused(words[-1], f"Failed command: python -m {ledger.value} verify-ledger")
    broken = ended.complained.splitlines()[-1] if ended.exit_code != 0 else None
    return {
        "book": ledger.value,
        "holds": broken is None,
        "length": int(report[0]),
        "head": report[1],
        "broken": broken,
    }


def load_demo(operator: Operator, yes: Yes = False) -> Output:
    """Load demo users, vendors and products, on the system's machine (STATE_DIR). Existing rows stay."""
    operator.own.secrets()
    operator.confirm("Load demo data with accounts whose password is in secrets.env?", yes=yes)
    for service in CAMPUS.demo_services:
        operator.own.must(service, "demo-data")
    return Output({"loaded": list(CAMPUS.demo_services)})


def run_command_of_a_service(
    operator: Operator,
    service: Service,
    name: Annotated[str, typer.Argument(metavar="COMMAND", help="A command of that service.")],
    arguments: Annotated[list[str] | None, typer.Argument(help="Arguments of that command, passed unchanged.")] = None,
) -> Output:
    """Run `python -m SERVICE COMMAND` with that service's environment, on the system's machine (STATE_DIR).

    With --kubernetes in a pod of its worker.

    Exit code 1: the command failed; its output is printed.
    """
    if name in _PROCESSES:
        raise Refused(f"{name} is a process of the system, not a command.", "make run starts it", MISUSED)
    ended = operator.runner.run(service.value, name, *(arguments or ()))
    output = "\n".join(part for part in (ended.output, ended.complained) if part)
    if ended.exit_code != 0:
        raise Refused(
            output or f"exit code {ended.exit_code}",
            f"Failed command: python -m {service.value} {name}",
            MISUSED if ended.exit_code in _MISUSES else REFUSED,
        )
    return Output({"service": service.value, "command": name, "said": output})
