"""Rotate secrets of a running system, on its machine or on a cluster: begin, roll, check, end; and trace the use of a
secret.
"""

import asyncio
import json
import os
import signal
import sys
import time
from collections.abc import Coroutine
from getpass import getpass
from pathlib import Path
from typing import Annotated, Any, Final, TypeVar

import asyncpg
import typer

from operations.campusctl.api_commands import Own, register_group
from operations.campusctl.commands import dns_token, rotation_on_cluster, rotation_trail
from operations.campusctl.exits import FINDINGS, MISUSED, NOT_REACHABLE, Refused
from operations.campusctl.registering import Operator, Yes
from operations.campusctl.showing import Output
from operations.installation.errors import InstallationFailed
from operations.installation.host import Host
from operations.installation.installing import roll_processes
from operations.installation.plan import memory_of_machine
from operations.installation.settings import read_installation_settings
from operations.ports import is_listening
from operations.processes import CAMPUS
from operations.rotation import database_logins
from operations.rotation.measurements import Counted, Prometheus, Unmeasured, counted_between, read_processes, total
from operations.rotation.secret_store import ENCRYPTING, RotationRefused, Secret, ended, may_encrypt, started, switched
from operations.rotation.verdict import Seen, reasons_against
from operations.secrets import read_secrets, write_secrets
from operations.services import SERVICES, Service, service_named

# All processes, each with its drain time, on a busy machine.
ROLL_SECONDS_MAX: Final = 900.0

SecretName = Annotated[Secret, typer.Argument(help="Which secret.")]
Services = Annotated[
    list[str] | None, typer.Option("--service", help="With database-passwords: only these services.", metavar="NAME")
]
Found = TypeVar("Found")


def register(app: typer.Typer) -> None:
    group = register_group(
        app,
        "rotation",
        "Rotate secrets of a running system.",
        {
            "status": Own(status, ("--json", "--kubernetes"), on_cluster=True),
            "begin": Own(start, _STARTS, on_cluster=True),
            "switch": Own(switch, ("sealing-key",), on_cluster=True),
            "re-encrypt": Own(re_encrypt, ("sealing-key", "pin-key --count --json"), on_cluster=True),
            "roll": Own(roll, ("", "--every"), on_cluster=True),
            "check": Own(check, _CHECKS, on_cluster=True),
            "end": Own(end, ("database-passwords",), on_cluster=True),
        },
    )
    rotation_trail.register(group)
    dns_token.register(group)


_STARTS: Final = (
    "database-passwords",
    "NEW_SECRET=sk_live_… campusctl rotation begin gateway-secret-key",
    "NEW_SECRET=$(openssl rand -hex 32) campusctl rotation begin flutterwave-webhook-hash",
    "service-role-key --compromised --yes",
    "pin-key --kubernetes --context production",
)
_CHECKS: Final = ("--minutes 30 --prometheus http://127.0.0.1:9090", "--sample-seconds 60 --json")


def status(operator: Operator) -> Output:
    """Show which old secrets are still valid: previous keys, and database logins with their sessions.

    With --kubernetes: previous values of the Secrets, and Deployments whose pods hold older values.
    """
    if operator.cluster:
        return rotation_on_cluster.status(operator.cluster)
    kept = operator.own.secrets()
    lines: list[dict[str, Any]] = [
        {"secret": secret, "open": previous, "inUse": False, "sessions": {}}
        for secret in Secret
        for previous in ended(kept, secret)
        if secret is not Secret.database and previous.endswith("_PREVIOUS")
    ]
    if kept.get("SHARED_SEALING_KEY"):
        lines.append({"secret": Secret.encryption, "open": "SHARED_SEALING_KEY", "inUse": True, "sessions": {}})
    for login in _awaited(database_logins.list_logins(kept["DATABASE_URL"], kept, SERVICES)):
        if login.is_open:
            sessions = dict(login.sessions)
            lines.append(
                {"secret": Secret.database, "open": login.name, "inUse": login.is_in_use, "sessions": sessions}
            )
    return Output(lines, ("secret", "open", "inUse", "sessions"))


