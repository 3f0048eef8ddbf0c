"""Run kubectl. A secret is never an argument: other users of the machine can read arguments."""

import json
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from subprocess import PIPE
from typing import Any, Final

NAMESPACE: Final = "campus"
REQUEST_SECONDS_MAX: Final = 60.0
_NOT_INSTALLED: Final = "kubectl is not installed"
_UNREACHABLE: Final = (
    _NOT_INSTALLED,
    "Unable to connect to the server",
    "The connection to the server",
    "does not exist",
)


class KubectlFailed(Exception):
    """kubectl failed with its own message. `reason`: the API server's, such as Conflict, where it gave one."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.reason = message.partition("from server (")[2].partition(")")[0]

    @property
    def is_unreachable(self) -> bool:
        """Return whether no API server responded, or kubectl is not installed."""
        return any(text in str(self) for text in _UNREACHABLE)


@dataclass(frozen=True, slots=True)
class Ended:
    """The result of a program: its exit code and output."""

    exit_code: int
    output: str
    complained: str


@dataclass(frozen=True, slots=True)
class Kubectl:
    """kubectl for one namespace of one cluster: that of `context`, or of the current context."""

    namespace: str = NAMESPACE
    context: str | None = None

    def call(self, *arguments: str, stdin: str = "", seconds_max: float = REQUEST_SECONDS_MAX) -> str:
        """Run kubectl and return its output. Raises KubectlFailed."""
        ran = self._run(arguments, stdin, seconds_max)
        if ran.returncode != 0:
            raise KubectlFailed(_message(ran))
        return ran.stdout

    def get(self, kind: str, *names: str) -> dict[str, dict[str, Any]]:
        """Return the objects of these names that exist. Raises KubectlFailed."""
        found = self.call("get", kind, *names, "--ignore-not-found", "-o", "json")
        document: dict[str, Any] = json.loads(found or "{}")
        listed = document.get("items", [document] if document else [])
        return {it["metadata"]["name"]: it for it in listed}

    def items(self, kind: str, labels: Mapping[str, str] | None = None) -> list[dict[str, Any]]:
        """Return the objects of a kind with these labels. Raises KubectlFailed."""
        chosen = ["-l", ",".join(f"{name}={value}" for name, value in labels.items())] if labels else []
        found: list[dict[str, Any]] = json.loads(self.call("get", kind, *chosen, "-o", "json"))["items"]
        return found

    def logs(self, labels: Mapping[str, str], since: datetime) -> Iterator[str]:
        """Yield the lines of all started pods with these labels since a time, pod after pod. Raises KubectlFailed."""
        for pod in self.items("pods", labels):
            if pod["status"]["phase"] == "Pending":
                continue
            name = pod["metadata"]["name"]
            arguments = ("logs", name, "--all-containers", "--tail=-1", f"--since-time={since.isoformat()}")
            with subprocess.Popen(
                self._command(arguments), stdout=PIPE, stderr=PIPE, text=True, errors="replace"
            ) as reading:
                if reading.stdout is not None:
                    yield from reading.stdout
                complained = reading.stderr.read() if reading.stderr is not None else ""
            if reading.returncode != 0:
                raise KubectlFailed(_last_line(complained) or f"kubectl logs ended with exit code {reading.returncode}")

    def execute(
        self, target: str, *command: str, container: str, stdin: str = "", seconds_max: float = REQUEST_SECONDS_MAX
    ) -> Ended:
        """Run a program in a pod; `target`: a pod's name or `deployment/NAME`. Raises KubectlFailed: it did not run."""
        ran = self._run(("exec", "-i", target, "-c", container, "--", *command), stdin, seconds_max)
        output, complained = ran.stdout.strip(), ran.stderr.strip()
        # kubectl passes the program's exit code on, and reports it in a last line of its own.
        lines = complained.splitlines()
        if lines and lines[-1].startswith("command terminated with exit code"):
            return Ended(ran.returncode, output, "\n".join(lines[:-1]))
        if ran.returncode != 0:
            raise KubectlFailed(_message(ran))
        return Ended(0, output, complained)

    def _command(self, arguments: tuple[str, ...]) -> list[str]:
        chosen = ["--context", self.context] if self.context else []
        return ["kubectl", *chosen, "--namespace", self.namespace, *arguments]

    def _run(self, arguments: tuple[str, ...], stdin: str, seconds_max: float) -> subprocess.CompletedProcess[str]:
        try:
            return subprocess.run(
                self._command(arguments),
                input=stdin,
                capture_output=True,
                text=True,
                timeout=seconds_max,
                check=False,
            )
        except FileNotFoundError as error:
            raise KubectlFailed(f"{_NOT_INSTALLED}: Debian's package is kubernetes-client") from error
        except subprocess.TimeoutExpired as error:
            raise KubectlFailed(f"kubectl {arguments[0]} did not end within {seconds_max:.0f} s") from error


def _message(ran: subprocess.CompletedProcess[str]) -> str:
    return _last_line(ran.stderr.strip() or ran.stdout) or f"kubectl ended with exit code {ran.returncode}"


def _last_line(text: str) -> str:
    return (text.strip().splitlines() or [""])[-1]
