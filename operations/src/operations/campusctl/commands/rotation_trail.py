"""`campusctl rotation trail`: the uses of a secret in a period."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Annotated, Final

import typer

from operations.campusctl.registering import Operator, command
from operations.campusctl.showing import Output
from operations.rotation import trail
from operations.rotation.cluster_processes import OF_PROJECT
from operations.rotation.secret_store import Secret

_ABOUT: Final = {Secret.service_role: "service call", Secret.signing: "signing key"}


def register(group: typer.Typer) -> None:
    command(
        group,
        "trail",
        "campusctl rotation trail service-role-key --since 2026-11-21T10:00:00Z --named 3f9a1c27b0de",
        "campusctl rotation trail service-role-key --since 2026-11-21T10:00:00Z --kubernetes",
        on_cluster=True,
    )(show_trail)


def show_trail(
    operator: Operator,
    secret: Annotated[Secret, typer.Argument(help="Which secret.")],
    since: Annotated[datetime, typer.Option(help="Start of the period.", formats=["%Y-%m-%dT%H:%M:%SZ"])],
    until: Annotated[
        datetime | None, typer.Option(help="End of the period; now when omitted.", formats=["%Y-%m-%dT%H:%M:%SZ"])
    ] = None,
    named: Annotated[str | None, typer.Option(help="Only calls with this key fingerprint or key id.")] = None,
    logs: Annotated[
        list[Path] | None, typer.Option(help="Log files; those of STATE_DIR when omitted.", metavar="FILE")
    ] = None,
) -> Output:
    """List uses of a secret in a period: audit lines of the logs, webhooks and staff actions of the databases.

    With --kubernetes: audit lines only of the pods that exist; logs of earlier pods are in the cluster's log store
    (--logs).
    """
    starts_at = since.replace(tzinfo=UTC)
    ends = until.replace(tzinfo=UTC) if until else datetime.now(UTC) + timedelta(seconds=1)
    texts = operator.cluster.logs(OF_PROJECT, starts_at) if operator.cluster and not logs else _texts(operator, logs)
    found = [line for line in trail.lines_of(texts, starts_at, ends, named) if _is_about(secret, line["what"])]
    if named is None and secret in trail.ROWS:
        service, *arguments = trail.ROWS[secret]
        printed = operator.runner.must(service, *arguments, starts_at.isoformat(), ends.isoformat())
        found += trail.rows_in(printed, service)
    return Output(sorted(found, key=lambda line: str(line["at"])), ("at", "where", "what", "detail"))


def _texts(operator: Operator, logs: list[Path] | None) -> Iterator[str]:
    """Yield the lines of log files: of these, else of the system on this machine. Raises Refused: there is none."""
    if not logs:
        operator.own.secrets()
    for path in logs or sorted((operator.own.state_dir / "logs").glob("*.log*")):
        with path.open(errors="replace") as texts:
            yield from texts


def _is_about(secret: Secret, what: str) -> bool:
    return what.startswith(_ABOUT.get(secret, "\0"))