def start(
    operator: Operator,
    secret: SecretName,
    service: Services = None,
    compromised: Annotated[
        bool, typer.Option("--compromised", help="Reject the old value from the next roll on.")
    ] = False,
    yes: Yes = False,
) -> Output:
    """Set the new value: old and new are valid from the next roll on. A provider's value is read from NEW_SECRET or
    prompted.

    With --kubernetes: fail, and name what to change in the store that writes the Secrets.
    """
    _check(operator, secret)
    operator.confirm(f"Start the rotation of {secret}?", yes=yes)
    if secret is Secret.signing:
        if compromised:
            raise Refused("To revoke a compromised signing key: campusctl keys retire --compromised KID", exit_code=2)
        return Output({"said": operator.runner.must("identity", "rotate-keys")})
    if operator.cluster:
        return rotation_on_cluster.start(operator.cluster, secret, compromised=compromised)
    kept = operator.own.secrets()
    try:
        if secret is Secret.database:
            opened = database_logins.open_next_logins(kept["DATABASE_URL"], kept, _services(service))
            changed = _awaited(opened)
        else:
            changed = started(kept, secret, _new_value(secret), compromised=compromised)
    except (RotationRefused, database_logins.LoginsRefused) as refusal:
        raise Refused(str(refusal)) from refusal
    _write(operator, changed)
    return Output({"changed": sorted(changed), "next": "campusctl rotation roll"})


def switch(operator: Operator, secret: SecretName, yes: Yes = False) -> Output:
    """Encrypt with the new sealing-key or pin-key from the next roll on. The old key still decrypts."""
    operator.runner.check()
    operator.confirm(f"Encrypt with the new {secret}? Every process must have been restarted since `begin`.", yes=yes)
    if operator.cluster:
        return rotation_on_cluster.switch(operator.cluster, secret)
    try:
        changed = switched(operator.own.secrets(), secret)
    except RotationRefused as refusal:
        raise Refused(str(refusal)) from refusal
    _write(operator, changed)
    return Output({"changed": sorted(changed), "next": "campusctl rotation roll"})


def re_encrypt(
    operator: Operator,
    secret: SecretName,
    count: Annotated[bool, typer.Option("--count", help="Only count values that need the old key.")] = False,
) -> Output:
    """Re-encrypt values under the old sealing-key or pin-key, and count the rest. Exit code 4: some still need the old
    key.
    """
    operator.runner.check()
    if secret not in _USED_BY:
        raise Refused(f"{secret} encrypts no stored values.", exit_code=2)
    lines = _reencrypted(operator, secret, only_count=count)
    return Output(lines, ("service", "said", "done"), exit_code=0 if all(line["done"] for line in lines) else FINDINGS)


def _reencrypted(operator: Operator, secret: Secret, *, only_count: bool) -> list[dict[str, Any]]:
    lines = []
    for service in _USED_BY[secret]:
        ended_with = operator.runner.run(service, "re-encrypt", *(["--count"] if only_count else []))
        output = "; ".join([*ended_with.output.splitlines(), *ended_with.complained.splitlines()])
        lines.append({"service": service, "said": output, "done": ended_with.exit_code == 0})
    return lines


def roll(
    operator: Operator,
    every: Annotated[
        bool, typer.Option("--every", help="Also restart processes whose secrets did not change.")
    ] = False,
) -> Output:
    """Restart the running system's processes one by one with the current secrets.env, and wait for the last.

    With --kubernetes: fetch the Secrets from their store, restart the Deployments whose pods hold older values, and
    verify that the new pods hold the present ones.
    """
    if operator.cluster:
        return rotation_on_cluster.roll(operator.cluster, every=every)
    operator.own.secrets()
    if path := os.environ.get("CAMPUS_SETTINGS"):
        return _roll_units(Path(path), every=every)
    lock, record = operator.own.state_dir / "lock", operator.own.state_dir / "rolled.json"
    before = record.stat().st_mtime_ns if record.exists() else 0
    try:
        os.kill(int(lock.read_text()), signal.SIGUSR2 if every else signal.SIGUSR1)
    except (OSError, ValueError) as error:
        raise Refused(
            "No system is running in this state directory.", "Start it with make run, or set STATE_DIR", NOT_REACHABLE
        ) from error
    deadline = time.monotonic() + ROLL_SECONDS_MAX
    while (record.stat().st_mtime_ns if record.exists() else 0) == before:
        if time.monotonic() > deadline:
            raise Refused(f"The processes did not restart within {ROLL_SECONDS_MAX:.0f} s.", "Check STATE_DIR/logs")
        time.sleep(0.2)
    result = json.loads(record.read_text())
    if result["failure"]:
        raise Refused(result["failure"], f"Restarted before the failure: {', '.join(result['rolled']) or 'none'}")
    return Output({"rolled": result["rolled"]})


