"""`campusctl rotation ... --kubernetes`: the real kubectl against a stand-in for the API server, whose pods are
programs.
"""

import json
import os
import shutil
import threading
from collections.abc import Iterator, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.testing import CliRunner

from operations.campusctl.app import app
from operations.rotation.cluster import SECRETS_OF, key_of, variables_of
from operations.rotation.secret_store import ENCRYPTING, Secret, previous_of
from operations.secret_table import KEYS_OF_PURPOSES, SECRETS
from testkit.kubernetes_api import KubernetesApi, kubernetes_api

MANIFESTS = Path(__file__).parents[2] / "deploy/k8s/components"
# Secrets of each Deployment, as in deploy/k8s.
DEPLOYMENTS = {
    "identity-worker": ("identity-keys", "service-role-key"),
    "orders-worker": ("orders-keys",),
    "payments-worker": ("gateway-key", "service-role-key"),
    "payouts-worker": ("payouts-keys", "gateway-key-of-payouts"),
    "notifications-worker": ("notifications-keys", "service-role-key", "assistant-key"),
}
# The entry point of the images: values under the old key remain while the file exists.
START = """#!/bin/sh
[ -e "$REMAINING" ] || { echo "0 re-encrypted"; exit 0; }
echo "3 values remain under the old key"; exit 4
"""
# Logs its arguments: other users of the machine can read them.
# It ends soon: without garbage collection and on one processor it needs a quarter less CPU.
KUBECTL = """#!/bin/sh
printf '%s\\n' "$@" >> "$ARGUMENTS"
GOGC=off GOMAXPROCS=1 exec {kubectl} "$@"
"""


def external_secrets() -> dict[str, Any]:
    """Return the ExternalSecrets of deploy/k8s with plain values."""
    files = [*(MANIFESTS / "secrets").glob("*.yaml"), MANIFESTS / "edge/certificate.yaml"]
    found = [it for path in files for it in yaml.load_all(path.read_text(), yaml.CSafeLoader) if it]
    return {it["metadata"]["name"]: it for it in found if it["kind"] == "ExternalSecret"}


@pytest.fixture
def environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, text in (("start", START), ("kubectl", KUBECTL.format(kubectl=shutil.which("kubectl")))):
        script = tmp_path / "bin" / name
        script.parent.mkdir(exist_ok=True)
        script.write_text(text)
        script.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("ARGUMENTS", str(tmp_path / "arguments"))
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("KUBECONFIG", str(tmp_path / "kubeconfig"))
    monkeypatch.setenv("STATE_DIR", str(tmp_path / "no-system"))
    monkeypatch.delenv("NEW_SECRET", raising=False)
    return tmp_path


def values_of(manifest: Mapping[str, Any], entries: Mapping[str, Mapping[str, str]]) -> dict[str, str]:
    return {
        it["secretKey"]: entries[it["remoteRef"]["key"]][it["remoteRef"]["property"]] for it in manifest["spec"]["data"]
    }


def new_entries() -> dict[str, dict[str, str]]:
    """Return a store with a value for each property, the previous ones empty."""
    entries: dict[str, dict[str, str]] = {}
    for manifest in external_secrets().values():
        for it in manifest["spec"]["data"]:
            entry, name = it["remoteRef"]["key"], it["remoteRef"]["property"]
            entries.setdefault(entry, {})[name] = (
                "" if "_PREVIOUS" in name or entry == "campus/sealing" else f"old-{entry}-{name}"
            )
    return entries


def deploy(api: KubernetesApi, folder: Path) -> None:
    api.kubeconfig.touch()
    api.add_secret("no-secret", {"REMAINING": str(folder / "remaining")})
    for deployment, names in DEPLOYMENTS.items():
        api.add_deployment(deployment, "no-secret", *names)


@pytest.fixture
def cluster(environment: Path) -> Iterator[KubernetesApi]:
    """Yield a cluster whose Secrets External Secrets fetches from a store."""
    with kubernetes_api(environment, has_external_secrets=True) as api:
        api.store = new_entries()
        for manifest in external_secrets().values():
            api.add_external_secret(manifest)
        deploy(api, environment)
        yield api


