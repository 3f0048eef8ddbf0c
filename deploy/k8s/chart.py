#!/usr/bin/env python3
"""Writes a Helm chart from the rendered manifests of an overlay, as a folder and as an archive for an OCI registry:

    kubectl kustomize deploy/k8s/overlays/small | .venv/bin/python deploy/k8s/chart.py campus-small 1.0.0 FOLDER

The default values render the same resources. What differs: the namespace is the release's, and not part of the chart;
the Jobs of migrations are hooks. Hosts, images and other addresses become values; nothing is described twice.
"""

import argparse
import gzip
import io
import json
import re
import sys
import tarfile
from pathlib import Path
from typing import Any

import yaml

Resource = dict[str, Any]

# What is not written from the manifests.
TEXTS = Path(__file__).parent / "chart"

COMPONENT = "app.kubernetes.io/component"
# The steps of `roll-out`, by the component of a resource; without one of these it belongs to the first.
STEPS = {
    "2-accounts": {"broker-account"},
    "3-jobs": {"provision", "migration", "demo-data"},
    "4-processes": {"api", "worker", "web", "key-rotation", "audit", "supervisor", "autoscaling"},
}
# Each step contains those before it, so that no step removes anything.
CONDITIONS = {
    "2-accounts": 'ne .Values.through "servers"',
    "3-jobs": 'eq .Values.through "processes"',
    "4-processes": 'eq .Values.through "processes"',
}
# Jobs are immutable: a hook replaces them. Accounts and databases come before migrations, processes after them.
HOOKS = {
    "provision": ("pre-install,pre-upgrade", "-5"),
    "migration": ("pre-install,pre-upgrade", "0"),
    "demo-data": ("post-install,post-upgrade", "0"),
}
# The name of a map that kustomize generated: its hash uses no vowels.
GENERATED = re.compile(r"(?P<name>.+)-[bcdfghkmt2456789]{10}")
IMAGE = re.compile(r"(?P<registry>.+)/(?P<name>[^/:@]+)(?P<version>[:@].+)")
# Marks an expression of a template within a string, in characters of private use.
START, END = "\ue000", "\ue001"

HOST = r"^[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)+$"
NAME = r"^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$"
REFERENCE = r"^[a-z0-9][A-Za-z0-9._:/@-]*$"
QUANTITY = r"^[0-9]+(\.[0-9]+)?([KMGT]i?)?$"
HELPERS = (TEXTS / "_helpers.tpl").read_text()

# `lookup` finds nothing where a chart is only rendered: then nothing is checked.
CHECKS = (TEXTS / "0-checks.tpl").read_text()
README = (TEXTS / "README.tpl").read_text()


def mark(expression: str) -> str:
    """Return an expression of a template, to stand within a string."""
    return f"{START}{expression}{END}"


class Dumper(yaml.CSafeDumper):
    """Writes a resource on lines of any length, strings with an expression in double quotes."""

    def ignore_aliases(self, data: object) -> bool:
        return True


def _string(dumper: yaml.CSafeDumper, text: str) -> yaml.Node:
    style = '"' if START in text else "|" if "\n" in text else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


Dumper.add_representer(str, _string)


