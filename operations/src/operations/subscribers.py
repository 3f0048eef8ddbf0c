"""The teams that subscribe to public events: the list `deploy/subscribers.yaml`, its manifests, and the accounts at a
broker.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

import httpx
import yaml

from common.primitives.tls import client_tls
from contracts.topology import PUBLIC
from operations.broker_accounts import SUBSCRIBER_LIMITS, rights_of_subscriber
from operations.provision import ProvisioningFailed, provision_subscriber, virtual_host
from operations.secret_table import subscriber_account

LIST: Final = Path("deploy/subscribers.yaml")
"""The list of a checkout, from its folder."""
ALL_TOPICS: Final = "*"
TYPES: Final = frozenset(event.TYPE for event in PUBLIC)
# A part of names of queues and of an account.
_TEAM: Final = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")
_TEAM_LENGTH_MAX: Final = 30
_HEADING: Final = (
    "# Teams that subscribe to public events at the broker; `campusctl subscribers add` and `remove` write it, "
    "and the manifests "
    "from it.\n"
    '# topics: event types, or "*" for all. connections, channels: of the team\'s account at a time.\n'
)
_MANIFEST_HEADING: Final = "# Written from deploy/subscribers.yaml by `campusctl subscribers` and `make documents`.\n"


class SubscribersRefused(Exception):
    """Rejection before any change; the message gives the reason."""


@dataclass(frozen=True, slots=True)
class Team:
    """A subscribing team: the event types that it may bind its queues to, and the limits of its account."""

    name: str
    topics: tuple[str, ...]
    connections: int = SUBSCRIBER_LIMITS["max-connections"]
    channels: int = SUBSCRIBER_LIMITS["max-channels"]

    @property
    def account(self) -> str:
        return subscriber_account(self.name)

    @property
    def limits(self) -> dict[str, int]:
        """RabbitMQ's limits of the account."""
        return {"max-connections": self.connections, "max-channels": self.channels}

    @property
    def types(self) -> tuple[str, ...]:
        """The event types of its topic permission; none: all public ones."""
        return () if ALL_TOPICS in self.topics else self.topics


def load_teams(path: Path) -> list[Team]:
    """Read the list.

    Raises:
        SubscribersRefused: the file is missing, or a team in it is invalid.
    """
    if not path.is_file():
        raise SubscribersRefused(f"There is no {path}: run the command in a checkout of the repository")
    listed = yaml.safe_load(path.read_text()) or {}
    try:
        teams = [Team(name, **{**fields, "topics": tuple(fields["topics"])}) for name, fields in listed.items()]
    except (TypeError, KeyError) as error:
        raise SubscribersRefused(f"{path} is not a list of teams: {error}") from error
    for team in teams:
        check_team(team)
    return teams


def check_team(team: Team) -> None:
    """Raise SubscribersRefused for an invalid name, an unknown topic, or a limit below 1."""
    if not _TEAM.fullmatch(team.name) or len(team.name) > _TEAM_LENGTH_MAX:
        raise SubscribersRefused(
            f"{team.name!r} is no name of a team: small letters, digits and single hyphens, at most 30"
        )
    if unknown := set(team.topics) - TYPES - {ALL_TOPICS}:
        raise SubscribersRefused(f"These are no public event types: {', '.join(sorted(unknown))}. /events lists them")
    if not team.topics:
        raise SubscribersRefused("A team needs a topic: event types, or * for all")
    if team.connections < 1 or team.channels < 1:
        raise SubscribersRefused("A limit is at least 1")


def save_teams(path: Path, teams: Sequence[Team]) -> list[Path]:
    """Write the list and the manifests from it, and return the written files."""
    listed = {
        team.name: {"topics": list(team.topics), "connections": team.connections, "channels": team.channels}
        for team in sorted(teams, key=lambda team: team.name)
    }
    written = {path: _HEADING + yaml.safe_dump(listed, sort_keys=False), **manifests_of(path.parent / "k8s", teams)}
    for file, text in written.items():
        file.write_text(text)
    return list(written)


def manifests_of(folder: Path, teams: Sequence[Team]) -> dict[Path, str]:
    """Return the manifests of the teams' topics and accounts below `folder` (deploy/k8s), by path."""
    ordered = sorted(teams, key=lambda team: team.name)
    topics = {team.name: {"topics": list(team.topics)} for team in ordered}
    accounts = [resource for team in ordered for resource in _account_of(team)]
    secrets = [_secret_of(team) for team in ordered]
    return {
        folder / "base/notifications/subscribers.yaml": _MANIFEST_HEADING
        + yaml.safe_dump(_config_map_of(topics), sort_keys=False),
        folder / "components/broker/subscribers.yaml": _MANIFEST_HEADING
        + yaml.safe_dump_all(accounts, sort_keys=False),
        folder / "components/server-accounts/subscribers.yaml": _MANIFEST_HEADING
        + yaml.safe_dump_all(secrets, sort_keys=False),
    }


