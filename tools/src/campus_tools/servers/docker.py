"""Servers in containers, when a Docker engine answers."""

import hashlib
import os
import shutil
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from campus_tools.children import kill_child, open_log, spawn, wait_until
from campus_tools.servers.errors import ServerUnavailable

ANSWER_SECONDS_MAX = 10.0
PULL_SECONDS_MAX = 300.0
"""Two images of 150 MB over a slow line."""
START_SECONDS_MAX = 90.0


def engine_answers() -> bool:
    """Whether a Docker engine is running; the client alone proves nothing."""
    if shutil.which("docker") is None:
        return False
    try:
        answer = _docker("info", "--format", "{{.ServerVersion}}", within=ANSWER_SECONDS_MAX)
    except subprocess.TimeoutExpired:
        return False
    return answer.returncode == 0 and bool(answer.stdout.strip())


def have_image(image: str, say: Callable[[str], None]) -> None:
    """Make sure the image is there.

    Raises:
        ServerUnavailable: the image is neither stored nor can it be pulled.
    """
    if _docker("image", "inspect", image).returncode == 0:
        return
    say(f"pulling the image {image}")
    try:
        pulled = _docker("pull", "--quiet", image, within=PULL_SECONDS_MAX)
    except subprocess.TimeoutExpired:
        raise ServerUnavailable(f"pulling {image} took longer than {PULL_SECONDS_MAX:.0f} s") from None
    if pulled.returncode != 0:
        raise ServerUnavailable(f"the image {image} cannot be pulled: {pulled.stderr.strip()}")


@dataclass(frozen=True)
class ContainerPlan:
    """What to run: the published ports are (port on this machine, port inside)."""

    name: str
    image: str
    url: str
    ports: Sequence[tuple[int, int]]
    variables: Mapping[str, str]
    volume_path: str
    arguments: Sequence[str]
    ready: Callable[[], bool]


class ContainerServer:
    """One server in a container of its own, with a named volume that keeps the data between starts."""

    private = True

    def __init__(self, plan: ContainerPlan, state_dir: Path) -> None:
        self._plan = plan
        self._log = state_dir / "servers" / f"{plan.name}.log"
        self._log.parent.mkdir(parents=True, exist_ok=True)
        mark = hashlib.sha256(str(state_dir.resolve()).encode()).hexdigest()[:10]
        self._container = f"campus-{mark}-{plan.name}"
        self._child: subprocess.Popen[bytes] | None = None

    @property
    def name(self) -> str:
        return self._plan.name

    @property
    def url(self) -> str:
        return self._plan.url

    @property
    def places(self) -> list[tuple[str, int, int]]:
        return [(self.name, self._child.pid, self._plan.ports[0][0])] if self._child is not None else []

    def start(self) -> None:
        if self._child is not None and self._child.poll() is None:
            return
        # A container left by a crashed run would hold the name and the ports; the data is in the volume.
        _docker("rm", "--force", self._container)
        self._create()
        # The client stays attached and hands its signal on: the container ends with us, however we end.
        with open_log(self._log) as output:
            self._child = spawn(
                ["docker", "start", "--attach", self._container],
                environment=dict(os.environ),
                output=output,
                death_signal="TERM",
            )
        if not wait_until(self._plan.ready, within=START_SECONDS_MAX, child=self._child, step=0.2):
            self.stop()
            tail = "\n".join(self._log.read_text(errors="replace").splitlines()[-15:])
            raise ServerUnavailable(f"the container of {self._plan.image} did not start:\n{tail}")

    def kill(self) -> None:
        _docker("kill", "--signal", "KILL", self._container)
        self._detach()

    def stop(self) -> None:
        if self._child is not None:
            _docker("stop", "--time", "4", self._container)
            _docker("rm", "--force", self._container)
            self._detach()

    def remove_volume(self) -> None:
        """Throw the data away; for the temporary servers of tests."""
        _docker("volume", "rm", "--force", self._container)

    def has_died(self) -> bool:
        return self._child is not None and self._child.poll() is not None

    def _create(self) -> None:
        options = ["--name", self._container, "--volume", f"{self._container}:{self._plan.volume_path}"]
        for outside, inside in self._plan.ports:
            options += ["--publish", f"127.0.0.1:{outside}:{inside}"]
        for name, text in self._plan.variables.items():
            options += ["--env", f"{name}={text}"]
        made = _docker("create", *options, self._plan.image, *self._plan.arguments)
        if made.returncode != 0:
            raise ServerUnavailable(f"the container {self._container} cannot be made: {made.stderr.strip()}")

    def _detach(self) -> None:
        if self._child is not None:
            kill_child(self._child)
            self._child = None


def engine_is_local() -> bool:
    """Whether published ports of 127.0.0.1 are ours: an engine elsewhere publishes them elsewhere."""
    host = os.environ.get("DOCKER_HOST", "")
    return not host or urlsplit(host).scheme in ("unix", "npipe")


def _docker(*arguments: str, within: float = 60.0) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["docker", *arguments], capture_output=True, text=True, check=False, timeout=within)
