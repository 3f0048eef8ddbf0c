"""Teams that subscribe to public events: their accounts at the broker, and replays into their queues."""

import asyncio
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Annotated, Final

import typer

from operations.broker_accounts import SUBSCRIBER_LIMITS
from operations.campusctl.api_commands import Own, register_group
from operations.campusctl.exits import MISUSED, NOT_REACHABLE, Refused
from operations.campusctl.registering import Operator, Yes
from operations.campusctl.showing import Output
from operations.provision import ProvisioningFailed, database_url
from operations.secret_table import password_variable
from operations.secrets import new_password, read_secrets, write_secrets
from operations.subscribers import (
    LIST,
    TYPES,
    SubscribersRefused,
    Team,
    apply_teams,
    check_team,
    load_teams,
    save_teams,
)

# The default of OUTBOX_KEEP_DAYS.
REPLAY_DAYS_MAX: Final = 7

TeamName = Annotated[str, typer.Argument(metavar="TEAM", help="Small letters, digits and hyphens.")]
ListFile = Annotated[Path, typer.Option("--file", metavar="FILE", help="The list of teams, in a checkout.")]
_NEXT: Final = (
    "campusctl subscribers apply for make run; on a cluster deploy/k8s/roll-out, with {} in the entry campus/broker"
)


def register(app: typer.Typer) -> None:
    added = (
        "search --topics orders.product_changed.v1,orders.review_posted.v1",
        "analytics --topics '*' --connections 5",
    )
    replayed = "search --queue sub.search.index --since 2026-11-20T00:00:00Z"
    commands = {
        "add": Own(add, added),
        "remove": Own(remove, ("search --yes",)),
        "list": Own(list_teams, ("--json",)),
        "apply": Own(apply, ("",)),
        "replay": Own(replay, (replayed, f"{replayed} --kubernetes"), on_cluster=True),
    }
    register_group(app, "subscribers", "Teams that subscribe to public events at the broker.", commands)


def add(
    operator: Operator,
    team: TeamName,
    topics: Annotated[str, typer.Option(metavar="TYPE,...", help="Event types, or * for all.")],
    connections: Annotated[int, typer.Option(min=1)] = SUBSCRIBER_LIMITS["max-connections"],
    channels: Annotated[int, typer.Option(min=1)] = SUBSCRIBER_LIMITS["max-channels"],
    file: ListFile = LIST,
) -> Output:
    """Add a team to the list, or change it, and write its manifests. The account exists after `apply`, or a
    roll-out.
    """
    chosen = Team(team, tuple(dict.fromkeys(topics.split(","))), connections, channels)
    try:
        check_team(chosen)
        written = save_teams(file, [*(other for other in load_teams(file) if other.name != team), chosen])
    except SubscribersRefused as refusal:
        raise Refused(str(refusal), exit_code=MISUSED) from refusal
    return Output({"written": [str(path) for path in written], "next": _NEXT.format(chosen.account)})


def remove(operator: Operator, team: TeamName, yes: Yes = False, file: ListFile = LIST) -> Output:
    """Remove a team from the list and the manifests. Its account is deleted by `apply`, on a cluster by hand."""
    try:
        teams = load_teams(file)
        kept = [other for other in teams if other.name != team]
        if len(kept) == len(teams):
            raise Refused(f"There is no team {team}", "campusctl subscribers list", MISUSED)
        operator.confirm(f"Remove the team {team}?", yes=yes)
        written = save_teams(file, kept)
    except SubscribersRefused as refusal:
        raise Refused(str(refusal), exit_code=MISUSED) from refusal
    on_cluster = f"kubectl delete -n campus users.rabbitmq.com,permissions.rabbitmq.com subscriber-{team}"
    return Output({"written": [str(path) for path in written], "next": f"campusctl subscribers apply; {on_cluster}"})


def list_teams(operator: Operator, file: ListFile = LIST) -> Output:
    """List the teams with their topics and limits."""
    lines = [
        {
            "team": team.name,
            "account": team.account,
            "topics": list(team.topics),
            "connections": team.connections,
            "channels": team.channels,
        }
        for team in _teams(file)
    ]
    return Output(lines, ("team", "account", "topics", "connections", "channels"))


def apply(operator: Operator, file: ListFile = LIST) -> Output:
    """Make the subscribers' accounts at the running system's broker those of the list, on its machine (STATE_DIR).

    A new team's password is stored in secrets.env. The address of each is printed without it.
    """
    teams = _teams(file)
    kept = operator.own.secrets()
    names = {team.account: password_variable(team.account) for team in teams}
    made = {name: new_password() for name in names.values() if not kept.get(name)}
    path = operator.own.state_dir / "secrets.env"
    # Stored first: an account whose password is lost would be useless.
    write_secrets(path, {**read_secrets(path), **made})
    known = {**kept, **made}
    passwords = {account: known[name] for account, name in names.items()}
    try:
        removed = asyncio.run(apply_teams(kept["BROKER_MANAGEMENT_URL"], kept["BROKER_URL"], teams, passwords))
    except KeyError as error:
        raise Refused(
            f"{error} is missing in {path}", "Start the system once with this release", NOT_REACHABLE
        ) from error
    except ProvisioningFailed as error:
        raise Refused(str(error), "Is the system running (make run)?", NOT_REACHABLE) from error
    return Output(
        {
            "accounts": {
                team.name: database_url(kept["BROKER_URL"], role=team.account, password=names[team.account])
                for team in teams
            },
            "removed": removed,
            "passwords": str(path),
        }
    )


def replay(
    operator: Operator,
    team: TeamName,
    queue: Annotated[str, typer.Option(help="The team's queue, sub.TEAM.NAME, which it has declared.")],
    since: Annotated[
        datetime, typer.Option(help="At most seven days ago (OUTBOX_KEEP_DAYS).", formats=["%Y-%m-%dT%H:%M:%SZ"])
    ],
    yes: Yes = False,
    file: ListFile = LIST,
) -> Output:
    """Publish a team's past events again to one queue of its own, on the system's machine (STATE_DIR) or with
    --kubernetes.

    The same ids as before, in the order of each service. Other subscribers and the services receive nothing.
    """
    chosen = next((other for other in _teams(file) if other.name == team), None)
    if chosen is None:
        raise Refused(f"There is no team {team}", "campusctl subscribers list", MISUSED)
    if not queue.startswith(f"sub.{team}."):
        raise Refused(f"{queue} is no queue of the team {team}: its names start with sub.{team}.", exit_code=MISUSED)
    starts_at = since.replace(tzinfo=UTC)
    if starts_at < datetime.now(UTC) - timedelta(days=REPLAY_DAYS_MAX):
        raise Refused(f"Events are kept for {REPLAY_DAYS_MAX} days.", "Give a later instant", MISUSED)
    broker_url = operator.runner.broker_administrator()
    operator.confirm(f"Publish the events since {since:%Y-%m-%d %H:%M} again to {queue}?", yes=yes)
    lines = []
    for service in sorted({event_type.partition(".")[0] for event_type in chosen.types or TYPES}):
        types = [event_type for event_type in chosen.types or sorted(TYPES) if event_type.startswith(f"{service}.")]
        arguments = ("--queue", queue, "--types", ",".join(types), "--since", starts_at.isoformat())
        result = operator.runner.must(service, "replay", *arguments, stdin=broker_url)
        lines.append({"service": service, "result": result})
    return Output(lines, ("service", "result"))


def _teams(file: Path) -> list[Team]:
    try:
        return load_teams(file)
    except SubscribersRefused as refusal:
        raise Refused(str(refusal), exit_code=MISUSED) from refusal
