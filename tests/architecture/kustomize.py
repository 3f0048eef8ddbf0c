"""Renders an overlay of deploy/k8s like `kubectl kustomize`, without kubectl: the part of kustomize that is used there.

Unsupported fields are rejected, so that no line of a kustomization is ignored.

    python -m tests.architecture.kustomize [OVERLAY...]     # compares the result with kubectl's; needs kubectl
"""

import copy
import hashlib
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

FOLDER = Path(__file__).parents[2] / "deploy" / "k8s"
OVERLAYS = ("single-node", "small", "production", "staging", "managed")
# With servers that operators run.
OPERATED = [overlay for overlay in OVERLAYS if overlay != "managed"]
_KNOWN = {
    "apiVersion",
    "kind",
    "namespace",
    "resources",
    "components",
    "configMapGenerator",
    "patches",
    "images",
}
_CLUSTER_WIDE = {"Namespace"}
_MERGE_KEYS = {"containers": "name", "volumes": "name", "env": "name", "volumeMounts": "mountPath"}

Resource = dict[str, Any]


def rendered(overlay: str, folder: Path | None = None) -> list[Resource]:
    """Every resource of an overlay (or of another folder), config maps under their final names."""
    return _with_hashes(_render(folder or FOLDER / "overlays" / overlay, []))


def _render(folder: Path, resources: list[Resource]) -> list[Resource]:
    kustomization = yaml.load((folder / "kustomization.yaml").read_text(), yaml.CSafeLoader)
    if unknown := set(kustomization) - _KNOWN:
        raise ValueError(f"{folder}: {sorted(unknown)} is not known here")
    resources = list(resources)
    for name in kustomization.get("resources", []):
        path = folder / name
        resources += _render(path, []) if path.is_dir() else _documents(path)
    for name in kustomization.get("components", []):
        # A component works on what the overlay has gathered so far.
        resources = _render(folder / name, resources)
    for generator in kustomization.get("configMapGenerator", []):
        _generate(folder, generator, resources)
    for patch in kustomization.get("patches", []):
        resources = _with_patch(folder, patch, resources)
    for image in kustomization.get("images", []):
        _rename_image(image, resources)
    if namespace := kustomization.get("namespace"):
        for resource in resources:
            if resource["kind"] not in _CLUSTER_WIDE:
                resource["metadata"]["namespace"] = namespace
    return resources


def _with_patch(folder: Path, patch: dict[str, Any], resources: list[Resource]) -> list[Resource]:
    change = yaml.load((folder / patch["path"]).read_text(), yaml.CSafeLoader)
    if not any(_meant(patch["target"], it) for it in resources):
        raise ValueError(f"{folder}: {patch['path']} changes nothing")
    if isinstance(change, dict) and change.get("$patch") == "delete":
        return [it for it in resources if not _meant(patch["target"], it)]
    return [_patched(it, change) if _meant(patch["target"], it) else it for it in resources]


class _Strict(yaml.CSafeLoader):
    """Refuses a key that a mapping has twice, as kubectl does."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        names = [key.value for key, _ in node.value]
        if repeated := {name for name in names if names.count(name) > 1}:
            raise ValueError(f"{sorted(repeated)} is there twice {node.start_mark}")
        return super().construct_mapping(node, deep)


def _documents(path: Path) -> list[Resource]:
    return [copy.deepcopy(document) for document in yaml.load_all(path.read_text(), _Strict) if document]


def _generate(folder: Path, generator: dict[str, Any], resources: list[Resource]) -> None:
    if unknown := set(generator) - {"name", "envs", "files", "literals", "behavior", "options"}:
        raise ValueError(f"{folder}: {sorted(unknown)} of a generator is not known here")
    lines = [line for name in generator.get("envs", []) for line in (folder / name).read_text().splitlines()]
    pairs = [line.partition("=") for line in lines + generator.get("literals", []) if line and line[0] != "#"]
    content = {name: text for name, _, text in pairs}
    content |= {Path(name).name: (folder / name).read_text() for name in generator.get("files", [])}
    if generator.get("behavior") == "merge":
        (existing,) = [it for it in resources if it.get("generated") and it["metadata"]["name"] == generator["name"]]
        existing["data"] |= content
        return
    options = generator.get("options", {})
    if unknown := set(options) - {"labels", "disableNameSuffixHash"}:
        raise ValueError(f"{folder}: {sorted(unknown)} of the options of a generator is not known here")
    metadata = {"name": generator["name"], **({"labels": options["labels"]} if "labels" in options else {})}
    resource = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": content}
    resources.append(resource if options.get("disableNameSuffixHash") else {**resource, "generated": True})


def _meant(target: dict[str, str], resource: Resource) -> bool:
    if unknown := set(target) - {"kind", "name", "group", "labelSelector"}:
        raise ValueError(f"{sorted(unknown)} of a target is not known here")
    group = resource["apiVersion"].rpartition("/")[0]
    label, _, value = target.get("labelSelector", "=").partition("=")
    return (
        target.get("kind", resource["kind"]) == resource["kind"]
        and (not label or resource["metadata"].get("labels", {}).get(label) == value)
        and target.get("name", resource["metadata"]["name"]) == resource["metadata"]["name"]
        and target.get("group", group) == group
    )


def _patched(resource: Resource, change: Any) -> Resource:
    if isinstance(change, list):
        result = copy.deepcopy(resource)
        for step in change:
            _parse_step(result, step)
        return result
    content = {key: value for key, value in change.items() if key not in ("apiVersion", "kind", "metadata")}
    if annotations := change["metadata"].get("annotations"):
        content["metadata"] = {"annotations": annotations}
    return _merged(resource, content)


def _parse_step(resource: Any, step: dict[str, Any]) -> None:
    """RFC 6902: steps within objects, by way of lists."""
    *way, last = step["path"].strip("/").split("/")
    for name in way:
        resource = resource[int(name) if isinstance(resource, list) else name]
    if step["op"] == "remove":
        del resource[last]
    elif (step["op"], last) == ("add", "-"):
        resource.append(step["value"])
    elif (step["op"], last in resource) in (("replace", True), ("add", False)):
        resource[last] = step["value"]
    else:
        raise ValueError(f"the step {step} is not known here, or there is nothing to replace, or something already")


def _merged(old: Any, new: Any, key: str = "") -> Any:
    if isinstance(old, dict) and isinstance(new, dict):
        return old | {name: _merged(old[name], value, name) if name in old else value for name, value in new.items()}
    if isinstance(old, list) and isinstance(new, list) and (identity := _MERGE_KEYS.get(key)):
        changes = {entry[identity]: entry for entry in new}
        kept = [_merged(entry, changes.pop(entry[identity], {})) for entry in old]
        return [*kept, *changes.values()]
    return copy.deepcopy(new)


def _rename_image(image: dict[str, str], resources: list[Resource]) -> None:
    for container in containers_of(resources):
        if container.get("image", "").partition(":")[0] == image["name"]:
            # A release names digests in place of tags (deploy/release/pin_images.py).
            version = f"@{image['digest']}" if "digest" in image else f":{image['newTag']}"
            container["image"] = image["newName"] + version


def containers_of(resources: list[Resource]) -> Iterator[dict[str, Any]]:
    """Yield the containers of every workload of Kubernetes' own kinds."""
    for resource in resources:
        if pod := pod_of(resource):
            yield from pod["spec"]["containers"]


