"""The roll-out applies the manifests of deploy/k8s in steps, as do Argo CD and Flux. No test here needs a cluster."""

import os
import pty
import re
import shlex
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest
import yaml

from tests.architecture.kustomize import FOLDER, OVERLAYS, pod_of, rendered
from tests.architecture.manifests import SETTINGS, manifests, name_of, of_kind, service_of, workloads

COMPONENT = "app.kubernetes.io/component"
JOBS = {"provision", "migration", "demo-data"}
ENDED_JOBS = {"get jobs": "one=Complete\n"}
# In the shell, which starts in a tenth of the time of Python: a roll-out calls kubectl a dozen times.
_KUBECTL = """\
#!/bin/sh
call=$* folder=${0%/*}
printf '%s\\n' "$call" >>"$folder/calls"
# respond NUMBER PART CODE...: end as the next response to calls with this text.
respond() {
    number=$1 part=$2 place=-1
    shift 2
    case $call in *"$part"*) ;; *) return ;; esac
    while IFS= read -r line; do
        case $line in *"$part"*) place=$((place + 1)) ;; esac
    done <"$folder/calls"
    [ "$place" -lt $# ] || place=$(($# - 1))
    cat "$folder/response-$number-$place"
    shift "$place"
    exit "$1"
}
"""
Response = str | tuple[str, int]


class Run:
    """A run of the script with a kubectl that records its calls.

    `responses`: the output and the exit code of calls with this text, in order; the last one repeats. `typed`: the
    input of a terminal.
    """

    def __init__(
        self, folder: Path, *arguments: str | Mapping[str, Response | list[Response]], typed: str | None = None
    ) -> None:
        *options, responses = arguments
        usual = {"current-context": "west", "config view": "https://10.0.0.1:6443", "get namespace": "namespace/campus"}
        listed = {part: it if isinstance(it, list) else [it] for part, it in {**usual, **responses}.items()}
        script = [_KUBECTL]
        for number, (part, its) in enumerate(listed.items()):
            coded = [(it, 0) if isinstance(it, str) else it for it in its]
            for place, (text, _) in enumerate(coded):
                (folder / f"response-{number}-{place}").write_text(text)
            script.append(shlex.join(["respond", str(number), part, *(str(code) for _, code in coded)]) + "\n")
        (folder / "calls").unlink(missing_ok=True)
        (folder / "kubectl").write_text("".join(script))
        (folder / "kubectl").chmod(0o755)
        ours, theirs = pty.openpty()
        os.write(ours, (typed or "").encode())
        ran = subprocess.run(
            [FOLDER / "roll-out", *options],
            env={"PATH": f"{folder}:{os.environ['PATH']}"},
            stdin=subprocess.DEVNULL if typed is None else theirs,
            capture_output=True, text=True, timeout=120, check=False,
        )  # fmt: skip
        os.close(ours)
        os.close(theirs)
        self.status, self.output, self.errors = ran.returncode, ran.stdout, ran.stderr
        self.calls = (folder / "calls").read_text().splitlines()

    def first(self, part: str) -> int:
        """Return the place of the first call with this text."""
        return next(place for place, call in enumerate(self.calls) if part in call)


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
    whole = yaml.dump_all(manifests(overlay), Dumper=yaml.CSafeDumper)
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
        written[step] = list(yaml.load_all(path.read_text(), yaml.CSafeLoader)) if path.exists() else []
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
    not_shown, held_back = re.findall(r"notin \(([^)]*)\)", script)
    assert set(not_shown.split(", ")) == {*JOBS, "broker-account", "autoscaling"}
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
        " in (key-rotation, audit)",
        "run_jobs demo-data",
    )
    places = [script.index(step, script.rindex("notin (")) for step in steps]
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
    ran = Run(tmp_path, "production", {"replicas==0": stopped})
    assert ran.status == status, ran.errors
    assert ("kubectl scale -n campus deployments orders-api payouts-worker --replicas=2" in ran.errors) == bool(stopped)


def test_the_roll_out_names_its_context_and_shows_the_differences_first(tmp_path: Path) -> None:
    ran = Run(tmp_path, "production", {" diff ": ("+image: new\n", 1)})
    assert ran.status == 0, ran.errors
    assert ran.output.startswith("Context west (https://10.0.0.1:6443), overlays/production\n+image: new\n")
    assert ran.first(" diff ") < ran.first(" apply ")
    assert all(call.startswith("--context west ") for call in ran.calls[1:])