def _config_map_of(topics: Mapping[str, object]) -> dict[str, Any]:
    """Return the topics, which the pods of notifications read from a file that Kubernetes keeps current."""
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "subscribers", "labels": {"app.kubernetes.io/part-of": "campus"}},
        "data": {"subscribers.yaml": yaml.safe_dump(topics, sort_keys=False)},
    }


def _account_of(team: Team) -> list[dict[str, Any]]:
    name = f"subscriber-{team.name}"
    rights = rights_of_subscriber(team.name, team.types)
    cluster = {"rabbitmqClusterReference": {"name": "broker"}}
    of_account = {"vhost": "/", "userReference": {"name": name}}
    limits = {"connections": team.connections, "channels": team.channels}
    permissions = {"configure": rights.configure, "write": rights.write, "read": rights.read}
    topics = [
        _resource(
            "TopicPermission",
            f"{name}-{exchange.replace('.', '-')}",
            {**of_account, "permissions": {"exchange": exchange, "write": write, "read": read}, **cluster},
        )
        for exchange, (write, read) in rights.topics.items()
    ]
    return [
        _resource("User", name, {"importCredentialsSecret": {"name": f"{name}-account"}, "limits": limits, **cluster}),
        # Before the permission: without one, every routing key is allowed.
        *topics,
        _resource("Permission", name, {**of_account, "permissions": permissions, **cluster}),
    ]


def _resource(kind: str, name: str, spec: dict[str, Any]) -> dict[str, Any]:
    labels = {"app.kubernetes.io/part-of": "campus", "app.kubernetes.io/component": "broker-account"}
    metadata = {"name": name, "labels": labels}
    return {"apiVersion": "rabbitmq.com/v1beta1", "kind": kind, "metadata": metadata, "spec": spec}


def _secret_of(team: Team) -> dict[str, Any]:
    return {
        "apiVersion": "external-secrets.io/v1",
        "kind": "ExternalSecret",
        "metadata": {
            "name": f"subscriber-{team.name}-account",
            "labels": {"app.kubernetes.io/part-of": "campus"},
            "annotations": {"campus.example/secret": "broker-account", "campus.example/rotation-days": "180"},
        },
        "spec": {
            "refreshInterval": "5m",
            "secretStoreRef": {"kind": "ClusterSecretStore", "name": "campus"},
            "target": {
                "deletionPolicy": "Retain",
                "template": {
                    "metadata": {"labels": {"rabbitmq.com/topology-operator": "true"}},
                    "data": {"username": team.account, "password": "{{ .password }}"},
                },
            },
            "data": [
                {"secretKey": "password", "remoteRef": {"key": "campus/broker", "property": team.account}},
            ],
        },
    }


async def apply_teams(
    management_url: str, broker_url: str, teams: Sequence[Team], passwords: Mapping[str, str]
) -> list[str]:
    """Make a broker's subscriber accounts those of `teams`, and return the removed accounts. Idempotent.

    `passwords`: by account. An account that is not in the list is deleted with its connections; its queues expire.

    Raises:
        ProvisioningFailed: the management API is unreachable or rejects the account.
    """
    try:
        return await _apply(management_url, quote(virtual_host(broker_url), safe=""), teams, passwords)
    except httpx.HTTPError as error:
        # The error's text contains the address with its password.
        raise ProvisioningFailed(
            f"The accounts could not be changed through RabbitMQ's management API ({type(error).__name__})"
        ) from None


async def _apply(management_url: str, host: str, teams: Sequence[Team], passwords: Mapping[str, str]) -> list[str]:
    async with httpx.AsyncClient(base_url=management_url, timeout=10, trust_env=False, verify=client_tls()) as api:
        for team in teams:
            rights = rights_of_subscriber(team.name, team.types)
            await provision_subscriber(api, host, team.account, passwords[team.account], rights, team.limits)
        found = await api.get("/api/users", params={"columns": "name"})
        found.raise_for_status()
        listed = {team.account for team in teams}
        removed = sorted(
            user["name"]
            for user in found.json()
            if user["name"].startswith(subscriber_account("")) and user["name"] not in listed
        )
        for account in removed:
            # The broker closes the connections of a deleted account.
            (await api.delete(f"/api/users/{account}")).raise_for_status()
    return removed
