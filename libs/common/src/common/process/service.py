"""The command line of a service: `api` (with a relay), `worker` (consumers, relay, timers), `all`, `migrate`, and its
own commands.

A background loop that fails or ends ends its process, and the supervisor starts the process again.
"""

import gc
import inspect
import sys
from collections.abc import Awaitable, Callable, Sequence
from typing import Final

import uvloop

from common.auth.tokens import RENEW_KEYS_EVERY_SECONDS
from common.database.retention import EVERY_SECONDS, purge_expired_once
from common.messaging import declaring, replaying, republishing
from common.messaging.dead_letters import CLOSE_EXPIRED_EVERY_SECONDS, close_expired_dead_letters
from common.messaging.relay import MEASURE_EVERY_SECONDS, measure_once, run_relay
from common.observability import access_log, logging, telemetry
from common.primitives.problems import Problem
from common.primitives.waiting import never_ending
from common.process.consuming import consumers_of
from common.process.loops import Loop, run_loop
from common.process.revocations import consume_broadcasts, load_stored_revocations
from common.process.runtime import Runtime, Service, running
from common.process.server import serve
from common.process.service_endpoints import process_health_endpoints, standard_endpoints
from common.process.settings import AccessLogSettings, ServiceSettings
from common.web.http import create_app
from common.web.http_context import HttpContext
from common.web.request_scope import RequestScope

log = logging.get_logger(__name__)

# Well within the 60 s in which a log-out must take effect in every process (contract section 5).
RELOAD_REVOCATIONS_SECONDS: Final = 20.0
EXIT_UNKNOWN_COMMAND: Final = 64


def main(service: Service) -> None:
    """Run `python -m <service> api | worker | all | declare-broker | republish | replay | <its own commands>`.

    `migrate` imports no application, and runs before (`common.migrations.runner`).
    """
    command, arguments = (sys.argv[1], sys.argv[2:]) if len(sys.argv) > 1 else ("", [])
    if command == declaring.COMMAND and not arguments:
        declaring.declare_by_command()
    elif command in ("api", "worker", "all") and not arguments:
        uvloop.run(_run(service, command))
    elif command in (republishing.COMMAND, replaying.COMMAND) or (
        command in service.commands and _accepts(service.commands[command], arguments)
    ):
        gc.enable()
        uvloop.run(_run(service, command, arguments))
    else:
        known = ", ".join(
            [
                *("api", "worker", "all", "migrate", declaring.COMMAND, republishing.COMMAND, replaying.COMMAND),
                *service.commands,
            ]
        )
        sys.stderr.write(f"python -m {service.package}: expected one of {known}\n")
        raise SystemExit(EXIT_UNKNOWN_COMMAND)


def _accepts(command: Callable[..., Awaitable[None]], arguments: Sequence[str]) -> bool:
    try:
        inspect.signature(command).bind(None, *arguments)
    except TypeError:
        return False
    return True


async def _run(service: Service, command: str, arguments: Sequence[str] = ()) -> None:
    settings = service.settings.from_environment()
    process = service.name if command == "all" else f"{service.name}-{command}"
    logging.start(process, settings.log_level)
    if isinstance(settings, AccessLogSettings):
        access_log.start(process, enabled=settings.access_log_enabled)
    telemetry.start(process)
    try:
        async with running(service, settings, process) as (runtime, dependencies):
            if command == republishing.COMMAND:
                return await republishing.republish_by_command(runtime.database, arguments)
            if command == replaying.COMMAND:
                return await replaying.replay_by_command(runtime.database, arguments)
            if command in service.commands:
                return await run_command(service, dependencies, command, arguments)
            await _serve(service, settings, runtime, dependencies, command)
    finally:
        telemetry.stop()


async def run_command(service: Service, dependencies: object, command: str, arguments: Sequence[str]) -> None:
    """Run a service's own command. A Problem, such as an unavailable payment gateway, is its last line, with status
    1.
    """
    try:
        await service.commands[command](dependencies, *arguments)
    except Problem as problem:
        sys.exit(f"{command}: {problem.explanation}")


def http_app(
    service: Service,
    settings: ServiceSettings,
    runtime: Runtime,
    dependencies: object,
    *,
    with_routes: bool = True,
    is_worker: bool = False,
) -> RequestScope:
    """Return the ASGI application of a process; without routes it has health and metrics only."""
    context = HttpContext(runtime.verifier, runtime.clock, settings.base_url, settings.service_keys)
    endpoints = [process_health_endpoints(runtime, is_worker=is_worker)]
    if with_routes:
        endpoints += [*standard_endpoints(service, settings, runtime), *service.endpoints]
    return RequestScope(create_app(title=service.name, endpoints=endpoints, context=context, dependencies=dependencies))


def background(service: Service, runtime: Runtime, dependencies: object, command: str) -> list[Awaitable[None]]:
    """Return the background tasks of a process, as coroutines that run until cancelled. One that ends before raises
    LoopEnded.
    """

    def on_end(name: str) -> None:
        log.error("a background loop ended, so the process ends", loop=name)
        runtime.ended_loops.add(name)

    # A consumer may store a revocation while no process receives the broadcast: stored ones are loaded again.
    loops = [Loop("load-revocations", lambda: load_stored_revocations(runtime), RELOAD_REVOCATIONS_SECONDS)]
    tasks: list[tuple[str, Awaitable[None]]] = [
        ("publish-outbox", run_relay(runtime.database, runtime.bus)),
        ("event loop", telemetry.watch_event_loop()),
        # A worker holds no open responses, which are the only use of the other broadcasts.
        ("broadcasts", consume_broadcasts(runtime, revocations_only=command == "worker")),
    ]
    if command in ("api", "all"):
        loops.append(Loop("refresh-verification-keys", runtime.verifier.renew_keys_once, RENEW_KEYS_EVERY_SECONDS))
    if command in ("worker", "all"):
        tasks.append(("consumers", consumers_of(service, runtime, dependencies).run()))
        rules = (*runtime.retention_rules, *service.retention_rules(dependencies))
        loops += [
            Loop("update-metrics", lambda: measure_once(runtime.database), MEASURE_EVERY_SECONDS),
            Loop(
                "purge-expired-rows", lambda: purge_expired_once(runtime.database, rules, runtime.clock), EVERY_SECONDS
            ),
            Loop(
                "close-expired-dead-letters",
                lambda: close_expired_dead_letters(runtime.database, runtime.dead_letter_life),
                CLOSE_EXPIRED_EVERY_SECONDS,
            ),
            *service.loops(dependencies),
        ]
    tasks += [(loop.name, run_loop(loop)) for loop in loops]
    return [never_ending(name, task, on_end) for name, task in tasks]


async def _serve(
    service: Service, settings: ServiceSettings, runtime: Runtime, dependencies: object, command: str
) -> None:
    is_worker = command == "worker"
    app = http_app(service, settings, runtime, dependencies, with_routes=not is_worker, is_worker=is_worker)
    await serve(
        app,
        settings,
        background(service, runtime, dependencies, command),
        on_stop=[*runtime.on_stop, app.start_draining],
    )
