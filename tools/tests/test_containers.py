"""Servers in containers, with an engine that only records its calls."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from docker.errors import DockerException, NotFound

from campus_tools.servers import ServerPorts, ServerUnavailable, docker, find_servers
from campus_tools.servers.docker import ContainerPlan, ContainerServer

PLAN = ContainerPlan(
    name="postgresql",
    image="postgres:17",
    url="postgresql://postgres@127.0.0.1:5000/postgres",
    ports=[(5000, 5432)],
    variables={"POSTGRES_PASSWORD": "secret"},
    volume_path="/var/lib/postgresql/data",
    arguments=["postgres"],
    ready=lambda: True,
)


class Engine:
    """Containers by name; those that run have the status `running`."""

    def __init__(self) -> None:
        self.containers: dict[str, SimpleNamespace] = {}
        self.started: list[Any] = []
        self.first_status = "running"

    def client(self, **_options: object) -> SimpleNamespace:
        return SimpleNamespace(client=SimpleNamespace(containers=SimpleNamespace(get=self.get)))

    def get(self, name: str) -> SimpleNamespace:
        if name not in self.containers:
            raise NotFound(name)
        return self.containers[name]

    def start(self, container: Any) -> Any:
        name = container._name
        made = SimpleNamespace(
            attrs={"State": {"Pid": 7}}, status=self.first_status, logs=lambda: b"the last line", reload=lambda: None
        )
        made.kill = made.stop = lambda **_how: setattr(made, "status", "exited")
        made.remove = lambda force: self.containers.pop(name)
        self.containers[name] = container._container = made
        self.started.append(container)
        return container


@pytest.fixture
def engine(monkeypatch: pytest.MonkeyPatch) -> Engine:
    engine = Engine()
    monkeypatch.setattr(docker, "DockerClient", engine.client)
    monkeypatch.setattr("testcontainers.core.container.DockerClient", engine.client)
    monkeypatch.setattr(docker.DockerContainer, "start", lambda container: engine.start(container))
    return engine


def test_a_container_publishes_its_ports_on_this_machine_alone(engine: Engine, tmp_path: Path) -> None:
    ContainerServer(PLAN, tmp_path).start()
    assert engine.started[0].ports == {"5432": ("127.0.0.1", 5000)}


def test_a_killed_container_starts_again_on_the_same_volume(engine: Engine, tmp_path: Path) -> None:
    server = ContainerServer(PLAN, tmp_path)
    server.start()
    server.kill()
    assert not engine.containers
    server.start()
    first, second = engine.started
    assert first.volumes == second.volumes
    assert server.places == [("postgresql", 7, 5000)]


def test_the_container_of_a_crashed_run_is_replaced(engine: Engine, tmp_path: Path) -> None:
    ContainerServer(PLAN, tmp_path).start()
    ContainerServer(PLAN, tmp_path).start()
    assert len(engine.started) == 2
    assert len(engine.containers) == 1


def test_a_container_that_ends_at_its_start_is_reported_with_its_log(engine: Engine, tmp_path: Path) -> None:
    engine.first_status = "exited"
    with pytest.raises(ServerUnavailable, match="the last line"):
        ContainerServer(PLAN, tmp_path).start()


def test_local_processes_serve_where_the_images_cannot_be_had(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuses(**_options: object) -> None:
        raise DockerException("no engine")

    monkeypatch.setattr("campus_tools.servers.provider._docker_engine_listens", lambda: True)
    monkeypatch.setattr(docker, "DockerClient", refuses)
    reports: list[str] = []
    found = find_servers(tmp_path, ServerPorts.above(9000), environment={}, report=reports.append)
    assert "private process" in found.origin
    assert "no engine" in reports[0]


def test_local_processes_serve_when_containers_are_unwanted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("campus_tools.servers.provider._docker_engine_listens", lambda: True)
    monkeypatch.setattr(docker, "have_images", lambda _images, _report: None)
    ports = ServerPorts.above(9000)
    assert "container" in find_servers(tmp_path, ports, environment={}).origin
    assert "container" not in find_servers(tmp_path, ports, environment={}, containers=False).origin