def ctl(*arguments: str, code: int = 0) -> Any:
    result = CliRunner().invoke(app, ["rotation", *arguments, "--kubernetes", "--json"])
    assert result.exit_code == code, result.output
    document = json.loads(result.stdout)
    return document["error"] or document["data"]


def held(api: KubernetesApi, deployment: str, variable: str) -> str:
    """Return the value in the environment of a Deployment's pod."""
    [pod] = api.pods_of(deployment)
    return api.environments[pod][variable]


def annotations(api: KubernetesApi, kind: str, name: str) -> dict[str, str]:
    found: dict[str, str] = api.objects[kind, name]["metadata"].get("annotations", {})
    return found


# ---- The table
# ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("secret", [it for it in Secret if it not in (Secret.signing, Secret.database)])
def test_the_secrets_of_a_variable_are_those_of_the_manifests(secret: Secret) -> None:
    manifests = external_secrets()
    for variable in variables_of(secret):
        row = next(row for row in SECRETS if row.name == variable and row.entries)
        first = {"key": row.entries[0], "property": row.key}
        previous = {**first, "property": f"{row.key}_PREVIOUS"}
        read = {
            name: {it["secretKey"]: it["remoteRef"] for it in manifest["spec"]["data"]}
            for name, manifest in manifests.items()
        }
        of_value = {name for name, keys in read.items() if keys.get(key_of(variable)) == first}
        of_previous = {name for name, keys in read.items() if keys.get(f"{variable}_PREVIOUS") == previous}
        assert of_value == set(SECRETS_OF[variable])
        names = SECRETS_OF[variable] if secret in ENCRYPTING else SECRETS_OF[variable][:1]
        assert of_previous == (set(names) if previous_of(secret) else set())


# ---- The phases of a rotation
# --------------------------------------------------------------------------------------------


def begin(cluster: KubernetesApi, secret: str, **store: str) -> str:
    """Begin a rotation, write these values to the store, and return what the command named."""
    named = ctl("begin", secret, "--yes", code=1)["detail"]
    for entry, values in store_of(cluster, **store).items():
        cluster.store[entry] |= values
    return named


def store_of(cluster: KubernetesApi, **values: str) -> dict[str, dict[str, str]]:
    """Return these values by the entry that has their property."""
    found = {name: next(entry for entry, known in cluster.store.items() if name in known) for name in values}
    return {entry: {name: values[name] for name in values if found[name] == entry} for entry in found.values()}


def test_a_rotation_has_old_and_new_value_until_its_end(cluster: KubernetesApi, environment: Path) -> None:
    entry = cluster.store["campus/gateway"]
    old = entry["GATEWAY_SECRET_KEY"]
    error = ctl("begin", "gateway-secret-key", "--yes", code=1)
    assert "ExternalSecret gateway-key" in error["detail"]
    assert "entry campus/gateway, property GATEWAY_SECRET_KEY: the new value" in error["detail"]
    assert "property GATEWAY_SECRET_KEY_PREVIOUS: the present value of GATEWAY_SECRET_KEY (" in error["detail"]
    assert old not in error["detail"]
    assert "campusctl rotation roll --kubernetes" in error["advice"]
    assert cluster.values("gateway-key")["GATEWAY_SECRET_KEY"] == old

    entry |= {"GATEWAY_SECRET_KEY": "sk-new", "GATEWAY_SECRET_KEY_PREVIOUS": old}
    rolled = ctl("roll")
    assert rolled["rolled"] == ["payments-worker", "payouts-worker"]
    assert "gateway-key" in rolled["fetched"]
    for deployment in rolled["rolled"]:
        assert held(cluster, deployment, "GATEWAY_SECRET_KEY") == "sk-new"
    assert held(cluster, "payments-worker", "GATEWAY_SECRET_KEY_PREVIOUS") == old
    assert ctl("roll")["rolled"] == []
    [line] = ctl("status")
    assert (line["secret"], line["open"]) == ("gateway-secret-key", "GATEWAY_SECRET_KEY_PREVIOUS")
    assert "still valid" in ctl("begin", "gateway-secret-key", "--yes", code=1)["detail"]

    error = ctl("end", "gateway-secret-key", "--yes", code=1)
    assert "property GATEWAY_SECRET_KEY_PREVIOUS: empty" in error["detail"]
    entry["GATEWAY_SECRET_KEY_PREVIOUS"] = ""
    assert ctl("roll")["rolled"] == ["payments-worker"]
    rotated_at = ctl("end", "gateway-secret-key", "--yes")["rotatedAt"]
    assert annotations(cluster, "externalsecrets", "gateway-key")["campus.example/rotated-at"] == rotated_at
    assert ctl("status") == []
    arguments = (environment / "arguments").read_text()
    assert "annotate" in arguments
    assert not any(value in arguments for value in ("sk-new", old))
    assert not any(value in word for value in ("sk-new", old) for command in cluster.commands for word in command)