def _roll_units(settings: Path, *, every: bool) -> Output:
    """Write the environments of the installed system, and restart the units that read another one."""
    host = Host()
    try:
        roll_processes(read_installation_settings(settings, memory_of_machine()), host, every=every)
    except InstallationFailed as error:
        raise Refused(error.detail, error.advice) from None
    return Output({"rolled": host.done})


def check(
    operator: Operator,
    minutes: Annotated[
        float, typer.Option(min=0.1, help="Minutes since the new value is in use; compared with as many before.")
    ] = 30,
    quiet_minutes: Annotated[float, typer.Option(min=0.1, help="Minutes without a use of the old value.")] = 5,
    prometheus: Annotated[str | None, typer.Option(metavar="URL", help="Prometheus server with the metrics.")] = None,
    metrics: Annotated[
        list[str] | None,
        typer.Option(metavar="URL", help="Metrics address of a process, to sample without Prometheus."),
    ] = None,
    sample_seconds: Annotated[float, typer.Option(min=1, help="Seconds to sample without Prometheus.")] = 60,
) -> Output:
    """Check by the metrics whether the old secret may be revoked: no spike of 401 and 403, no use of it. Exit code 4:
    not yet.
    """
    try:
        if prometheus:
            server = Prometheus(prometheus)
            before, since = server.stretch(minutes, ended_minutes_ago=minutes), server.stretch(minutes)
            uses = server.previous_uses(min(quiet_minutes, minutes))
            how = f"{minutes:g} minutes against the {minutes:g} before, from {prometheus}"
        else:
            first = _counted(operator, metrics)
            time.sleep(sample_seconds)
            sampled = counted_between(first, _counted(operator, metrics))
            before, since, uses = total(list(first.values())).stretch, sampled.stretch, sampled.previous_uses
            how = (
                f"sampled for {sample_seconds:g} s at {len(first)} processes, against all requests since their start; "
                f"without Prometheus the last {minutes:g} minutes are unknown"
            )
    except Unmeasured as error:
        raise Refused(
            str(error), "Set --prometheus, or the processes' addresses with --metrics", NOT_REACHABLE
        ) from error
    seen = Seen(before, since, uses, _sessions_of_old_logins(operator))
    reasons = reasons_against(seen)
    return Output(
        {
            "mayRevoke": not reasons,
            "reasons": reasons,
            "how": how,
            "answersBefore": round(before.responses),
            "answersSince": round(since.responses),
            **{f"share{status}Before": round(before.share(status), 4) for status in (401, 403)},
            **{f"share{status}Since": round(since.share(status), 4) for status in (401, 403)},
            "previousUses": {name: round(number) for name, number in uses.items()},
            "sessionsOfOldLogins": seen.sessions_of_old_logins,
        },
        exit_code=FINDINGS if reasons else 0,
    )


