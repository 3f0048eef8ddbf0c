"""A private RabbitMQ: its own node, cookie, ports and data, with the management interface. Several form a cluster."""

import contextlib
import os
import re
import secrets
import shutil
import signal
import socket
import subprocess
from collections.abc import Callable
from pathlib import Path

import httpx

from campus_tools.children import (
    end_recorded_process,
    kill_child,
    open_log,
    record_process,
    spawn,
    stop_child,
    wait_until,
)
from campus_tools.servers.errors import ServerUnavailable
from campus_tools.servers.install import install
from campus_tools.servers.passwords import server_password
from campus_tools.servers.ports import ServerPorts
from campus_tools.servers.private import PrivateServer
from common.primitives.tls import client_tls
from operations.ports import is_listening

MINIMUM_VERSION = (3, 10)
START_SECONDS_MAX = 300.0
"""Seconds to boot: 4 to 10 on an idle machine, many times that on a busy one."""
STOP_SECONDS_MAX = 3.0
"""Seconds to stop. Listeners, queues and stores close within 0.1 s; RabbitMQ 3.10 then waits 6 s for its management
interface, which has no state to save."""

_SETTINGS = """\
listeners.tcp.default = 127.0.0.1:{ports.amqp}
management.tcp.ip = 127.0.0.1
management.tcp.port = {ports.management}
prometheus.tcp.ip = 127.0.0.1
prometheus.tcp.port = {ports.prometheus}
default_user = campus
default_pass = {password}
default_user_tags.administrator = true
default_user_tags.impersonator = true
disk_free_limit.absolute = 50MB
cluster_partition_handling = pause_minority
log.console = true
log.console.level = warning
log.file = false
"""
_CLUSTER_SETTINGS = """\
cluster_formation.peer_discovery_backend = classic_config
cluster_formation.classic_config.nodes.1 = {seed}@localhost
cluster_formation.classic_config.nodes.2 = {node}@localhost
"""