def test_the_roll_out_uses_the_named_context(tmp_path: Path) -> None:
    ran = Run(tmp_path, "--context", "east", "small", {})
    assert ran.output.startswith("Context east (")
    assert all(call.startswith("--context east ") for call in ran.calls)


@pytest.mark.parametrize(("option", "typed", "is_applied"), [("", "no\n", 0), ("", "yes\n", 1), ("--yes", "", 1)])
def test_the_roll_out_waits_for_a_yes_on_a_terminal(tmp_path: Path, option: str, typed: str, is_applied: int) -> None:
    ran = Run(tmp_path, *option.split(), "production", {}, typed=typed)
    assert ran.status == 1 - is_applied, ran.errors
    assert ("Nothing was changed." in ran.errors) == (not is_applied)
    assert any(" apply " in call for call in ran.calls) == bool(is_applied)


@pytest.mark.parametrize(
    ("responses", "text"),
    [
        ({"current-context": ("", 1)}, "kubectl has no current context: name one with --context."),
        ({" diff ": ("", 2)}, "The differences are not readable; nothing of them was applied."),
    ],
)
def test_a_roll_out_without_a_context_or_a_diff_changes_nothing(tmp_path: Path, responses: dict, text: str) -> None:
    ran = Run(tmp_path, "production", responses)
    assert (ran.status, text in ran.errors) == (1, True)
    assert not [call for call in ran.calls if " apply " in call]


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_the_roll_out_refuses_placeholders_of_an_overlay(overlay, tmp_path: Path) -> None:
    given = yaml.dump_all(manifests(overlay), Dumper=yaml.CSafeDumper)
    ran = Run(tmp_path, overlay, {"kustomize": given})
    assert ran.status == 1
    found = set(ran.errors.splitlines()[1:])
    assert {"https://objects.example", "operations@campus.example"} < found
    assert any(line.startswith("registry.example/campus/orders:") for line in found)
    assert not [call for call in ran.calls if " apply " in call or " diff " in call]
    # The prefix of labels stays.
    chosen = re.sub(r"\.example(?!/r|/s)", ".campus.ng", given.replace("registry.example", "registry.campus.ng"))
    assert Run(tmp_path, overlay, {"kustomize": chosen, **ENDED_JOBS}).status == 0
    assert Run(tmp_path, "--allow-placeholders", overlay, {"kustomize": given, **ENDED_JOBS}).status == 0


def test_a_failed_job_ends_the_roll_out_with_its_log(tmp_path: Path) -> None:
    states = "orders-migration=SuccessCriteriaMet Complete\npayouts-migration=FailureTarget Failed\n"
    responses = {"kustomize": f"{COMPONENT}: migration\n", "get jobs": states, " logs ": "column exists\n"}
    ran = Run(tmp_path, "production", responses)
    assert ran.status == 1
    assert ran.errors == "column exists\nJob payouts-migration failed. Its last lines are above.\n"
    assert not [call for call in ran.calls if "in (api" in call and "notin" not in call]


def test_processes_that_do_not_become_ready_return_to_their_revision(tmp_path: Path) -> None:
    responses = {
        "revision}": ["orders-api=4\npayouts-api=7\nconsole=2\n", "orders-api=5\npayouts-api=8\nconsole=2\n"],
        "deployment/payouts-api --timeout": [("deadline exceeded", 1), ("", 0)],
    }
    ran = Run(tmp_path, "production", responses)
    assert (ran.status, "processes of the version before run again" in ran.errors) == (1, True)
    assert [call.rpartition("deployment/")[2] for call in ran.calls if "rollout undo" in call] == [
        "orders-api --to-revision=4",
        "payouts-api --to-revision=7",
    ]
    assert not [call for call in ran.calls if "in (key-rotation, audit)" in call]


def test_a_roll_back_that_fails_is_reported(tmp_path: Path) -> None:
    responses = {"revision}": ["orders-api=4\n", "orders-api=5\n"], "deployment/orders-api --timeout": ("", 1)}
    ran = Run(tmp_path, "production", responses)
    assert (ran.status, "are not back at the version before" in ran.errors) == (1, True)


def test_a_second_roll_out_changes_nothing() -> None:
    """Server-side apply: kubectl's own merge rewrites lists with defaults, and a budget's selector, each time."""
    script = (FOLDER / "roll-out").read_text()
    (command,) = re.findall(r"kubectl apply .*", script)
    assert {"--server-side", "--force-conflicts", "--validate=strict"} <= set(command.split())