class Chart:
    """The templates and values of one overlay."""

    def __init__(self, resources: list[Resource]) -> None:
        self.resources = [it for it in resources if it["kind"] != "Namespace"]
        self.maps = {
            it["metadata"]["name"]: found["name"]
            for it in self.resources
            if it["kind"] == "ConfigMap" and (found := GENERATED.fullmatch(it["metadata"]["name"]))
        }
        data = {
            key: text
            for it in self.resources
            if self.maps.get(it["metadata"]["name"]) in ("settings", "console-settings", "identity-settings")
            for key, text in it["data"].items()
        }
        self.hosts = {
            "api": data["BASE_URL"].removeprefix("https://"),
            "console": data["CONSOLE_URL"].removeprefix("https://"),
            "domain": data["PASSKEY_RP_ID"],
        }
        self.values: dict[str, Any] = {
            "through": "processes",
            "hosts": self.hosts,
            "registry": "",
            "images": {},
            "pullSecrets": [],
            "secretStore": {"kind": "ClusterSecretStore", "name": "campus", "prefix": "campus/"},
            "gatewayClass": "campus",
            "certificates": {},
            "backups": {},
            "storage": {},
            "replicas": {},
            "settings": {name: {} for name in sorted(self.maps.values())},
        }

    def files(self) -> dict[str, str]:
        """Return each file below `templates`, and what it holds."""
        steps: dict[str, list[str]] = {}
        helpers = [HELPERS]
        for resource in self.resources:
            component = resource["metadata"].get("labels", {}).get(COMPONENT, "")
            step = next((name for name, components in STEPS.items() if component in components), "1-servers")
            name = self.maps.get(resource["metadata"]["name"]) if resource["kind"] == "ConfigMap" else None
            if name:
                content = self._text(self._templated(resource["data"], resource))
                helpers.append(f'\n{{{{- define "campus.data.{name}" -}}}}\n{content}{{{{ end }}}}\n')
                step = "3-jobs" if self._is_of_hooks_only(resource) else step
            templated = self._with_hook(self._resource(resource, name), component, step)
            steps.setdefault(step, []).append(self._text(templated))
        texts = {"_helpers.tpl": "".join(helpers), "0-checks.yaml": CHECKS}
        for step, documents in steps.items():
            text = "---\n".join(documents)
            if condition := CONDITIONS.get(step):
                text = f"{{{{- if {condition} }}}}\n{text}{{{{- end }}}}\n"
            texts[f"{step}.yaml"] = text
        return texts

    def _is_of_hooks_only(self, settings: Resource) -> bool:
        """Return whether only Jobs before the processes read a map: it must exist before the release's own maps do."""
        readers = [it for it in self.resources if _refers_to(it, settings["metadata"]["name"])]
        return all(it["metadata"].get("labels", {}).get(COMPONENT) == "provision" for it in readers)

    def _with_hook(self, resource: Resource, component: str, step: str) -> Resource:
        if step != "3-jobs":
            return resource
        hook, weight = HOOKS.get(component, ("pre-install,pre-upgrade", "-10"))
        annotations = {
            "helm.sh/hook": hook,
            "helm.sh/hook-weight": weight,
            "helm.sh/hook-delete-policy": "before-hook-creation",
        }
        own = resource["metadata"].get("annotations", {})
        return resource | {"metadata": resource["metadata"] | {"annotations": own | annotations}}

    def _resource(self, resource: Resource, settings: str | None) -> Resource:
        kind = resource["kind"]
        if settings:
            named = mark(f'include "campus.map" (list . "{settings}")')
            content = mark(f'include "campus.data" (list . "{settings}")')
            result = {**resource, "metadata": {**resource["metadata"], "name": named}, "data": content}
        else:
            result = self._templated(resource, resource)
        result["metadata"] = result["metadata"] | {"namespace": mark(".Release.Namespace")}
        spec = result.get("spec", {})
        if kind == "ServiceAccount":
            result["imagePullSecrets"] = None
        elif kind in ("Cluster", "RabbitmqCluster"):
            spec["imagePullSecrets"] = None
        elif kind == "Pooler":
            spec["template"]["spec"]["imagePullSecrets"] = None
        return result

    def _templated(self, value: Any, resource: Resource, path: tuple[str, ...] = ()) -> Any:
        if isinstance(value, dict):
            return {key: self._templated(entry, resource, (*path, key)) for key, entry in value.items()}
        if isinstance(value, list):
            return [self._templated(entry, resource, path) for entry in value]
        if (known := self._known(value, resource, path)) is not None:
            return known
        return self._with_hosts(value) if isinstance(value, str) else value

    def _known(self, value: Any, resource: Resource, path: tuple[str, ...]) -> str | None:
        """Return the expression of a field that is a value of the chart, and record its default."""
        kind, last = resource["kind"], path[-1] if path else ""
        if last in ("image", "imageName"):
            return self._image(value)
        if path[-2:] == ("secretStoreRef", last):
            return mark(f".Values.secretStore.{last}")
        if path[-2:] == ("remoteRef", "key"):
            return mark(".Values.secretStore.prefix") + value.removeprefix(self.values["secretStore"]["prefix"])
        if kind in ("HorizontalPodAutoscaler", "ScaledObject") and (bound := re.fullmatch("(min|max)Replica.*", last)):
            deployment = resource["spec"]["scaleTargetRef"]["name"]
            self.values["replicas"].setdefault(deployment, {})[bound[1]] = value
            return mark(f'(index .Values.replicas "{deployment}").{bound[1]} | int')
        names = {
            ("ObjectStore", "destinationPath"): ("backups", "path"),
            ("ObjectStore", "endpointURL"): ("backups", "endpoint"),
            ("Issuer", "email"): ("certificates", "email"),
            ("Issuer", "server"): ("certificates", "server"),
            ("RabbitmqCluster", "storage"): ("storage", "broker"),
            ("Cluster", "size"): ("storage", "wal" if path[-2:] == ("walStorage", "size") else "database"),
        }
        if (kind, last) in names:
            group, name = names[kind, last]
            self.values[group][name] = value
            return mark(f".Values.{group}.{name}")
        if last == "gatewayClassName":
            return mark(".Values.gatewayClass")
        if last == "name" and path[-2] in ("configMap", "configMapRef") and value in self.maps:
            return mark(f'include "campus.map" (list $ "{self.maps[value]}")')
        return None

    def _image(self, reference: str) -> str:
        name = IMAGE.fullmatch(reference)
        if name is None or "/campus/" not in reference:
            short = re.split("[:@]", reference.rpartition("/")[2])[0]
            self.values["images"][short] = reference
            return mark(f'index .Values.images "{short}"')
        self.values["images"][name["name"]] = reference
        return mark(f'include "campus.image" (list $ "{name["name"]}")')

    def _with_hosts(self, text: str) -> str:
        if text == self.hosts["domain"]:
            return mark(".Values.hosts.domain")
        for name in ("api", "console"):
            text = re.sub(rf"(?<![\w.-]){re.escape(self.hosts[name])}(?![\w.-])", mark(f".Values.hosts.{name}"), text)
        # A server's name with its namespace.
        own = f".{mark('.Release.Namespace')}"
        return text.replace(".campus.svc", f"{own}.svc").replace(".broker-nodes.campus", f".broker-nodes{own}")

    @staticmethod
    def _text(value: Any) -> str:
        """Return YAML with the expressions of templates; braces of other languages stay as they are."""
        text = yaml.dump(value, Dumper=Dumper, sort_keys=False, width=10**6, allow_unicode=True)
        text = text.replace("{{", '{{ "{{" }}')
        # Numbers, and content that is JSON, stand without quotes.
        text = re.sub(f'"{START}((?:include .{{1,2}}campus.data|[^{END}]*[|] int)[^{END}]*){END}"', _unescaped, text)
        text = re.sub(
            r"^( *)imagePullSecrets: null$",
            r'{{- with $.Values.pullSecrets }}\n\1imagePullSecrets: {{ include "campus.pullSecrets" $ }}\n{{- end }}',
            text,
            flags=re.MULTILINE,
        )
        return re.sub(f"{START}(.*?){END}", _unescaped, text)