def pod_of(resource: Resource) -> dict[str, Any] | None:
    """Return the template of the pods of a workload."""
    if resource["kind"] in ("Deployment", "Job"):
        return resource["spec"]["template"]
    if resource["kind"] == "CronJob":
        return resource["spec"]["jobTemplate"]["spec"]["template"]
    return None


def _with_hashes(resources: list[Resource]) -> list[Resource]:
    """Return the name of a generated map contains a hash of its content, so that a change restarts the processes."""
    names = {}
    for resource in resources:
        if resource.pop("generated", False):
            name = resource["metadata"]["name"]
            resource["metadata"]["name"] = names[name] = f"{name}-{hash_of(resource['data'])}"
    for container in containers_of(resources):
        for source in container.get("envFrom", []):
            if name := source.get("configMapRef", {}).get("name"):
                source["configMapRef"]["name"] = names.get(name, name)
    for pod in filter(None, map(pod_of, resources)):
        for volume in pod["spec"].get("volumes", []):
            if mounted := volume.get("configMap"):
                mounted["name"] = names.get(mounted["name"], mounted["name"])
    return resources


def hash_of(content: dict[str, str]) -> str:
    encoded = json.dumps(
        {"data": content, "kind": "ConfigMap", "name": ""}, separators=(",", ":"), ensure_ascii=False, sort_keys=True
    )
    for character in "&<>":
        encoded = encoded.replace(character, f"\\u{ord(character):04x}")
    # Kustomize uses no vowels and no digits that resemble letters.
    return hashlib.sha256(encoded.encode()).hexdigest()[:10].translate(str.maketrans("013ae", "ghkmt"))


def _comparable(resources: list[Resource]) -> dict[str, str]:
    def sorted_lists(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: sorted_lists(entry) for key, entry in value.items()}
        if isinstance(value, list):
            return sorted((sorted_lists(entry) for entry in value), key=lambda entry: json.dumps(entry, sort_keys=True))
        return value

    return {
        f"{it['kind']} {it['metadata']['name']}": json.dumps(sorted_lists(it), sort_keys=True, indent=1)
        for it in resources
    }


def _compare(overlay: str) -> bool:
    command = ["kubectl", "kustomize", str(FOLDER / "overlays" / overlay)]
    output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    theirs = _comparable(list(yaml.load_all(output, yaml.CSafeLoader)))
    ours = _comparable(rendered(overlay))
    differing = sorted(name for name in theirs.keys() | ours.keys() if theirs.get(name) != ours.get(name))
    for name in differing:
        sys.stdout.write(f"{overlay}: {name} differs\n--- kubectl\n{theirs.get(name)}\n--- here\n{ours.get(name)}\n")
    sys.stdout.write(f"{overlay}: {len(theirs)} resources, {len(differing)} differ\n")
    return not differing


if __name__ == "__main__":
    same = [_compare(overlay) for overlay in sys.argv[1:] or OVERLAYS]
    sys.exit(0 if all(same) else 1)
