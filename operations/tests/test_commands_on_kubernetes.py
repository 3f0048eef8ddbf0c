"""The services' own commands in the pods of a cluster: the real kubectl against a stand-in for the API server."""

import json
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from operations.campusctl.app import app
from testkit.kubernetes_api import KubernetesApi, kubernetes_api

# The entry point of the images; it prints its arguments and its input, or fails as a service's command does.
START = """#!/bin/sh
[ "$1" = verify-book ] && { echo "$CHAIN"; [ -z "$BROKEN" ] || { echo "$BROKEN" >&2; exit 4; }; exit 0; }
[ "$1" = broken ] && { echo "no such row" >&2; exit 3; }
printf '%s of %s, input <%s>' "$*" "$SERVICE" "$(cat)"
"""


@pytest.fixture
def cluster(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[KubernetesApi]:
    with kubernetes_api(tmp_path) as api:
        start = tmp_path / "bin" / "start"
        start.parent.mkdir()
        start.write_text(START)
        start.chmod(0o755)
        for service in ("identity", "orders", "payments", "payouts", "notifications"):
            api.add_secret(f"{service}-keys", {"SERVICE": service, "CHAIN": "3 9f86d081"})
            api.add_deployment(f"{service}-worker", f"{service}-keys")
        monkeypatch.setenv("KUBECONFIG", str(api.kubeconfig))
        monkeypatch.setenv("HOME", str(tmp_path))
        monkeypatch.setenv("STATE_DIR", str(tmp_path / "no-system"))
        yield api


def ctl(*arguments: str, code: int = 0) -> Mapping[str, Any]:
    result = CliRunner().invoke(app, [*arguments, "--kubernetes", "--json"])
    assert result.exit_code == code, result.output
    document = json.loads(result.stdout)
    found: Mapping[str, Any] = document["error"] or {"data": document["data"]}
    return found


def test_a_service_command_runs_in_the_pod_of_its_worker(cluster: KubernetesApi) -> None:
    output = ctl("service", "orders", "republish", "--since", "2026-11-21T10:00:00Z")["data"]["said"]
    assert output == "republish --since 2026-11-21T10:00:00Z of orders, input <>"
    [(pod, *command)] = cluster.commands
    assert pod in cluster.pods_of("orders-worker")
    assert command == ["start", "republish", "--since", "2026-11-21T10:00:00Z"]


def test_the_output_and_the_failure_of_a_command_are_those_of_the_pod(cluster: KubernetesApi) -> None:
    error = ctl("service", "orders", "broken", code=1)
    assert (error["detail"], error["advice"]) == ("no such row", "Failed command: python -m orders broken")


@pytest.mark.parametrize(
    ("arguments", "output"),
    [
        (("keys", "rotate", "--yes"), "rotate-keys of identity, input <>"),
        (("keys", "retire", "--compromised", "k1", "--yes"), "retire-keys --compromised k1 of identity, input <>"),
        (("messaging", "resume", "--yes"), "resume-provider messaging-app of notifications, input <>"),
    ],
)
def test_commands_of_the_runbooks_run_in_the_pods(
    arguments: tuple[str, ...], output: str, cluster: KubernetesApi
) -> None:
    assert ctl(*arguments)["data"]["said"] == output


def test_a_changed_ledger_of_a_cluster_is_a_finding(cluster: KubernetesApi) -> None:
    assert [walk["holds"] for walk in ctl("ledger", "verify")["data"]] == [True, True]
    cluster.add_secret("payouts-keys", {"CHAIN": "2 9f86d081", "BROKEN": "link 3 was changed"})
    cluster.add_deployment("payouts-worker", "payouts-keys")
    payments, payouts = ctl("ledger", "verify", code=4)["data"]
    assert payments["holds"]
    assert (payouts["holds"], payouts["broken"]) == (False, "link 3 was changed")


def test_a_replay_reads_the_brokers_address_from_its_input(cluster: KubernetesApi, tmp_path: Path) -> None:
    teams = tmp_path / "subscribers.yaml"
    teams.write_text("search:\n  topics: [orders.product_changed.v1]\n")
    since = (datetime.now(UTC) - timedelta(days=1)).strftime("%Y-%m-%dT%H:%M:%SZ")
    arguments = ("subscribers", "replay", "search", "--queue", "sub.search.index", "--since", since, "--yes")
    error = ctl(*arguments, "--file", str(teams), code=1)
    assert "no Secret broker-topology" in error["detail"]
    address = "amqp://topology:secret@broker:5672/"
    cluster.add_secret("broker-topology", {"BROKER_URL": address})
    [line] = ctl(*arguments, "--file", str(teams))["data"]
    assert line["result"].endswith(f"of orders, input <{address}>")
    assert not any(address in word for command in cluster.commands for word in command)


def test_an_unreachable_cluster_and_an_unknown_context_are_named(cluster: KubernetesApi, tmp_path: Path) -> None:
    cluster.url = "http://127.0.0.1:9"
    cluster.kubeconfig.touch()
    error = ctl("keys", "rotate", "--yes", code=3)
    assert "127.0.0.1:9" in error["detail"]
    assert "--context" in error["advice"]
    assert "absent" in ctl("keys", "rotate", "--yes", "--context", "absent", code=3)["detail"]


def test_a_context_without_a_cluster_is_wrong_usage() -> None:
    result = CliRunner().invoke(app, ["keys", "rotate", "--context", "production", "--json"])
    assert result.exit_code == 2
    assert "need --kubernetes" in json.loads(result.stdout)["error"]["detail"]


def test_a_command_of_a_namespace_without_the_service_names_the_deployment(cluster: KubernetesApi) -> None:
    del cluster.objects["deployments", "orders-worker"]
    assert 'deployments "orders-worker" not found' in ctl("service", "orders", "republish", code=1)["detail"]