def _unescaped(found: re.Match[str]) -> str:
    return f"{{{{ {found[1].replace(chr(92) + chr(34), chr(34))} }}}}"


def _refers_to(value: Any, name: str) -> bool:
    if isinstance(value, dict):
        return any(
            entry == name if key == "name" and "metadata" not in value else _refers_to(entry, name)
            for key, entry in value.items()
            if key != "metadata"
        )
    return isinstance(value, list) and any(_refers_to(entry, name) for entry in value)


def schema_of(values: dict[str, Any]) -> dict[str, Any]:
    """Return a JSON schema that names every value, and rejects others."""
    strings = {"type": "object", "additionalProperties": {"type": "string"}}
    number = {"type": "integer", "minimum": 1}

    def text(pattern: str) -> dict[str, str]:
        return {"type": "string", "pattern": pattern}

    def closed(properties: dict[str, Any]) -> dict[str, Any]:
        return {"type": "object", "additionalProperties": False, "properties": properties}

    kinds = {"kind": {"enum": ["ClusterSecretStore", "SecretStore"]}, "name": text(NAME), "prefix": {"type": "string"}}
    address = text(r"^[a-z0-9]+://\S+$")
    return {
        "$schema": "http://json-schema.org/draft-07/schema#",
        **closed(
            {
                # Charts that contain this one may set it.
                "global": {"type": "object"},
                "through": {"enum": ["servers", "accounts", "processes"]},
                "hosts": closed(dict.fromkeys(values["hosts"], text(HOST))),
                "registry": text(f"^$|{REFERENCE}"),
                "images": closed(dict.fromkeys(values["images"], text(REFERENCE))),
                "pullSecrets": {"type": "array", "items": text(NAME)},
                "secretStore": closed(kinds),
                "gatewayClass": text(NAME),
                "certificates": closed({"email": text(r"^\S+@\S+$"), "server": address}),
                "backups": closed(dict.fromkeys(values["backups"], address)),
                "storage": closed(dict.fromkeys(values["storage"], text(QUANTITY))),
                "replicas": closed(
                    dict.fromkeys(values["replicas"], closed({"min": number, "max": number})),
                ),
                "settings": closed(dict.fromkeys(values["settings"], strings)),
            }
        ),
    }