def test_pods_that_do_not_become_ready_keep_the_old_pods_and_both_values(cluster: KubernetesApi) -> None:
    entry = cluster.store["campus/gateway"]
    old = entry["GATEWAY_SECRET_KEY"]
    entry |= {"GATEWAY_SECRET_KEY": "sk-new", "GATEWAY_SECRET_KEY_PREVIOUS": old}
    cluster.stuck = {"payouts-worker"}
    error = ctl("roll", code=1)
    assert "payouts-worker was not restarted" in error["detail"]
    assert "progress deadline" in error["detail"]
    assert "Restarted before: payments-worker" in error["advice"]
    assert held(cluster, "payouts-worker", "GATEWAY_SECRET_KEY") == old
    assert {line["open"] for line in ctl("status")} == {"GATEWAY_SECRET_KEY_PREVIOUS", "older value"}
    # The old value is in use, so that its removal is not named.
    error = ctl("end", "gateway-secret-key", "--yes", code=1)
    assert "payouts-worker: GATEWAY_SECRET_KEY" in error["detail"]


def test_encryption_keys_decrypt_everywhere_before_they_encrypt(cluster: KubernetesApi, environment: Path) -> None:
    old = {name: cluster.values(SECRETS_OF[name][0])[name] for name in KEYS_OF_PURPOSES}
    new = {name: f"new-{name}" for name in KEYS_OF_PURPOSES}
    named = begin(cluster, "sealing-key", **{f"{name}_PREVIOUS": value for name, value in new.items()})
    for name in KEYS_OF_PURPOSES:
        assert f"property {name}_PREVIOUS: the new value" in named
    ctl("roll")
    error = ctl("switch", "sealing-key", "--yes", code=1)["detail"]
    for name in KEYS_OF_PURPOSES:
        assert f"property {name}: the present value of {name}_PREVIOUS (" in error
        assert f"property {name}_PREVIOUS: the present value of {name} (" in error
        assert {cluster.values(secret)[name] for secret in SECRETS_OF[name]} == {old[name]}
    switched = new | {f"{name}_PREVIOUS": value for name, value in old.items()}
    for entry, values in store_of(cluster, **switched).items():
        cluster.store[entry] |= values
    assert ctl("roll")["rolled"] == ["identity-worker", "orders-worker", "payouts-worker", "notifications-worker"]

    (environment / "remaining").touch()
    assert [line["done"] for line in ctl("re-encrypt", "sealing-key", code=4)] == [False] * 4
    assert "still needed: identity: 3 values" in ctl("end", "sealing-key", "--yes", code=1)["detail"]
    (environment / "remaining").unlink()
    assert "property MESSAGE_KEY_PREVIOUS: empty" in ctl("end", "sealing-key", "--yes", code=1)["detail"]


def test_a_switch_waits_until_every_pod_has_the_new_key(cluster: KubernetesApi) -> None:
    assert "There is no new key" in ctl("switch", "pin-key", "--yes", code=1)["detail"]
    begin(cluster, "pin-key", PIN_KEY_PREVIOUS="new")
    cluster.fetch_all()
    assert "Pods hold older values" in ctl("switch", "pin-key", "--yes", code=1)["detail"]
    ctl("roll")
    error = ctl("switch", "pin-key", "--yes", code=1)
    assert "property PIN_KEY: the present value of PIN_KEY_PREVIOUS (fingerprint 11507a0e2f5e" in error["detail"]
    assert "property PIN_KEY_PREVIOUS: the present value of PIN_KEY (" in error["detail"]


