"""Servers in containers by testcontainers. The import takes a second, so it is done only with a Docker engine."""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from docker.errors import APIError, DockerException, ImageNotFound, NotFound
from testcontainers.core.config import testcontainers_config
from testcontainers.core.container import DockerContainer
from testcontainers.core.docker_client import DockerClient

from campus_tools.children import open_log, wait_until
from campus_tools.servers.errors import ServerUnavailable

RESPONSE_SECONDS_MAX = 10
PULL_SECONDS_MAX = 300
"""Seconds to pull two images of 150 MB over a slow connection."""
START_SECONDS_MAX = 90.0
STOP_SECONDS_MAX = 4
_NO_LONGER_RUNNING = ("exited", "dead", "removing")


def have_images(images: Sequence[str], report: Callable[[str], None]) -> None:
    """Pull the images that are missing, and the one that removes the containers of a crashed run.

    Raises:
        ServerUnavailable: the engine does not respond, or an image is neither stored nor can it be pulled.
    """
    if not testcontainers_config.ryuk_disabled:
        images = [*images, testcontainers_config.ryuk_image]
    try:
        if not DockerClient(timeout=RESPONSE_SECONDS_MAX).client.ping():
            raise ServerUnavailable("the engine does not respond")
        store = DockerClient(timeout=PULL_SECONDS_MAX).client.images
        for image in images:
            try:
                store.get(image)
            except ImageNotFound:
                report(f"pulling the image {image}")
                store.pull(image)
    except (DockerException, OSError) as error:
        raise ServerUnavailable(f"its images cannot be had: {error}") from error


@dataclass(frozen=True)
class ContainerPlan:
    """Container to run: the published ports are (port on this machine, port inside)."""

    name: str
    image: str
    url: str
    ports: Sequence[tuple[int, int]]
    variables: Mapping[str, str]
    volume_path: str
    arguments: Sequence[str]
    ready: Callable[[], bool]


class ContainerServer:
    """One server in a container of its own, with a named volume that keeps the data between starts.

    testcontainers removes the container when this process ends in any way; the volume stays.
    """

    private = True

    def __init__(self, plan: ContainerPlan, state_dir: Path) -> None:
        self._plan = plan
        self._log = state_dir / "servers" / f"{plan.name}.log"
        self._log.parent.mkdir(parents=True, exist_ok=True)
        mark = hashlib.sha256(str(state_dir.resolve()).encode()).hexdigest()[:10]
        self._own_name = f"campus-{mark}-{plan.name}"
        self._container: DockerContainer | None = None

    @property
    def name(self) -> str:
        return self._plan.name

    @property
    def url(self) -> str:
        return self._plan.url

    @property
    def places(self) -> list[tuple[str, int, int]]:
        if self._container is None:
            return []
        self._container.reload()
        process_id = self._container.get_wrapped_container().attrs["State"]["Pid"]
        return [(self.name, process_id, self._plan.ports[0][0])]

    def start(self) -> None:
        if self._container is not None and not self.has_died():
            return
        self._remove()
        container = (
            DockerContainer(self._plan.image, name=self._own_name, env=dict(self._plan.variables))
            .with_command(list(self._plan.arguments))
            .with_volume_mapping(self._own_name, self._plan.volume_path, "rw")
        )
        for outside, inside in self._plan.ports:
            # with_bind_ports would open the port on every address of the machine.
            container.ports[str(inside)] = ("127.0.0.1", outside)  # type: ignore[assignment]
        try:
            self._container = container.start()
        except (APIError, OSError) as error:
            raise ServerUnavailable(f"the container {self._own_name} cannot be started: {error}") from error
        if not wait_until(lambda: self.has_died() or self._plan.ready(), within=START_SECONDS_MAX, step=0.2):
            self._fail("did not become ready")
        if self.has_died():
            self._fail("ended at its start")

    def kill(self) -> None:
        if self._container is not None:
            self._container.get_wrapped_container().kill(signal="SIGKILL")
            self._remove()

    def stop(self) -> None:
        if self._container is not None:
            self._container.get_wrapped_container().stop(timeout=STOP_SECONDS_MAX)
            self._remove()

    def remove_volume(self) -> None:
        """Delete the data; for temporary servers of tests."""
        try:
            DockerClient().client.volumes.get(self._own_name).remove(force=True)
        except NotFound:
            return

    def has_died(self) -> bool:
        if self._container is None:
            return False
        try:
            self._container.reload()
        except NotFound:
            return True
        return self._container.status in _NO_LONGER_RUNNING

    def _remove(self) -> None:
        """Remove the container, also that of a crashed run, and keep its log. The volume keeps the data."""
        self._container = None
        try:
            left = DockerClient().client.containers.get(self._own_name)
            with open_log(self._log) as log:
                log.write(left.logs())
            left.remove(force=True)
        except NotFound:
            return

    def _fail(self, how: str) -> None:
        self.stop()
        tail = "\n".join(self._log.read_text(errors="replace").splitlines()[-15:])
        raise ServerUnavailable(f"the container of {self._plan.image} {how}:\n{tail}")
