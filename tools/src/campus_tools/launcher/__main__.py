"""`python -m campus_tools.launcher`: start everything, stay in the foreground, stop everything."""

import os
import signal
import sys
import threading
import time
from argparse import ArgumentTypeError
from collections.abc import Mapping
from pathlib import Path
from types import FrameType
from typing import Final

from rich.console import Console

from campus_tools.launcher.console import MergedLog, show_addresses, show_demo_accounts
from campus_tools.launcher.failures import StartFailed, with_remedy
from campus_tools.launcher.mailbox import name_demo_mailboxes
from campus_tools.launcher.memory import check_memory
from campus_tools.launcher.system import System
from campus_tools.servers import ServerUnavailable
from operations.ports import port_base_of
from operations.processes import CAMPUS, ON_ONE_MACHINE, SANDBOX_PORT, SystemPlan

SAME_SIGNAL_SECONDS = 1.0
"""Seconds within which a repeated signal counts as the same one."""


class _StopRequested(BaseException):
    """Ctrl-C, SIGTERM or a closed terminal; not an `Exception`, so that no handler swallows it."""


_PLANS: Final = {"joined": ON_ONE_MACHINE, "split": CAMPUS}
"""By `PROCESSES`."""


def main(plan: SystemPlan | None = None) -> int:
    """Run until a stop signal. Return 0 after an orderly stop, 1 when the start failed."""
    plan = plan or _PLANS.get(os.environ.get("PROCESSES") or "joined")
    if plan is None:
        return _failed(
            f"PROCESSES must be one of {', '.join(_PLANS)}: one process for each service, or API and worker."
        )
    try:
        port_base = port_base_of(os.environ.get("PORT_BASE"))
    except ArgumentTypeError as error:
        return _failed(str(error))
    state_dir = Path(os.environ.get("STATE_DIR") or ".state")
    try:
        (state_dir / "logs").mkdir(parents=True, exist_ok=True)
    except OSError as error:
        return _failed(f"STATE_DIR cannot be used ({error}): set STATE_DIR to a writable folder.")
    log = MergedLog()
    system = System(state_dir, port_base, traces_to_sandbox(os.environ, port_base), plan=plan, report=log.report)
    stop = threading.Event()
    _listen_for_stop(system, stop)
    _listen_for_roll(system, log)
    log.follow({plan.name: system.state_dir / "logs" / f"{plan.name}.log" for plan in system.plan.processes})
    try:
        check_memory()
        system.start()
        console = Console()
        show_addresses(system, console)
        if os.environ.get("DEMO_DATA", "1") == "1":
            name_demo_mailboxes(system.sandbox_url)
            show_demo_accounts(system, console)
        console.print("Ctrl-C stops everything. In another terminal: make demo")
        stop.wait()
    except _StopRequested:
        pass
    except (StartFailed, ServerUnavailable) as error:
        return _failed(with_remedy(str(error)))
    finally:
        stop.set()
        log.report("launcher", "stopping")
        system.stop()
        log.end()
    return 0


def traces_to_sandbox(caller: Mapping[str, str], port_base: int) -> dict[str, str]:
    """Return the settings that show traces on the sandbox's page, unless the caller chose an endpoint or none."""
    if "OTEL_EXPORTER_OTLP_ENDPOINT" in caller:
        return {}
    return {
        "OTEL_EXPORTER_OTLP_ENDPOINT": f"http://127.0.0.1:{port_base + SANDBOX_PORT}/otlp",
        "OTEL_TRACES_SAMPLER": "parentbased_per_second",
        "OTEL_TRACES_SAMPLER_ARG": "5",
    }


def _listen_for_stop(system: System, stop: threading.Event) -> None:
    """Stop in order at the first signal, also during the start; the second kills everything."""

    signalled_at: list[float] = []

    def on_signal(_number: int, _frame: FrameType | None) -> None:
        signalled_at.append(time.monotonic())
        if len(signalled_at) == 1:
            stop.set()
            raise _StopRequested
        # `make` forwards a SIGTERM, so a signal to the whole group arrives twice.
        if signalled_at[-1] - signalled_at[0] > SAME_SIGNAL_SECONDS:
            system.abandon()
            os._exit(1)

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, on_signal)


def _listen_for_roll(system: System, log: MergedLog) -> None:
    """Handle `campusctl rotation roll`: SIGUSR1 restarts processes whose secrets changed, SIGUSR2 all, one by one."""

    def roll(every: bool) -> None:
        try:
            system.roll(every=every)
        except TimeoutError as error:
            log.report("launcher", str(error))

    def on_signal(number: int, _frame: FrameType | None) -> None:
        every = number == signal.SIGUSR2
        threading.Thread(target=roll, args=(every,), name="roll", daemon=True).start()

    for number in (signal.SIGUSR1, signal.SIGUSR2):
        signal.signal(number, on_signal)


def _failed(message: str) -> int:
    sys.stderr.write(f"{message}\n")
    return 1


if __name__ == "__main__":
    sys.exit(main())