class PrivateRabbitmq(PrivateServer):
    """RabbitMQ from local binaries."""

    name = "rabbitmq"

    def __init__(
        self,
        state_dir: Path,
        ports: ServerPorts,
        *,
        report: Callable[[str], None],
        node: str = "campus",
        joins: "PrivateRabbitmq | None" = None,
        settings: str = "",
    ) -> None:
        """Configure a node; `joins` is the running node whose cluster this one joins at its first start; both use one
        name server.

        `settings`: further lines of `rabbitmq.conf`.
        """
        super().__init__()
        self._records = state_dir / "servers"
        self._home = self._records / "rabbitmq"
        self._node, self._joins, self._settings = node, joins, settings
        self._ports, self._port = ports, ports.amqp
        self._report = report
        self._password: str = server_password(state_dir, "rabbitmq") if joins is None else joins._password
        self._name_server: subprocess.Popen[bytes] | None = None
        self.environment: dict[str, str] = {}
        """Further variables of the process."""

    @property
    def data(self) -> Path:
        """The folder of the queues and their messages."""
        return self._home / "mnesia"

    @property
    def url(self) -> str:
        return f"amqp://campus:{self._password}@127.0.0.1:{self._ports.amqp}/"

    @property
    def management_url(self) -> str:
        return f"http://campus:{self._password}@127.0.0.1:{self._ports.management}"

    @property
    def places(self) -> list[tuple[str, int, int]]:
        if self._name_server is None:
            return super().places
        return [*super().places, ("epmd", self._name_server.pid, self._ports.epmd)]

    def start(self) -> None:
        if self.is_running:
            return
        binary = find_binary(self._report)
        for record in ("rabbitmq.pid", "epmd.pid"):
            end_recorded_process(self._records / record)
        self._write_home()
        environment = self._environment()
        with open_log(self._records / "rabbitmq.log") as output:
            self._start_name_server(environment, output)
            self._child = spawn(
                [str(binary)],
                environment=environment | self.environment,
                output=output,
                death_signal="TERM",
                directory=self._home,
            )
        record_process(self._records / "rabbitmq.pid", self._child.pid)
        if not wait_until(self._serves, within=START_SECONDS_MAX, child=self._child, step=0.1):
            self.stop()
            tail = "\n".join((self._records / "rabbitmq.log").read_text(errors="replace").splitlines()[-20:])
            raise ServerUnavailable(f"RabbitMQ did not start on port {self._ports.amqp}:\n{tail}")

    def stop(self) -> None:
        if (child := self._released()) is not None:
            stop_child(child, first=signal.SIGTERM, within=STOP_SECONDS_MAX)
        if self._name_server is not None:
            kill_child(self._name_server)
            self._name_server = None
        for record in ("rabbitmq.pid", "epmd.pid"):
            (self._records / record).unlink(missing_ok=True)

    def forget(self) -> None:
        """Delete the data of a stopped broker."""
        shutil.rmtree(self.data, ignore_errors=True)

    def _start_name_server(self, environment: dict[str, str], output: object) -> None:
        """Start the Erlang name server as a child: the broker would start one that outlives it."""
        if self._joins is not None or (self._name_server is not None and self._name_server.poll() is None):
            return
        epmd = shutil.which("epmd") or next(
            (str(path) for path in Path("/usr/lib/erlang").glob("erts-*/bin/epmd")), None
        )
        if epmd is None:
            raise ServerUnavailable("RabbitMQ needs Erlang's epmd, which is not on PATH: install erlang-base.")
        self._name_server = spawn(
            [epmd, "-address", "127.0.0.1", "-port", str(self._ports.epmd)],
            environment=environment,
            output=output,  # type: ignore[arg-type] # an open binary file, handed through
        )
        record_process(self._records / "epmd.pid", self._name_server.pid)
        if not wait_until(lambda: is_listening(self._ports.epmd), within=10, child=self._name_server):
            raise ServerUnavailable(f"epmd, the name server of Erlang, did not start on port {self._ports.epmd}.")

    def _write_home(self) -> None:
        self._home.mkdir(parents=True, exist_ok=True)
        cookie = self._home / ".erlang.cookie"
        if not cookie.exists():
            cookie.touch(mode=0o600)
            shared = None if self._joins is None else (self._joins._home / ".erlang.cookie").read_text()
            cookie.write_text(shared or secrets.token_hex(20).upper())
            cookie.chmod(0o400)
        settings = self._home / "rabbitmq.conf"
        settings.touch(mode=0o600)
        cluster = "" if self._joins is None else _CLUSTER_SETTINGS.format(seed=self._joins._node, node=self._node)
        settings.write_text(_SETTINGS.format(ports=self._ports, password=self._password) + cluster + self._settings)
        (self._home / "enabled_plugins").write_text("[rabbitmq_management,rabbitmq_prometheus].\n")

    def _environment(self) -> dict[str, str]:
        home = str(self._home)
        return {
            "PATH": os.environ.get("PATH", os.defpath),
            "HOME": home,
            "LANG": "C.UTF-8",
            "RABBITMQ_NODENAME": f"{self._node}@localhost",
            "RABBITMQ_NODE_IP_ADDRESS": "127.0.0.1",
            "RABBITMQ_NODE_PORT": str(self._ports.amqp),
            "RABBITMQ_DIST_PORT": str(self._ports.distribution),
            "ERL_EPMD_PORT": str(self._ports.epmd),
            "ERL_EPMD_ADDRESS": "127.0.0.1",
            "RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS": "-kernel inet_dist_use_interface {127,0,0,1} -start_epmd false",
            "RABBITMQ_MNESIA_BASE": str(self.data),
            "RABBITMQ_LOG_BASE": f"{home}/log",
            "RABBITMQ_PID_FILE": f"{home}/rabbitmq.pid",
            "RABBITMQ_CONFIG_FILE": f"{home}/rabbitmq.conf",
            "RABBITMQ_ADVANCED_CONFIG_FILE": f"{home}/advanced.config",
            "RABBITMQ_ENABLED_PLUGINS_FILE": f"{home}/enabled_plugins",
            "RABBITMQ_CONF_ENV_FILE": "/dev/null",
            # The start script then replaces itself with the Erlang VM: one process to signal.
            "RUNNING_UNDER_SYSTEMD": "true",
        }

    def _serves(self) -> bool:
        if not speaks_amqp(self._ports.amqp):
            return False
        with contextlib.suppress(httpx.HTTPError):
            output = httpx.get(f"{self.management_url}/api/overview", timeout=5, trust_env=False, verify=client_tls())
            return output.status_code == 200
        return False


def speaks_amqp(port: int) -> bool:
    """Return whether a broker responds to the protocol header; an open port is not enough."""
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=2) as connection:
            connection.sendall(b"AMQP\x00\x00\x09\x01")
            return connection.recv(1) == b"\x01"
    except OSError:
        return False


def find_binary(report: Callable[[str], None]) -> Path:
    """Return the server's start script, not the wrapper that requires the user rabbitmq; install it when missing."""
    found = _binary()
    if found is None:
        install(["rabbitmq-server"], why="RabbitMQ is not installed", report=report)
        found = _binary()
    if found is None:
        raise ServerUnavailable("RabbitMQ was installed, but rabbitmq-server was not found: set BROKER_URL.")
    version = _version(found)
    if version < MINIMUM_VERSION:
        raise ServerUnavailable(f"RabbitMQ {version[0]}.{version[1]} is too old: 3.10 or newer is needed.")
    return found


def _binary() -> Path | None:
    debian = Path("/usr/lib/rabbitmq/bin/rabbitmq-server")
    if debian.exists():
        return debian
    on_path = shutil.which("rabbitmq-server")
    return Path(on_path).resolve() if on_path else None


def _version(binary: Path) -> tuple[int, int]:
    homes = [str(path) for path in (binary.parent.parent / "lib").glob("rabbitmq_server-*")] + [str(binary)]
    for home in homes:
        found = re.search(r"rabbitmq_server-(\d+)\.(\d+)", home)
        if found:
            return int(found[1]), int(found[2])
    output = subprocess.run(
        [str(binary.with_name("rabbitmqctl")), "version"], capture_output=True, text=True, check=False
    ).stdout
    found = re.search(r"(\d+)\.(\d+)", output)
    if found is None:
        raise ServerUnavailable(f"The version of RabbitMQ at {binary} is unknown.")
    return int(found[1]), int(found[2])
