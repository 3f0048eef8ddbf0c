"""The roll-out applies the manifests of deploy/k8s in steps, as do Argo CD and Flux. No test here needs a cluster."""

import os
import re
import subprocess
from pathlib import Path

import pytest
import yaml

from tests.architecture.kustomize import FOLDER, OVERLAYS, pod_of, rendered
from tests.architecture.manifests import SETTINGS, manifests, name_of, of_kind, service_of, workloads

COMPONENT = "app.kubernetes.io/component"
JOBS = {"provision", "migration", "demo-data"}


def test_argo_cd_applies_the_steps_of_the_roll_out_in_their_order() -> None:
    waves: dict[str, set[str]] = {}
    for it in rendered("", FOLDER / "examples/argocd"):
        component = it["metadata"].get("labels", {}).get(COMPONENT, "")
        annotations = it["metadata"].get("annotations", {})
        waves.setdefault(component, set()).add(annotations.get("argocd.argoproj.io/sync-wave", "0"))
        replaced = annotations.get("argocd.argoproj.io/sync-options") == "Force=true,Replace=true"
        assert replaced == (it["kind"] == "Job"), name_of(it)
    assert waves == {
        "": {"0"},
        "broker-account": {"1"},
        "migration": {"2"},
        **{key: {"3"} for key in ("api", "worker", "web", "key-rotation", "audit", "supervisor")},
        "autoscaling": {"4"},
    }


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_flux_gets_every_resource_in_the_folder_of_its_step(overlay, tmp_path: Path) -> None:
    whole = yaml.safe_dump_all(manifests(overlay))
    subprocess.run([str(FOLDER / "steps"), str(tmp_path)], input=whole, text=True, check=True)
    steps = {
        "1-servers": {""},
        "2-accounts": {"broker-account", "provision"},
        "3-migrations": {"migration"},
        "4-processes": {"api", "worker", "web", "key-rotation", "audit", "supervisor", "demo-data"},
        "5-autoscaling": {"autoscaling"},
    }
    written = {}
    for step, components in steps.items():
        path = tmp_path / step / "manifests.yaml"
        written[step] = list(yaml.safe_load_all(path.read_text())) if path.exists() else []
        others = {"sandbox"} if step == "1-servers" else set()
        found = {it["metadata"].get("labels", {}).get(COMPONENT, "") for it in written[step]}
        assert found <= components | others
    assert sum(map(len, written.values())) == len(manifests(overlay))
    paths = re.findall(r"path: \./(\S+?)[,\n]", (FOLDER / "examples/flux/campus.yaml").read_text())
    assert paths == list(steps)


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_the_labels_of_the_roll_out_separate_its_steps(overlay) -> None:
    """`roll-out` holds processes back until the migrations are through, by the label `app.kubernetes.io/component`."""
    script = (FOLDER / "roll-out").read_text()
    (held_back,) = re.findall(r"notin \(([^)]*)\)", script)
    assert set(held_back.split(", ")) == {
        "api",
        "worker",
        "web",
        "key-rotation",
        "audit",
        "supervisor",
        "broker-account",
        "autoscaling",
        *JOBS,
    }
    for it in workloads(overlay):
        if service_of(it) in SETTINGS:
            component = it["metadata"]["labels"][COMPONENT]
            assert component in held_back.split(", ")
            assert (component in JOBS) == (it["kind"] == "Job")
    waiting = {"NetworkPolicy", "ServiceAccount", "ExternalSecret", "Cluster", "Pooler", "ConfigMap"}
    for it in of_kind(overlay, *waiting):
        assert "app.kubernetes.io/component" not in it["metadata"].get("labels", {}), name_of(it)


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_resources_are_applied_after_their_requirements(overlay) -> None:
    """The topology operator refuses an account without its labelled Secret, KEDA a scaler without its Deployment."""
    script = (FOLDER / "roll-out").read_text()
    steps = (
        "externalsecrets.external-secrets.io",
        "=broker-account",
        "run_jobs provision",
        "run_jobs migration",
        " in (api, worker",
        "rollout status",
        "run_jobs demo-data",
    )
    places = [script.index(step, script.index("notin (")) for step in steps]
    assert places == sorted(places)
    assert script.index('apply -k "$overlay"\n') > places[-1], "scalers come with the whole, last"
    secrets = {name_of(it): it["spec"]["target"].get("template", {}) for it in of_kind(overlay, "ExternalSecret")}
    for it in of_kind(overlay, "User"):
        template = secrets[it["spec"]["importCredentialsSecret"]["name"]]
        assert template["metadata"]["labels"] == {"rabbitmq.com/topology-operator": "true"}, name_of(it)
    users = {name_of(it) for it in of_kind(overlay, "User")}
    for it in of_kind(overlay, "User", "Permission", "TopicPermission", "Vhost"):
        assert it["metadata"]["labels"][COMPONENT] == "broker-account", name_of(it)
        if it["kind"] != "Vhost":
            assert it["spec"].get("userReference", it["metadata"])["name"] in users
    deployed = of_kind(overlay, "Deployment")
    requests = {name_of(it): pod_of(it)["spec"]["containers"][0]["resources"].get("requests", {}) for it in deployed}
    for it in of_kind(overlay, "ScaledObject", "HorizontalPodAutoscaler"):
        assert "cpu" in requests[it["spec"]["scaleTargetRef"]["name"]], "its use could not be measured"
        if it["kind"] == "ScaledObject":
            assert it["metadata"]["labels"][COMPONENT] == "autoscaling", name_of(it)


@pytest.mark.parametrize(("stopped", "status"), [("", 0), ("orders-api payouts-worker ", 1)])
def test_a_roll_out_does_not_pass_over_stopped_processes(tmp_path: Path, stopped: str, status: int) -> None:
    kubectl = tmp_path / "kubectl"
    kubectl.write_text(f'#!/bin/sh\ncase "$*" in *replicas==0*) printf %s "{stopped}" ;; esac\n')
    kubectl.chmod(0o755)
    path = f"{tmp_path}:{os.environ['PATH']}"
    ran = subprocess.run(
        [FOLDER / "roll-out", "production"], env={"PATH": path}, capture_output=True, text=True, check=False
    )
    assert ran.returncode == status, ran.stderr
    assert ("kubectl scale -n campus deployments orders-api payouts-worker --replicas=2" in ran.stderr) == bool(stopped)


def test_a_second_roll_out_changes_nothing() -> None:
    """Server-side apply: kubectl's own merge rewrites lists with defaults, and a budget's selector, each time."""
    script = (FOLDER / "roll-out").read_text()
    (command,) = re.findall(r"kubectl apply .*", script)
    assert {"--server-side", "--force-conflicts", "--validate=strict"} <= set(command.split())
