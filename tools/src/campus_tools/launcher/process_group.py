"""The processes of one system: started, awaited, restarted one by one, and stopped in turns."""

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from campus_tools.launcher.failures import StartFailed, all_or_first_failure, with_remedy
from campus_tools.launcher.runtimes import Program
from campus_tools.launcher.supervisor import SupervisedProcess, Supervision
from operations.environment import Environments
from operations.processes import ProcessPlan, SystemPlan

RESTARTS_BEFORE_READY_MAX = 3
"""A process that dies this often before it is ready fails the start."""
STOP_SECONDS = {0: 1.5, 1: 3.0, 2: 1.0}
"""Seconds to stop the gateway, the services and the sandbox; with the servers' 4 s all end within 10 s."""
ROLL_STOP_SECONDS = 15.0
"""A gateway accepts requests for 2 s more and a process drains within 8 s; the rest is for a busy machine."""


class ProcessGroup:
    """The supervised processes of a plan, in its order."""

    def __init__(self, plan: SystemPlan, port_base: int, supervision: Supervision, *, ready_seconds: float) -> None:
        """Each process must be ready within `ready_seconds`, at the start and after a restart."""
        self._plan, self._port_base, self._supervision = plan, port_base, supervision
        self._ready_seconds = ready_seconds
        self._services = {service.name: service for service in plan.services}
        self._processes: dict[str, SupervisedProcess] = {}
        self._stopping = False

    @property
    def all(self) -> list[SupervisedProcess]:
        """The processes that were started."""
        return list(self._processes.values())

    def named(self, name: str) -> SupervisedProcess:
        """Return one process by its name in the plan."""
        return self._processes[name]

    def start(self, environments: Environments) -> None:
        """Start all processes of the plan."""
        for plan in self._plan.processes:
            process = SupervisedProcess(
                Program(plan.name, plan.service, plan.module),
                environments.for_process(plan, self._services.get(plan.service)),
                self._supervision,
                port=self._port_base + plan.port_offset,
                health_port=self._port_base + plan.health_offset,
            )
            self._processes[plan.name] = process
            process.start()

    def wait_ready(self, pool: ThreadPoolExecutor) -> None:
        """Wait until all are ready. Raises StartFailed with the end of the log of one that is not."""
        all_or_first_failure([pool.submit(self._wait_process_ready, process) for process in self.all])

    def needs_restart(self, plan: ProcessPlan, environments: Environments) -> bool:
        """Return whether the process runs with another environment than this one."""
        environment = environments.for_process(plan, self._services.get(plan.service))
        return not self._processes[plan.name].has_environment(environment)

    def restart(self, plan: ProcessPlan, environments: Environments) -> None:
        """Restart a process in order with this environment. Raises TimeoutError when it does not become ready."""
        environment = environments.for_process(plan, self._services.get(plan.service))
        self._processes[plan.name].roll(environment, stop_within=ROLL_STOP_SECONDS, ready_within=self._ready_seconds)

    def stop(self) -> None:
        """Stop all processes in the turns of their plan."""
        self._signal_stop()
        turns = {plan.name: plan.stop_turn for plan in self._plan.processes}
        for turn in sorted(set(turns.values())):
            ending = [process for process in self.all if turns[process.name] == turn]
            _at_once(ending, lambda process: process.stop(STOP_SECONDS.get(turn, 1.0)))  # noqa: B023 - awaited here

    def kill(self) -> None:
        """Kill all processes; none is restarted."""
        self._signal_stop()
        for process in self.all:
            process.kill()

    def _signal_stop(self) -> None:
        self._stopping = True
        for process in self.all:
            process.signal_stop()

    def _wait_process_ready(self, process: SupervisedProcess) -> None:
        deadline = time.monotonic() + self._ready_seconds
        while not process.is_ready():
            if self._stopping:
                return
            if process.restarts >= RESTARTS_BEFORE_READY_MAX or time.monotonic() > deadline:
                raise StartFailed(
                    f"{process.name} does not become ready. The end of {process.log_path}:\n"
                    + with_remedy(process.last_lines())
                )
            time.sleep(0.1)


def _at_once(processes: list[SupervisedProcess], act: Callable[[SupervisedProcess], None]) -> None:
    if processes:
        with ThreadPoolExecutor(len(processes)) as pool:
            list(pool.map(act, processes))