COMMENTS = {
    "through": "How far a release reaches: servers, accounts or processes. The first installation takes these three\n"
    "steps, an upgrade none (README.md).",
    "hosts": "The public names of gateway and console, and the domain of passkeys.",
    "registry": "Replaces the registry of our images. Empty: as in `images`.",
    "images": "Each image by reference, in a release by digest. Servers: name a mirror here.",
    "pullSecrets": "Names of Secrets with an account of the registry.",
    "secretStore": "The store of External Secrets, and what each entry begins with. Two installations in one cluster\n"
    "have two prefixes or two stores.",
    "gatewayClass": "The GatewayClass of the public routes.",
    "certificates": "The account at the certificate authority.",
    "backups": "The object store. Two installations have two paths.",
    "storage": "Sizes of disks of each instance.",
    "replicas": "Bounds of each autoscaler.",
    "settings": "Variables added to a map of settings, as strings: `settings` for all services, others for one\n"
    "(docs/reference/configuration.md).",
}


def write(name: str, version: str, folder: Path, resources: list[Resource]) -> Path:
    """Write the chart as a folder, and return the archive beside it. The same manifests make the same bytes."""
    chart = Chart(resources)
    templates = chart.files()
    values = "".join(
        "".join(f"# {line}\n" for line in COMMENTS[key].splitlines())
        + yaml.safe_dump({key: value}, sort_keys=False, width=120)
        for key, value in chart.values.items()
    )
    about = {
        "apiVersion": "v2",
        "name": name,
        "version": version,
        "appVersion": version,
        "description": "The backend of a student marketplace: escrow, delivery PIN, payouts.",
        "type": "application",
        "kubeVersion": ">=1.34.0-0",
    }
    files = {
        "Chart.yaml": yaml.safe_dump(about, sort_keys=False, width=120),
        "values.yaml": values,
        "values.schema.json": json.dumps(schema_of(chart.values), indent=1) + "\n",
        "README.md": README.format(name=name, overlay=name.removeprefix("campus-"), version=version),
        **{f"templates/{path}": text for path, text in templates.items()},
    }
    archive = folder / f"{name}-{version}.tgz"
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        for path, text in sorted(files.items()):
            target = folder / name / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text)
            entry = tarfile.TarInfo(f"{name}/{path}")
            entry.size, entry.mode = len(text.encode()), 0o644
            tar.addfile(entry, io.BytesIO(text.encode()))
    archive.write_bytes(gzip.compress(packed.getvalue(), mtime=0))
    return archive


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("name")
    parser.add_argument("version")
    parser.add_argument("folder", type=Path)
    options = parser.parse_args()
    resources = [it for it in yaml.load_all(sys.stdin, yaml.CSafeLoader) if it]
    if not resources:
        sys.exit("No manifest on standard input: pipe the output of `kubectl kustomize` into this command.")
    sys.stdout.write(f"{write(options.name, options.version, options.folder, resources)}\n")


if __name__ == "__main__":
    main()
