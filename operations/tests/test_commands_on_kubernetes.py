"""The services' own commands in the pods of a cluster: the real kubectl against a stand-in for the API server."""

import json
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from operations.audit.findings import Finding, Offence, Report
from operations.audit.report import report_as_json, rules
from operations.campusctl.app import app
from testkit.kubernetes_api import KubernetesApi, kubernetes_api

# The entry point of the images; it prints its arguments and its input, or fails as a service's command does.
START = """#!/bin/sh
[ "$1" = verify-ledger ] && { echo "$CHAIN"; [ -z "$BROKEN" ] || { echo "$BROKEN" >&2; exit 4; }; exit 0; }
[ "$1" = webhook-trail ] && exit 0
[ "$1" = action-trail ] && { echo "$ACTION"; exit 0; }
[ "$1" = broken ] && { echo "no such row" >&2; exit 3; }
printf '%s of %s, input <%s>' "$*" "$SERVICE" "$(cat)"
"""
ACTION = '{"at": "2026-11-21T10:00:02+00:00", "what": "staff act grant", "detail": {"actor": null}}'


@pytest.fixture
def cluster(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[KubernetesApi]:
    with kubernetes_api(tmp_path) as api:
        start = tmp_path / "bin" / "start"
        start.parent.mkdir()
        start.write_text(START)
        start.chmod(0o755)
        for service in ("identity", "orders", "payments", "payouts", "notifications"):
            api.add_secret(f"{service}-keys", {"SERVICE": service, "CHAIN": "3 9f86d081", "ACTION": ACTION})
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


REPORT = Report(
    (
        Finding("orders", "a rule of a later version", "broken", (Offence("order 7", "1 refund", "2 refunds"),)),
        Finding(*rules()[0], "waiting", (Offence("order 8", "a payment", "none"),)),
    ),
    "https://api.paystack.co",
)


def test_an_audit_of_a_cluster_is_a_job_whose_report_is_shown(cluster: KubernetesApi) -> None:
    document = json.dumps(report_as_json(REPORT), indent=2)
    cluster.add_cron_job("audit", "Complete", f"a warning {{1}}\n{document}\n")
    lines = ctl("audit", "--settle-seconds", "5", code=4)["data"]
    assert len(lines) == len(rules()) + 1
    assert [(line["where"], line["kind"], line["rows"]) for line in lines if line["kind"]] == [
        (rules()[0][0], "waiting", ["order 8: none; expected: a payment"]),
        ("orders", "broken", ["order 7: 2 refunds; expected: 1 refund"]),
    ]
    [job] = [it for (kind, _), it in cluster.objects.items() if kind == "jobs"]
    [container] = job["spec"]["template"]["spec"]["containers"]
    assert container["args"] == ["--scheduled", "--json", "--settle-seconds", "5.0"]

    clean = report_as_json(Report((), "https://api.paystack.co", "429 Too Many Requests"))
    cluster.add_cron_job("audit", "Complete", json.dumps(clean, indent=2))
    reasons = {line["rows"][0] for line in ctl("audit")["data"] if line["kind"] == "not_compared"}
    assert reasons == {"https://api.paystack.co: 429 Too Many Requests"}


def test_an_audit_job_that_fails_is_an_error_with_its_log(cluster: KubernetesApi) -> None:
    assert 'cronjobs "audit" not found' in ctl("audit", code=1)["detail"]
    cluster.add_cron_job("audit", "Failed", "The audit failed: connection refused.\n")
    error = ctl("audit", code=1)
    assert error["detail"].endswith("gave no report: The audit failed: connection refused.")
    assert error["advice"].startswith("kubectl describe job -n campus audit-")
    cluster.add_cron_job("audit", "Complete", "")
    assert ctl("audit", code=1)["detail"].endswith("gave no report: its log is empty")


def _called(at: str, fingerprint: str) -> str:
    facts = {"event": "audit: service call let in", "service": "notifications", "at": at, "fingerprint": fingerprint}
    return json.dumps(facts) + "\n"


def test_the_trail_of_a_secret_is_read_from_the_logs_of_all_pods(cluster: KubernetesApi) -> None:
    [orders], [identity] = cluster.pods_of("orders-worker"), cluster.pods_of("identity-worker")
    cluster.printed[orders] = "a line\n" + _called("2026-11-21T10:00:01+00:00", "3f9a1c27b0de")
    cluster.printed[identity] = _called("2026-11-21T09:59:59+00:00", "3f9a1c27b0de") + _called(
        "2026-11-21T10:00:00.5+00:00", "0b1c2d3e4f5a"
    )
    since = ("rotation", "trail", "service-role-key", "--since", "2026-11-21T10:00:00Z")
    assert [line["at"][17:22] for line in ctl(*since)["data"]] == ["00.5+", "01+00"]
    assert [line["at"][17:22] for line in ctl(*since, "--named", "3f9a1c27b0de")["data"]] == ["01+00"]


def test_a_log_that_the_cluster_does_not_give_is_an_error_and_not_an_empty_trail(cluster: KubernetesApi) -> None:
    cluster.unreadable = set(cluster.pods_of("orders-worker"))
    error = ctl("rotation", "trail", "service-role-key", "--since", "2026-11-21T10:00:00Z", code=1)
    assert "connection refused" in error["detail"]


def test_the_trail_of_a_signing_key_lists_the_actions_that_identity_stored(cluster: KubernetesApi) -> None:
    [identity] = cluster.pods_of("identity-worker")
    period = ("--since", "2026-11-21T10:00:00Z", "--until", "2026-11-21T12:00:00Z")
    [line] = ctl("rotation", "trail", "jwt-signing-keys", *period)["data"]
    assert line == {
        "at": "2026-11-21T10:00:02+00:00",
        "where": "identity",
        "what": "staff act grant",
        "detail": {"actor": None},
    }
    assert cluster.commands == [
        (identity, "start", "action-trail", "2026-11-21T10:00:00+00:00", "2026-11-21T12:00:00+00:00")
    ]


@pytest.mark.parametrize(
    ("secret", "gateway"), [("gateway-secret-key", "paystack"), ("flutterwave-webhook-hash", "flutterwave")]
)
def test_the_trail_of_a_gateway_secret_lists_its_webhooks(cluster: KubernetesApi, secret: str, gateway: str) -> None:
    ctl("rotation", "trail", secret, "--since", "2026-11-21T10:00:00Z")
    [(pod, *command)] = cluster.commands
    assert pod in cluster.pods_of("payments-worker")
    assert command[:4] == ["start", "webhook-trail", gateway, "2026-11-21T10:00:00+00:00"]


def test_saved_logs_are_read_without_a_system(cluster: KubernetesApi, tmp_path: Path) -> None:
    saved = tmp_path / "identity.log"
    saved.write_text("[pod/identity-1/process] " + _called("2026-11-21T10:00:01+00:00", "3f9a1c27b0de"))
    arguments = [
        "rotation",
        "trail",
        "service-role-key",
        "--since",
        "2026-11-21T10:00:00Z",
        "--logs",
        str(saved),
        "--json",
    ]
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 0, result.output
    assert [line["detail"]["fingerprint"] for line in json.loads(result.stdout)["data"]] == ["3f9a1c27b0de"]