def end(
    operator: Operator,
    secret: SecretName,
    service: Services = None,
    now: Annotated[
        bool, typer.Option("--now", help="Also close old logins in use; their sessions are terminated.")
    ] = False,
    yes: Yes = False,
) -> Output:
    """Revoke the old value: a login at once, a previous key from the next roll on.

    With --kubernetes the date of the rotation is recorded when no old value is left (campus.example/rotated-at).
    """
    _check(operator, secret)
    operator.confirm(f"Revoke the old {secret}?", yes=yes)
    if secret is Secret.signing:
        return Output({"said": operator.runner.must("identity", "retire-keys")})
    if operator.cluster:
        return rotation_on_cluster.end(operator.cluster, secret, lambda: _refuse_while_needed(operator, secret))
    kept = operator.own.secrets()
    if secret is Secret.assistant:
        raise Refused("The system verifies no key of this kind: revoke the old one at its provider.", exit_code=2)
    if secret is Secret.database:
        try:
            closing = database_logins.close_previous_logins(
                kept["DATABASE_URL"], kept, _services(service), even_in_use=now
            )
            return Output({"closed": [login.name for login in _awaited(closing)]})
        except database_logins.LoginsRefused as refusal:
            raise Refused(str(refusal)) from refusal
    if secret in ENCRYPTING and may_encrypt(kept, secret):
        _refuse_while_needed(operator, secret)
    changed = ended(kept, secret)
    _write(operator, changed)
    return Output({"changed": sorted(changed), "next": "campusctl rotation roll" if changed else None})


def _refuse_while_needed(operator: Operator, secret: Secret) -> None:
    needing = [line for line in _reencrypted(operator, secret, only_count=True) if not line["done"]]
    if needing:
        services = "; ".join(f"{line['service']}: {line['said']}" for line in needing)
        raise Refused(f"The old key is still needed: {services}", f"campusctl rotation re-encrypt {secret}")


_USED_BY: Final = {Secret.encryption: ("identity", "orders", "payouts", "notifications"), Secret.pin: ("orders",)}


def _check(operator: Operator, secret: Secret) -> None:
    """Raise Refused unless there is a system here that can have the secret."""
    if secret is Secret.dns and operator.cluster is None:
        raise Refused("Only a cluster has this token.", f"campusctl rotation begin {secret} --kubernetes", MISUSED)
    operator.runner.check()


def _counted(operator: Operator, metrics: list[str] | None) -> dict[str, Counted]:
    """Read the counters of processes by address, in the cluster's pods, or on this machine. Raises Unmeasured."""
    if operator.cluster and not metrics:
        return rotation_on_cluster.read_pods(operator.cluster)
    ports = [operator.own.port_base + plan.health_offset for plan in CAMPUS.processes if plan.service != "sandbox"]
    endpoints = metrics or [f"http://127.0.0.1:{port}" for port in ports if is_listening(port, "127.0.0.1")]
    if not endpoints:
        raise Unmeasured("No process of this state directory responds.")
    return read_processes(endpoints)


def _sessions_of_old_logins(operator: Operator) -> dict[str, int]:
    """Return the sessions of old logins in this machine's databases; none elsewhere: there only the metrics count."""
    if operator.cluster or not (operator.own.state_dir / "secrets.env").exists():
        return {}
    kept = operator.own.secrets()
    logins = _awaited(database_logins.list_logins(kept["DATABASE_URL"], kept, SERVICES))
    return {login.name: sum(login.sessions.values()) for login in logins if login.sessions and not login.is_in_use}


def _services(names: list[str] | None) -> list[Service]:
    try:
        return [service_named(name) for name in names] if names else list(SERVICES)
    except LookupError as error:
        raise Refused(str(error.args[0]), exit_code=2) from error


def _new_value(secret: Secret) -> str | None:
    """Read the new value from NEW_SECRET or the terminal: other users of the machine can read arguments."""
    given = os.environ.get("NEW_SECRET")
    if given or secret in (Secret.service_role, *ENCRYPTING):
        return given or None
    return getpass(f"New {secret}: ", sys.stderr) if sys.stdin.isatty() else None


def _write(operator: Operator, changed: dict[str, str]) -> None:
    path = operator.own.state_dir / "secrets.env"
    write_secrets(path, {**read_secrets(path), **changed})


def _awaited(looking: Coroutine[Any, Any, Found]) -> Found:
    try:
        return asyncio.run(looking)
    except (OSError, asyncpg.PostgresError) as error:
        raise Refused(
            f"The database operation failed: {error or type(error).__name__}", exit_code=NOT_REACHABLE
        ) from error
