"""The charts of deploy/k8s/chart.py render the overlays that they are written from. No test here needs a cluster."""

import copy
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.architecture import helm
from tests.architecture.kustomize import FOLDER, OVERLAYS, Resource, containers_of, hash_of, pod_of
from tests.architecture.manifests import manifests, name_of, texts_within

Charts = Callable[[str], Path]
HOOK = "helm.sh/hook"
OWN = {
    "hosts": {"api": "api.unilag.test", "console": "staff.unilag.test", "domain": "unilag.test"},
    "registry": "mirror.unilag.test/market",
    "pullSecrets": ["registry-account"],
    "secretStore": {"kind": "SecretStore", "name": "vault", "prefix": "unilag/"},
    "settings": {"orders-settings": {"CAMPUS_NOTE": "a & b"}},
}


@pytest.fixture(scope="module")
def charts(tmp_path_factory: pytest.TempPathFactory) -> Charts:
    folder = tmp_path_factory.mktemp("charts")

    def chart(overlay: str) -> Path:
        path = folder / f"campus-{overlay}"
        if not path.exists():
            build(overlay, folder)
        return path

    helm.install()
    return chart


def build(overlay: str, folder: Path) -> Path:
    command = [sys.executable, FOLDER / "chart.py", f"campus-{overlay}", "1.2.3", folder]
    given = yaml.dump_all(manifests(overlay), Dumper=yaml.CSafeDumper)
    ran = subprocess.run(command, input=given, capture_output=True, text=True, check=True)
    return Path(ran.stdout.strip())


def by_name(resources: list[Resource]) -> dict[tuple[str, str], Resource]:
    found = {(it["kind"], name_of(it)): it for it in resources}
    assert len(found) == len(resources)
    return found


def without_hooks(resources: list[Resource]) -> list[Resource]:
    resources = copy.deepcopy(resources)
    for it in resources:
        annotations = it["metadata"].get("annotations", {})
        if HOOK in annotations:
            assert it["kind"] in ("Job", "ConfigMap")
            for name in [name for name in annotations if name.startswith(HOOK)]:
                del annotations[name]
            if not annotations:
                del it["metadata"]["annotations"]
    return resources


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_a_chart_renders_the_resources_of_its_overlay(charts: Charts, overlay: str) -> None:
    result = helm.run(charts(overlay))
    assert not result["lint"]["errors"]
    assert [it["error"] for it in result["lint"]["messages"]] == ["icon is recommended"]
    rendered = by_name(without_hooks(helm.resources_of(result["rendered"])))
    expected = by_name([it for it in manifests(overlay) if it["kind"] != "Namespace"])
    assert rendered.keys() == expected.keys()
    for key, resource in expected.items():
        assert rendered[key] == resource, key


def test_the_archive_is_the_chart_and_the_same_each_time(charts: Charts, tmp_path: Path) -> None:
    archive = build("small", tmp_path)
    assert archive.name == "campus-small-1.2.3.tgz"
    assert archive.read_bytes() == (charts("small").parent / archive.name).read_bytes()
    assert helm.run(archive)["rendered"] == helm.run(charts("small"))["rendered"]
    # Helm keeps chart and manifests of a release in one Secret of at most 1 MiB.
    assert archive.stat().st_size < 100_000


def test_values_move_an_installation_to_its_own_names(charts: Charts) -> None:
    resources = helm.resources_of(helm.run(charts("small"), OWN, "unilag")["rendered"])
    assert {it["metadata"]["namespace"] for it in resources} == {"unilag"}, "nothing belongs to the whole cluster"
    texts = "\n".join(text for it in resources for text in texts_within(it))
    for replaced in ("api.campus.example", "console.campus.example", "registry.example", "campus.svc"):
        assert replaced not in texts
    images = {it["image"].rpartition("/")[0] for it in containers_of(resources) if "valkey" not in it["image"]}
    assert images == {"mirror.unilag.test/market"}
    for it in resources:
        if it["kind"] == "ExternalSecret":
            assert it["spec"]["secretStoreRef"] == {"kind": "SecretStore", "name": "vault"}
            assert all(entry["remoteRef"]["key"].startswith("unilag/") for entry in it["spec"]["data"])
    by_key = by_name(resources)
    assert by_key["Certificate", "public"]["spec"]["dnsNames"] == ["api.unilag.test", "staff.unilag.test"]


