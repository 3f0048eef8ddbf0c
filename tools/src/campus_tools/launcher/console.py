"""Console output of `make run`: a merged log, and a table of addresses and demo accounts."""

import itertools
import sys
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import IO
from urllib.parse import urlsplit

from rich.console import Console
from rich.table import Table

from campus_tools.launcher.log_lines import readable
from campus_tools.launcher.system import System

_COLOURS = itertools.cycle(("36", "33", "32", "35", "34", "96", "93", "92", "95", "94"))
_TAIL_SECONDS = 0.2

DEMO_ACCOUNTS = (
    ("buyer@unilag.edu.ng", "buyer", None),
    ("buyer2@unilag.edu.ng", "buyer", None),
    ("vendor@unilag.edu.ng", "vendor", "DEMO_TOTP_VENDOR"),
    ("vendor2@unilag.edu.ng", "vendor", "DEMO_TOTP_VENDOR2"),
    ("packer@unilag.edu.ng", "packer of the first vendor's shop", None),
    ("hub@campus.example", "hub agent", "DEMO_TOTP_HUB"),
    ("support@campus.example", "support", "DEMO_TOTP_SUPPORT"),
    ("campus@campus.example", "campus staff", "DEMO_TOTP_CAMPUS"),
    ("maker@campus.example", "finance maker", "DEMO_TOTP_MAKER"),
    ("checker@campus.example", "finance checker", "DEMO_TOTP_CHECKER"),
    ("ops@campus.example", "operations", "DEMO_TOTP_OPS"),
    ("auditor@campus.example", "auditor", "DEMO_TOTP_AUDITOR"),
    ("admin@campus.example", "platform admin", "DEMO_TOTP_ADMIN"),
)
"""Address, role and second factor of each demo account (architecture, section 6)."""


class MergedLog:
    """Print the lines of the processes' log files, each with the name of its process."""

    def __init__(self, out: IO[str] = sys.stdout) -> None:
        self._out = out
        self._coloured = out.isatty()
        self._colours: dict[str, str] = {}
        self._lock = threading.Lock()
        self._files: dict[str, IO[bytes]] = {}
        self._ending = threading.Event()
        self._thread = threading.Thread(target=self._follow, name="merged log", daemon=True)

    def report(self, who: str, what: str) -> None:
        """Print one or more lines about a process."""
        with self._lock:
            colour = self._colours.setdefault(who, next(_COLOURS))
            start, end = (f"\x1b[{colour}m", "\x1b[0m") if self._coloured else ("", "")
            for line in (shown for written in what.splitlines() for shown in readable(written)):
                self._out.write(f"{start}{who:<20}{end} {line}\n")
            self._out.flush()

    def follow(self, paths: Mapping[str, Path]) -> None:
        """Follow these files, by the names of their processes."""
        for name, path in paths.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.touch(mode=0o600)
            file = path.open("rb")
            file.seek(0, 2)
            self._files[name] = file
        self._thread.start()

    def end(self) -> None:
        """Print the remaining lines and stop."""
        self._ending.set()
        if self._thread.is_alive():
            self._thread.join()

    def _follow(self) -> None:
        unfinished: dict[str, bytes] = {}
        ending = False
        while not ending:
            # One more round after the stop: the last lines often hold the cause.
            ending = self._ending.wait(_TAIL_SECONDS)
            for name, file in self._files.items():
                fresh = unfinished.get(name, b"") + file.read()
                lines, _, unfinished[name] = fresh.rpartition(b"\n")
                if lines:
                    self.report(name, lines.decode(errors="replace"))
        for file in self._files.values():
            file.close()


def show_addresses(system: System, console: Console) -> None:
    """Print addresses and demo accounts."""
    addresses = Table(title="Campus Marketplace is ready", title_justify="left")
    addresses.add_column("What")
    addresses.add_column("Where", overflow="fold")
    addresses.add_row("API (the gateway)", system.base_url)
    addresses.add_row("Console: staff and vendors", system.console_url)
    addresses.add_row("Guides", f"{system.base_url}/guides")
    addresses.add_row("API reference", f"{system.base_url}/docs")
    addresses.add_row("Events for subscribers", f"{system.base_url}/events")
    addresses.add_row("Error codes", f"{system.base_url}/errors")
    addresses.add_row("Sandbox: payment gateway, phones, mail", system.sandbox_url)
    addresses.add_row("Traces: a purchase across all services", f"{system.sandbox_url}/traces")
    addresses.add_row("PostgreSQL", _without_account(system.servers.database_url))
    addresses.add_row("RabbitMQ", _without_account(system.servers.broker_url))
    addresses.add_row("RabbitMQ's pages", _without_account(system.servers.management_url))
    addresses.add_row("Logs", str(system.state_dir / "logs"))
    addresses.add_row("Secrets", str(system.state_dir / "secrets.env"))
    console.print(addresses)
    processes = Table(title="Processes", title_justify="left")
    for heading in ("Process", "Process id", "Port", "Health and metrics"):
        processes.add_column(heading)
    for process in system.processes:
        processes.add_row(process.name, str(process.pid), str(process.port), system.health_url(process.name))
    console.print(processes)


def show_demo_accounts(system: System, console: Console) -> None:
    """Print the demo accounts; their password only at the first start."""
    accounts = Table(title="Demo accounts", title_justify="left")
    for heading in ("Address", "Role", "Second factor (in secrets.env)"):
        accounts.add_column(heading)
    for address, role, second_factor in DEMO_ACCOUNTS:
        accounts.add_row(address, role, second_factor or "none")
    console.print(accounts)
    if system.is_first_start:
        console.print(f"Password of all demo accounts, shown only once: [bold]{system.secrets['DEMO_PASSWORD']}[/bold]")
    else:
        console.print("Their password is DEMO_PASSWORD in secrets.env.")


def _without_account(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}"