def test_a_start_of_several_keys_that_the_store_has_in_part_names_the_rest(cluster: KubernetesApi) -> None:
    named = begin(cluster, "sealing-key", CODE_DELIVERY_KEY_PREVIOUS="new")
    assert "CODE_DELIVERY_KEY_PREVIOUS" in named
    ctl("roll")
    rest = ctl("begin", "sealing-key", "--yes", code=1)["detail"]
    assert "MESSAGE_KEY_PREVIOUS: the new value" in rest
    assert "CODE_DELIVERY_KEY" not in rest


def test_a_compromised_key_is_rejected_from_the_next_roll_on(cluster: KubernetesApi) -> None:
    named = ctl("begin", "service-role-key", "--compromised", "--yes", code=1)["detail"]
    assert "property SERVICE_ROLE_KEY: the new value" in named
    assert "property SERVICE_ROLE_KEY_PREVIOUS: empty" in named
    cluster.store["campus/service-role"]["SERVICE_ROLE_KEY"] = "new"
    assert ctl("roll")["rolled"] == ["identity-worker", "payments-worker", "notifications-worker"]


@pytest.mark.parametrize("owner", ["", "SealedSecret"])
def test_the_source_of_a_secret_is_named_and_the_secret_never_written(cluster: KubernetesApi, owner: str) -> None:
    cluster.add_secret("assistant-key", {"AI_API_KEY": "old"}, owner=owner)
    assert f"{owner or 'Secret'} assistant-key" in ctl("begin", "ai-provider-key", "--yes", code=1)["detail"]
    assert cluster.values("assistant-key") == {"AI_API_KEY": "old"}


def test_a_store_without_a_property_stops_the_roll_before_any_restart(cluster: KubernetesApi) -> None:
    pods = {name: cluster.pods_of(name) for name in DEPLOYMENTS}
    cluster.store["campus/gateway"]["GATEWAY_SECRET_KEY"] = "sk-new"
    del cluster.store["campus/orders"]["PIN_KEY"]
    error = ctl("roll", code=1)
    assert "could not fetch orders-keys" in error["detail"]
    assert {name: cluster.pods_of(name) for name in DEPLOYMENTS} == pods


# ---- Checks
# --------------------------------------------------------------------------------------------------------------


class Metrics(BaseHTTPRequestHandler):
    """The metrics of a process that accepted an old key twice since the request before."""

    uses = 0

    def do_GET(self) -> None:
        Metrics.uses += 2
        lines = [
            'gateway_requests_total{status="200"} 100',
            f'previous_key_accepted_total{{secret="pin-key"}} {self.uses}',
        ]
        body = "\n".join([*lines, ""]).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        """Nothing."""


def test_the_check_reads_the_metrics_within_the_pods(cluster: KubernetesApi, environment: Path) -> None:
    with ThreadingHTTPServer(("127.0.0.1", 0), Metrics) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        for kind, name in list(cluster.objects):
            if kind in ("deployments", "pods"):
                del cluster.objects[kind, name]
        cluster.add_secret("orders-keys", {"METRICS_PORT": str(server.server_port)})
        cluster.add_deployment("orders-worker", "orders-keys")
        checked = ctl("check", "--sample-seconds", "1", code=4)
        server.shutdown()
        thread.join()
    assert checked["previousUses"] == {"pin-key": 2}
    assert "the previous pin-key was used 2 times lately" in checked["reasons"]


def test_pods_without_metrics_are_named(cluster: KubernetesApi) -> None:
    error = ctl("check", "--sample-seconds", "1", code=3)
    assert "-worker-" in error["detail"]
    assert "--prometheus" in error["advice"]


def test_a_machine_without_kubectl_names_its_package(environment: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nonexistent")
    assert "kubernetes-client" in ctl("status", code=3)["detail"]


def test_only_a_cluster_has_the_token_for_dns_records(environment: Path) -> None:
    arguments = ["rotation", "begin", "dns-automation-token", "--yes", "--json"]
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 2
    assert "--kubernetes" in json.loads(result.stdout)["error"]["advice"]


def test_passwords_of_databases_are_set_by_their_operators(cluster: KubernetesApi) -> None:
    assert "rotate-database-passwords.md" in ctl("begin", "database-passwords", "--yes", code=1)["advice"]