def test_every_pod_can_pull_with_the_account_of_the_values(charts: Charts) -> None:
    resources = helm.resources_of(helm.run(charts("small"), OWN)["rendered"])
    expected = [{"name": "registry-account"}]
    accounts = {name_of(it) for it in resources if it["kind"] == "ServiceAccount"}
    assert {pod["spec"]["serviceAccountName"] for it in resources if (pod := pod_of(it))} <= accounts
    for it in resources:
        if it["kind"] == "ServiceAccount":
            assert it["imagePullSecrets"] == expected
        elif it["kind"] in ("Cluster", "RabbitmqCluster"):
            assert it["spec"]["imagePullSecrets"] == expected
        elif it["kind"] == "Pooler":
            assert it["spec"]["template"]["spec"]["imagePullSecrets"] == expected


def test_a_changed_setting_restarts_its_processes(charts: Charts) -> None:
    """The name of a map has a hash of its content, as kustomize's has."""
    resources = helm.resources_of(helm.run(charts("small"), OWN)["rendered"])
    (changed,) = (it for it in resources if it["kind"] == "ConfigMap" and name_of(it).startswith("orders-settings-"))
    assert changed["data"]["CAMPUS_NOTE"] == "a & b"
    assert name_of(changed) == f"orders-settings-{hash_of(changed['data'])}"
    readers = [it for it in resources if it["kind"] == "Deployment" and name_of(it).startswith("orders-")]
    for it in readers:
        assert {"configMapRef": {"name": name_of(changed)}} in pod_of(it)["spec"]["containers"][0]["envFrom"]


@pytest.mark.parametrize("overlay", ["staging", "managed"])
def test_the_steps_of_an_installation_contain_those_before(charts: Charts, overlay: str) -> None:
    steps = [
        by_name(helm.resources_of(helm.run(charts(overlay), {"through": through})["rendered"]))
        for through in ("servers", "accounts", "processes")
    ]
    servers, accounts, whole = (set(step) for step in steps)
    assert servers <= accounts < whole
    assert not {"Deployment", "Job", "CronJob", "User"} & {kind for kind, name in servers if name not in SERVERS}
    hooks = {
        name_of(it): (it["metadata"]["annotations"][HOOK], int(it["metadata"]["annotations"][f"{HOOK}-weight"]))
        for it in steps[2].values()
        if HOOK in it["metadata"].get("annotations", {})
    }
    assert {name for kind, name in whole if kind == "Job"} <= set(hooks)
    assert hooks["orders-migrate"] == ("pre-install,pre-upgrade", 0)
    if overlay == "staging":
        assert hooks["orders-demo-data"] == ("post-install,post-upgrade", 0)
    else:
        [(its_map, its_hook)] = [it for it in hooks.items() if it[0].startswith("provision-settings-")]
        assert hooks["provision"] == ("pre-install,pre-upgrade", -5)
        assert its_hook == ("pre-install,pre-upgrade", -10), its_map


SERVERS = {"valkey", "sandbox"}


@pytest.mark.parametrize(
    ("values", "named"),
    [
        ({"host": "api.unilag.test"}, "host"),
        ({"hosts": {"api": "https://api.unilag.test"}}, "/hosts/api"),
        ({"through": "everything"}, "/through"),
        ({"replicas": {"orders-api": {"min": 0}}}, "/replicas/orders-api/min"),
        ({"settings": {"orders-settings": {"MEDIA_CACHE_SECONDS": 60}}}, "MEDIA_CACHE_SECONDS"),
        ({"images": {"orders": "orders; rm"}}, "/images/orders"),
    ],
)
def test_a_wrong_value_is_rejected_by_name(charts: Charts, values: dict[str, Any], named: str) -> None:
    assert named in helm.run(charts("small"), values)["error"]


def test_a_chart_of_no_manifest_is_refused(tmp_path: Path) -> None:
    command = [sys.executable, FOLDER / "chart.py", "campus", "1.2.3", tmp_path]
    ran = subprocess.run(command, input="", capture_output=True, text=True, check=False)
    assert ran.returncode == 1
    assert "pipe the output of `kubectl kustomize`" in ran.stderr
