"""The manifests of deploy/k8s match their schemas, their sources and each other. No test here needs a cluster."""

import json
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import jsonschema
import kubernetes_validate
import pytest
import yaml

from tests.architecture.kustomize import FOLDER, OVERLAYS, Resource, rendered
from tests.architecture.manifests import manifests, name_of, processes

KUBERNETES = "1.34"
APPLIED_BY_A_READER = [FOLDER / "examples/argocd/application.yaml", FOLDER / "examples/flux/campus.yaml"]


def closed(schema: Any) -> Any:
    """Return a schema that refuses fields it does not name, as the API server does in strict mode."""
    if isinstance(schema, list):
        return [closed(entry) for entry in schema]
    if not isinstance(schema, dict):
        return schema
    result = {key: closed(value) for key, value in schema.items()}
    is_open = "additionalProperties" in schema or schema.get("x-kubernetes-preserve-unknown-fields")
    if isinstance(schema.get("properties"), dict) and "type" in schema and not is_open:
        result["additionalProperties"] = False
    return result


@cache
def operator_schema(api_version: str, kind: str) -> jsonschema.Draft202012Validator:
    path = FOLDER / "schemas" / f"{api_version.replace('/', '_')}_{kind}.json"
    return jsonschema.Draft202012Validator(closed(json.loads(path.read_text())))


def is_of_an_operator(resource: Resource) -> bool:
    group = resource["apiVersion"].rpartition("/")[0]
    return ("." in group and not group.endswith(".k8s.io")) or group == "gateway.networking.k8s.io"


def test_every_resource_matches_its_schema(monkeypatch: pytest.MonkeyPatch) -> None:
    """Most are the same in each overlay, and are compared once."""
    # It parses a megabyte of definitions for each resource.
    monkeypatch.setattr(kubernetes_validate.utils, "schema_contents", cache(kubernetes_validate.utils.schema_contents))
    resources = {json.dumps(it, sort_keys=True): it for overlay in OVERLAYS for it in manifests(overlay)}
    for resource in resources.values():
        if is_of_an_operator(resource):
            faults = list(operator_schema(resource["apiVersion"], resource["kind"]).iter_errors(resource))
            assert not faults, (name_of(resource), [f"{fault.json_path}: {fault.message}" for fault in faults])
        else:
            kubernetes_validate.validate(resource, KUBERNETES, strict=True)


def test_the_check_rejects_a_misspelt_field() -> None:
    database = next(it for it in manifests("production") if it["kind"] == "Cluster")
    misspelt = {**database, "spec": {**database["spec"], "instancez": 3}}
    assert not operator_schema(database["apiVersion"], "Cluster").is_valid(misspelt)
    deployment = processes("production")[0]
    with pytest.raises(kubernetes_validate.ValidationError):
        kubernetes_validate.validate(
            {**deployment, "spec": {**deployment["spec"], "replicaz": 1}}, KUBERNETES, strict=True
        )


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_every_resource_is_defined_once(overlay) -> None:
    names = [(it["apiVersion"], it["kind"], name_of(it)) for it in manifests(overlay)]
    assert len(names) == len(set(names))
    assert {it["metadata"].get("namespace") for it in manifests(overlay) if it["kind"] != "Namespace"} == {"campus"}


def test_every_schema_has_its_source() -> None:
    table = (FOLDER / "schemas" / "SOURCE.md").read_text()
    for path in (FOLDER / "schemas").glob("*.json"):
        assert path.name in table or f"`_{path.stem.rsplit('_', 1)[1]}`" in table or path.stem in table, path.name


def test_every_manifest_is_part_of_an_overlay() -> None:
    """A file that no kustomization names would never be applied."""
    named = set()
    for path in FOLDER.rglob("kustomization.yaml"):
        kustomization = yaml.load(path.read_text(), yaml.CSafeLoader)
        patches = [patch["path"] for patch in kustomization.get("patches", [])]
        generators = kustomization.get("configMapGenerator", [])
        envs = [name for it in generators for name in (*it.get("envs", []), *it.get("files", []))]
        named |= {path.parent / name for name in (*kustomization.get("resources", []), *patches, *envs)}
    written = {path for pattern in ("*.yaml", "*.env") for path in FOLDER.rglob(pattern)}
    unnamed = {path for path in written if path.name != "kustomization.yaml"} - named
    assert unnamed == {*(FOLDER / "templates").iterdir(), *APPLIED_BY_A_READER}


@pytest.mark.parametrize("path", APPLIED_BY_A_READER, ids=lambda path: path.parent.name)
def test_the_examples_of_gitops_tools_match_their_schemas(path: Path) -> None:
    for resource in yaml.load_all(path.read_text(), yaml.CSafeLoader):
        schema = operator_schema(resource["apiVersion"], resource["kind"])
        faults = [f"{fault.json_path}: {fault.message}" for fault in schema.iter_errors(resource)]
        assert not faults, name_of(resource)


def test_subscribers_outside_reach_the_broker_by_tls_alone() -> None:
    resources = rendered("", FOLDER / "examples/subscribers-outside")
    added = [it for it in resources if it not in manifests("production")]
    for it in added:
        if is_of_an_operator(it):
            assert operator_schema(it["apiVersion"], it["kind"]).is_valid(it), name_of(it)
        else:
            kubernetes_validate.validate(it, KUBERNETES, strict=True)
    by_name = {(it["kind"], name_of(it)): it["spec"] for it in added if "spec" in it}
    service = by_name["Service", "broker-outside"]
    assert [it["port"] for it in service["ports"]] == [5671]
    (rule,) = by_name["NetworkPolicy", "subscribers-outside"]["ingress"]
    assert rule["ports"] == [{"protocol": "TCP", "port": 5671}]
    assert [it["ipBlock"]["cidr"] for it in rule["from"]] == service["loadBalancerSourceRanges"]
    [address] = [it["data"]["EVENTS_ADDRESS"] for it in added if "EVENTS_ADDRESS" in it.get("data", {})]
    assert urlsplit(address)[:2] == ("amqps", f"{by_name['Certificate', 'broker-tls']['dnsNames'][-1]}:5671")


def test_manifests_from_templates_are_up_to_date() -> None:
    subprocess.run([sys.executable, str(FOLDER / "render.py"), "--check"], check=True)
