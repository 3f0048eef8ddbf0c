"""Runs the programs of a drill as containers of released images, confined as in docker-compose.yml.

The drill needs `docker` in PATH; `DOCKER_HOST` chooses the engine. Containers share the machine's network, because the
servers and balancers of a drill listen on its loopback addresses.
"""

import itertools
import math
import os
import secrets
import signal
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from campus_tools.launcher import StartFailed
from campus_tools.launcher.runtimes import CHECKOUT, Program, Runtime
from campus_tools.servers import Servers
from lab.bench.programs import BenchFailed
from operations.environment import machine_environment
from operations.secret_files import MIGRATING_USER, RUNNING_USER
from operations.secrets import LOGIN_SUFFIXES, ROLE_PASSWORDS

# A kill is repeated until the engine has created the container.
_KILL_SECONDS_MAX: Final = 60.0
_ENGINE_SECONDS_MAX: Final = 120.0
# As `stop_grace_period` of docker-compose.yml.
_STOP_SECONDS: Final = 15
_DATA: Final = "/var/lib/campus"
# The setting of each holder's folder, which is a volume.
_FOLDERS: Final = {"orders": "MEDIA_FOLDER", "notifications": "MEDIA_FOLDER", "sandbox": "STATE_DIR"}
_PROVISIONED_WITH: Final = (*ROLE_PASSWORDS, *LOGIN_SUFFIXES)


def images_of(folder: Path) -> dict[str, str]:
    """Return the reference of each image by its name, of `images.txt` in the folder that `deploy/release/build-images`
    wrote.

    Raises:
        BenchFailed: there is no such file.
    """
    path = folder / "images.txt"
    if not path.is_file():
        raise BenchFailed(f"{path} does not exist: deploy/release/build-images writes it")
    rows = (line.split() for line in path.read_text().splitlines() if line.strip())
    return {row[0]: row[1] for row in rows}


@contextmanager
def runtime_of(folder: Path | None) -> Iterator[Runtime]:
    """Yield the runtime of the images that `images.txt` of the folder names; the checkout's without a folder."""
    if folder is None:
        yield CHECKOUT
        return
    with containers_of(images_of(folder)) as containers:
        yield containers


@contextmanager
def containers_of(images: Mapping[str, str]) -> Iterator["Containers"]:
    """Yield the runtime of these images, and remove its containers and volumes at the end."""
    containers = Containers(images)
    try:
        yield containers
    finally:
        containers.remove()


class Containers:
    """Runs programs as containers. `images`: the reference of each; a later version may replace it."""

    # The client forwards it to the container.
    death_signal = "TERM"

    def __init__(self, images: Mapping[str, str]) -> None:
        self.images = images
        self._run = f"campus-drill-{secrets.token_hex(4)}"
        self._operators = itertools.count(1)

    def command(self, program: Program, environment: Mapping[str, str]) -> tuple[list[str], dict[str, str]]:
        """Return `docker run`, which takes each variable from its own environment: no argument contains a secret."""
        inside = {name: environment[name] for name in environment.keys() - machine_environment(environment).keys()}
        user, name, options = str(RUNNING_USER), program.name, list[str]()
        if program.module[1:] == ("migrate",):
            user, inside = str(MIGRATING_USER), {"OWNER_DATABASE_URL": inside["OWNER_DATABASE_URL"]}
        elif program.holder in _FOLDERS:
            inside[_FOLDERS[program.holder]] = _DATA
            options = ["--volume", f"{self._run}-{program.holder}:{_DATA}"]
        if program.holder == "operations":
            inside["MODULE"] = program.module[0]
        if program.state_dir is not None:
            # The operator's own account, which may read the secrets and signal the launcher.
            user, name = f"{os.getuid()}:{os.getgid()}", f"{name}-{next(self._operators)}"
            options = ["--volume", f"{program.state_dir}:{program.state_dir}", "--pid", "host"]
            # The engine's AppArmor profile forbids signals to a process outside of containers.
            options += ["--security-opt", "apparmor=unconfined"]
        command = [
            "docker", "run", "--rm", "--name", self._container(name), "--label", f"campus.drill={self._run}",
            "--network", "host", "--user", user, "--read-only", "--tmpfs", "/tmp", "--cap-drop", "ALL",
            "--security-opt", "no-new-privileges:true", "--stop-timeout", str(_STOP_SECONDS),
            # The launcher itself requests the readiness, and stores the output.
            "--no-healthcheck", "--log-driver", "none", *options,
            *(word for variable in sorted(inside) for word in ("--env", variable)),
            self.images[f"campus-{program.holder}"], *program.module[1:],
        ]  # fmt: skip
        return command, {**_clients_environment(), **inside}

    def signal(self, name: str, child: subprocess.Popen[bytes], number: signal.Signals) -> None:
        _docker("kill", "--signal", number.name, self._container(name))

    def stop(self, name: str, child: subprocess.Popen[bytes], within: float) -> None:
        if child.poll() is None:
            _docker("stop", "--time", str(math.ceil(within)), self._container(name))
        self.kill(name, child)

    def kill(self, name: str, child: subprocess.Popen[bytes]) -> None:
        deadline = time.monotonic() + _KILL_SECONDS_MAX
        while child.poll() is None and time.monotonic() < deadline:
            _docker("kill", self._container(name))
            with suppress(subprocess.TimeoutExpired):
                child.wait(1)
        CHECKOUT.kill(name, child)

    def provision_databases(self, servers: Servers, secrets: Mapping[str, str]) -> None:
        self._provision({"DATABASE_URL": servers.database_url}, secrets)

    def provision_broker(self, servers: Servers, secrets: Mapping[str, str], settings: Mapping[str, str]) -> None:
        ladder = {name: text for name, text in settings.items() if name == "RETRY_DELAYS_SECONDS"}
        addresses = {
            "DATABASE_URL": servers.database_url,
            "BROKER_URL": servers.broker_url,
            "BROKER_MANAGEMENT_URL": servers.management_url,
        }
        self._provision({**addresses, **ladder}, secrets)

    def remove(self) -> None:
        """Remove the containers and volumes of the drill."""
        left = _docker("ps", "--all", "--quiet", "--filter", f"label=campus.drill={self._run}").split()
        if left:
            _docker("rm", "--force", *left)
        _docker("volume", "rm", "--force", *(f"{self._run}-{holder}" for holder in _FOLDERS))

    def _provision(self, addresses: Mapping[str, str], secrets: Mapping[str, str]) -> None:
        given = {name: secrets[name] for name in _PROVISIONED_WITH if name in secrets}
        program = Program("provision", "operations", ("operations.provision",))
        command, environment = self.command(program, {**given, **addresses})
        ran = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        if ran.returncode != 0:
            raise StartFailed(f"provision failed with code {ran.returncode}:\n{ran.stdout}{ran.stderr}")

    def _container(self, name: str) -> str:
        return f"{self._run}-{name}"


def _clients_environment() -> dict[str, str]:
    """Return the variables of the machine and of the engine's client."""
    of_the_engine = {name: text for name, text in os.environ.items() if name.startswith("DOCKER_")}
    return {**machine_environment(os.environ), **of_the_engine}


def _docker(*arguments: str) -> str:
    """Run one command of the client and return its output. An error, such as an ended container, is ignored."""
    ran = subprocess.run(
        ["docker", *arguments], capture_output=True, text=True, timeout=_ENGINE_SECONDS_MAX, check=False
    )
    return ran.stdout
