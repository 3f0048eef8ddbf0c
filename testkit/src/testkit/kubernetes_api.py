"""A stand-in for the API server of Kubernetes, for tests with the real kubectl: a few kinds, in memory, without
authentication.

It also plays the controllers behind them: a changed template of a Deployment replaces its pods, whose environments are
those of the Secrets at that moment; an ExternalSecret is fetched from `store` when it is annotated. A program in a pod
is a program of this machine with the pod's environment.
"""

import asyncio
import base64
import json
import os
import shutil
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import pytest
from aiohttp import WSMsgType, web

NAMESPACE: Final = "campus"
_KINDS: Final = {
    "v1": {"secrets": "Secret", "pods": "Pod"},
    "apps/v1": {"deployments": "Deployment"},
    "batch/v1": {"cronjobs": "CronJob", "jobs": "Job"},
    "external-secrets.io/v1": {"externalsecrets": "ExternalSecret"},
}
_VERSION_OF: Final = {plural: version for version, kinds in _KINDS.items() for plural in kinds}
_REASONS: Final = {500: "InternalError", 404: "NotFound"}
# Channels of a program's streams: a byte before each message.
_STDIN, _STDOUT, _STDERR, _RESULT, _CLOSED = 0, 1, 2, 3, 255


class Rejected(Exception):
    """A request that the server rejects with this status."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


@dataclass
class KubernetesApi:
    """The objects of one namespace, and the faults that a test sets."""

    folder: Path
    has_external_secrets: bool = False
    url: str = ""
    objects: dict[tuple[str, str], dict[str, Any]] = field(default_factory=dict)
    environments: dict[str, dict[str, str]] = field(default_factory=dict)
    """The environment of each pod, from its start on."""
    store: dict[str, dict[str, str]] = field(default_factory=dict)
    """The store of External Secrets: properties by entry."""
    commands: list[tuple[str, ...]] = field(default_factory=list)
    """The programs that ran in pods, each with its pod first."""
    stuck: set[str] = field(default_factory=set)
    """Deployments whose new pods never become ready."""
    printed: dict[str, str] = field(default_factory=dict)
    """The logs of pods by name."""
    unreadable: set[str] = field(default_factory=set)
    """Pods whose logs the server cannot get from their node."""
    ends_of_jobs: dict[str, tuple[str, str]] = field(default_factory=dict)
    """How the Jobs of a CronJob end, as `Complete` or `Failed`, and what they print."""
    _version: int = 100

    @property
    def kubeconfig(self) -> Path:
        """A configuration whose current context is this server."""
        path = self.folder / "kubeconfig"
        named = {"name": "test", "context": {"cluster": "test", "user": "test", "namespace": "default"}}
        document = {
            "apiVersion": "v1", "kind": "Config", "current-context": "test", "contexts": [named],
            "clusters": [{"name": "test", "cluster": {"server": self.url}}], "users": [{"name": "test", "user": {}}],
        }  # fmt: skip
        path.write_text(json.dumps(document))
        return path

    def add_secret(self, name: str, values: Mapping[str, str], *, owner: str = "") -> None:
        """`owner`: the kind of the object of that name which writes the Secret."""
        metadata: dict[str, Any] = {"name": name}
        if owner:
            group = {"ExternalSecret": "external-secrets.io/v1", "SealedSecret": "bitnami.com/v1alpha1"}[owner]
            metadata["ownerReferences"] = [{"apiVersion": group, "kind": owner, "name": name, "controller": True}]
        self._put("secrets", {"metadata": metadata, "type": "Opaque", "data": _encoded(values)})

    def values(self, name: str) -> dict[str, str]:
        """Return the decoded values of a Secret."""
        data = self.objects["secrets", name]["data"]
        return {key: base64.b64decode(text).decode() for key, text in data.items()}

    def add_external_secret(self, manifest: Mapping[str, Any]) -> None:
        """Add an ExternalSecret of plain values, with its Secret as the store has them."""
        name = manifest["metadata"]["name"]
        self.add_secret(name, {}, owner="ExternalSecret")
        self._put("externalsecrets", json.loads(json.dumps(manifest)))
        self._fetch(self.objects["externalsecrets", name])

    def add_deployment(self, name: str, *secrets: str, service: str = "") -> None:
        """Add a Deployment of one pod, whose container `process` has the values of the Secrets as its environment."""
        service = service or name.rpartition("-")[0]
        labels = {"app.kubernetes.io/part-of": "campus", "app.kubernetes.io/name": service, "pod-of": name}
        sources = [{"secretRef": {"name": secret}} for secret in secrets]
        container = {"name": "process", "image": f"campus-{service}", "envFrom": sources}
        template = {"metadata": {"labels": labels}, "spec": {"containers": [container]}}
        spec = {"replicas": 1, "selector": {"matchLabels": {"pod-of": name}}, "template": template}
        self._put("deployments", {"metadata": {"name": name, "generation": 1, "labels": labels}, "spec": spec})
        self._replace_pods(self.objects["deployments", name])

    def add_cron_job(self, name: str, end: str, printed: str) -> None:
        """Add a CronJob whose Jobs end at once, and what they print."""
        self.ends_of_jobs[name] = end, printed
        template = {
            "spec": {"restartPolicy": "OnFailure", "containers": [{"name": "process", "image": "campus-operations"}]}
        }
        spec = {"schedule": "30 2 * * *", "jobTemplate": {"spec": {"template": template}}}
        self._put("cronjobs", {"metadata": {"name": name}, "spec": spec})

    def fetch_all(self) -> None:
        """Fetch every Secret from the store, as External Secrets does at its interval."""
        for (kind, _), external in self.objects.items():
            if kind == "externalsecrets":
                self._fetch(external)

    def pods_of(self, deployment: str) -> list[str]:
        return [name for kind, name in self.objects if kind == "pods" and name.startswith(f"{deployment}-")]

    # ---- The server
    # ------------------------------------------------------------------------------------------------------

    def application(self) -> web.Application:
        app = web.Application(middlewares=[_problems])
        namespaced = f"/namespaces/{NAMESPACE}/{{plural}}"
        app.router.add_get("/api", self._core)
        app.router.add_get("/apis", self._groups)
        app.router.add_get(f"/api/v1/namespaces/{NAMESPACE}", self._namespace)
        for version in _KINDS:
            root = f"/api/{version}" if version == "v1" else f"/apis/{version}"
            app.router.add_get(root, self._resources)
            app.router.add_get(f"{root}{namespaced}", self._list)
            app.router.add_get(f"{root}{namespaced}/{{name}}", self._get)
            app.router.add_post(f"{root}{namespaced}", self._create)
            app.router.add_patch(f"{root}{namespaced}/{{name}}", self._patch)
        app.router.add_get(f"/api/v1/namespaces/{NAMESPACE}/pods/{{name}}/exec", self._exec)
        app.router.add_get(f"/api/v1/namespaces/{NAMESPACE}/pods/{{name}}/log", self._log)
        return app

    async def _core(self, request: web.Request) -> web.Response:
        return web.json_response({"kind": "APIVersions", "versions": ["v1"]})

    async def _namespace(self, request: web.Request) -> web.Response:
        return web.json_response({"kind": "Namespace", "apiVersion": "v1", "metadata": {"name": NAMESPACE}})

    async def _groups(self, request: web.Request) -> web.Response:
        groups = []
        for version in self._versions():
            group, _, number = version.rpartition("/")
            if group:
                named = {"groupVersion": version, "version": number}
                groups.append({"name": group, "versions": [named], "preferredVersion": named})
        return web.json_response({"kind": "APIGroupList", "apiVersion": "v1", "groups": groups})

    async def _resources(self, request: web.Request) -> web.Response:
        version = request.path.removeprefix("/apis/").removeprefix("/api/")
        if version not in self._versions():
            raise Rejected(404, "the server could not find the requested resource")
        verbs = ["get", "list", "watch", "patch", "update"]
        resources = [
            {"name": plural, "singularName": kind.lower(), "namespaced": True, "kind": kind, "verbs": verbs}
            for plural, kind in _KINDS[version].items()
        ]
        return web.json_response({"kind": "APIResourceList", "groupVersion": version, "resources": resources})

    def _versions(self) -> list[str]:
        return [version for version in _KINDS if self.has_external_secrets or "external" not in version]

    async def _list(self, request: web.Request) -> web.StreamResponse:
        if "watch" in request.query:
            # The list before it had the final state: nothing happens until the client ends the watch.
            stream = web.StreamResponse(headers={"Content-Type": "application/json"})
            await stream.prepare(request)
            await asyncio.Event().wait()
        plural = request.match_info["plural"]
        labels = dict(part.split("=") for part in request.query.get("labelSelector", "").split(",") if part)
        _, _, named = request.query.get("fieldSelector", "").partition("metadata.name=")
        items = [
            it
            for (kind, name), it in self.objects.items()
            if kind == plural and labels.items() <= it["metadata"].get("labels", {}).items() and name == (named or name)
        ]
        version = _VERSION_OF[plural]
        document = {"kind": f"{_KINDS[version][plural]}List", "apiVersion": version, "items": items}
        return web.json_response({**document, "metadata": {"resourceVersion": str(self._version)}})

    async def _get(self, request: web.Request) -> web.Response:
        return web.json_response(self._found(request))

    async def _create(self, request: web.Request) -> web.Response:
        """Return a Job, with its pod: it ends at once."""
        job = await request.json()
        name = job["metadata"]["name"]
        end, printed = self.ends_of_jobs[job["metadata"]["ownerReferences"][0]["name"]]
        labels = {"job-name": name}
        job["spec"]["selector"] = {"matchLabels": labels}
        job["status"] = {"conditions": [{"type": end, "status": "True"}]}
        self._put("jobs", job)
        pod = {"metadata": {"name": f"{name}-pod", "labels": labels}, "spec": job["spec"]["template"]["spec"]}
        self._put("pods", {**pod, "status": {"phase": "Succeeded" if end == "Complete" else "Failed"}})
        self.printed[f"{name}-pod"] = printed
        return web.json_response(job, status=201)

    async def _patch(self, request: web.Request) -> web.Response:
        found = self._found(request)
        plural, patch = request.match_info["plural"], await request.json()
        template = json.dumps(found.get("spec", {}).get("template"))
        annotations = dict(found["metadata"].get("annotations", {}))
        _merge(found, patch)
        self._changed(found)
        if plural == "deployments" and template != json.dumps(found["spec"]["template"]):
            self._roll_out(found)
        if plural == "externalsecrets":
            later = found["metadata"].get("annotations", {})
            if later.get("force-sync") != annotations.get("force-sync"):
                self._fetch(found)
        return web.json_response(found)

    async def _exec(self, request: web.Request) -> web.WebSocketResponse:
        pod, command = request.match_info["name"], request.query.getall("command")
        if pod not in self.environments:
            raise Rejected(404, f'pods "{pod}" not found')
        self.commands.append((pod, *command))
        socket = web.WebSocketResponse(protocols=("v5.channel.k8s.io",))
        await socket.prepare(request)
        given = b""
        async for message in socket:
            if message.type is not WSMsgType.BINARY or message.data[:2] == bytes((_CLOSED, _STDIN)):
                break
            if message.data[0] == _STDIN:
                given += message.data[1:]
        path = f"{self.folder / 'bin'}{os.pathsep}{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        pipe = asyncio.subprocess.PIPE
        program = await asyncio.create_subprocess_exec(
            *command,
            stdin=pipe if given else asyncio.subprocess.DEVNULL,
            stdout=pipe,
            stderr=pipe,
            env={**self.environments[pod], "PATH": path},
        )
        for channel, content in zip((_STDOUT, _STDERR), await program.communicate(given or None), strict=True):
            if content:
                await socket.send_bytes(bytes((channel,)) + content)
        await socket.send_bytes(bytes((_RESULT,)) + json.dumps(_result(program.returncode or 0)).encode())
        await socket.close()
        return socket

    async def _log(self, request: web.Request) -> web.Response:
        if request.match_info["name"] in self.unreadable:
            raise Rejected(500, 'Get "https://10.0.0.1:10250/containerLogs": dial tcp: connection refused')
        return web.Response(text=self.printed.get(request.match_info["name"], ""))

    # ---- The objects
    # -----------------------------------------------------------------------------------------------------

    def _found(self, request: web.Request) -> dict[str, Any]:
        plural, name = request.match_info["plural"], request.match_info["name"]
        if (plural, name) not in self.objects:
            raise Rejected(404, f'{plural} "{name}" not found')
        return self.objects[plural, name]

    def _put(self, plural: str, document: dict[str, Any]) -> None:
        version = _VERSION_OF[plural]
        document |= {"apiVersion": version, "kind": _KINDS[version][plural]}
        document["metadata"] |= {"namespace": NAMESPACE, "uid": f"uid-{self._version}"}
        self.objects[plural, document["metadata"]["name"]] = document
        self._changed(document)

    def _changed(self, document: dict[str, Any]) -> None:
        self._version += 1
        document["metadata"]["resourceVersion"] = str(self._version)

    def _roll_out(self, deployment: dict[str, Any]) -> None:
        deployment["metadata"]["generation"] += 1
        if deployment["metadata"]["name"] not in self.stuck:
            self._replace_pods(deployment)
            return
        late = {"type": "Progressing", "status": "False", "reason": "ProgressDeadlineExceeded"}
        generation = deployment["metadata"]["generation"]
        deployment["status"] = {"observedGeneration": generation, "replicas": 2, "conditions": [late]}

    def _replace_pods(self, deployment: dict[str, Any]) -> None:
        name, template = deployment["metadata"]["name"], deployment["spec"]["template"]
        for old in self.pods_of(name):
            del self.objects["pods", old], self.environments[old]
        pod = f"{name}-{self._version}"
        metadata = {"name": pod, "labels": template["metadata"]["labels"]}
        ready = {"type": "Ready", "status": "True"}
        status = {"phase": "Running", "conditions": [ready]}
        self._put("pods", {"metadata": metadata, "spec": template["spec"], "status": status})
        sources = template["spec"]["containers"][0]["envFrom"]
        self.environments[pod] = {k: v for it in sources for k, v in self.values(it["secretRef"]["name"]).items()}
        counts = dict.fromkeys(("replicas", "updatedReplicas", "readyReplicas", "availableReplicas"), 1)
        deployment["status"] = {"observedGeneration": deployment["metadata"]["generation"], **counts}

    def _fetch(self, external: dict[str, Any]) -> None:
        ready = {"type": "Ready", "status": "True", "message": "secret synced"}
        try:
            values = {
                it["secretKey"]: self.store[it["remoteRef"]["key"]][it["remoteRef"]["property"]]
                for it in external["spec"]["data"]
            }
        except KeyError as error:
            ready |= {"status": "False", "message": f"could not get secret data from provider: {error}"}
        else:
            secret = self.objects["secrets", external["metadata"]["name"]]
            secret["data"] = _encoded(values)
            self._changed(secret)
        self._changed(external)
        fetched = f"version {external['metadata']['resourceVersion']}"
        external["status"] = {"refreshTime": fetched, "conditions": [ready]}


@contextmanager
def kubernetes_api(folder: Path, *, has_external_secrets: bool = False) -> Iterator[KubernetesApi]:
    """Serve the stand-in in a thread. `folder` gets the kubeconfig; programs in its folder `bin` are found first by
    pods.

    Skips the test where kubectl is not installed.
    """
    if shutil.which("kubectl") is None:
        pytest.skip("kubectl is not installed")
    api = KubernetesApi(folder, has_external_secrets)
    loop = asyncio.new_event_loop()
    runner = web.AppRunner(api.application(), access_log=None, shutdown_timeout=0.1)

    async def start() -> None:
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        api.url = f"http://127.0.0.1:{runner.addresses[0][1]}"

    thread = threading.Thread(target=loop.run_forever, name="kubernetes-api")
    thread.start()
    asyncio.run_coroutine_threadsafe(start(), loop).result()
    try:
        yield api
    finally:
        asyncio.run_coroutine_threadsafe(runner.cleanup(), loop).result()
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


@web.middleware
async def _problems(request: web.Request, handler: Any) -> web.StreamResponse:
    try:
        response: web.StreamResponse = await handler(request)
    except Rejected as error:
        status = {"kind": "Status", "apiVersion": "v1", "status": "Failure", "message": str(error)}
        reason = {"reason": _REASONS[error.status], "code": error.status}
        return web.json_response({**status, **reason}, status=error.status)
    return response


def _result(exit_code: int) -> dict[str, Any]:
    if exit_code == 0:
        return {"status": "Success"}
    cause = {"reason": "ExitCode", "message": str(exit_code)}
    message = f"command terminated with non-zero exit code: exit status {exit_code}"
    return {"status": "Failure", "reason": "NonZeroExitCode", "message": message, "details": {"causes": [cause]}}


def _encoded(values: Mapping[str, str]) -> dict[str, str]:
    return {key: base64.b64encode(text.encode()).decode() for key, text in values.items()}


def _merge(document: dict[str, Any], patch: Mapping[str, Any]) -> None:
    """RFC 7396, in place."""
    for key, value in patch.items():
        if value is None:
            document.pop(key, None)
        elif isinstance(value, dict) and isinstance(document.get(key), dict):
            _merge(document[key], value)
        else:
            document[key] = value
