"""The application of a service, built once and lent from one test to the next: to build it costs 10 ms of CPU."""

from collections import defaultdict
from collections.abc import Hashable, Iterator
from contextlib import contextmanager
from typing import Any, Final

from common.process.runtime import Runtime, Service
from common.process.service import http_app
from common.web.http_context import HttpContext
from common.web.request_scope import RequestScope

# What the routes of a service are built from, except its endpoints.
_PARTS: Final = ("stoppable", "personal_records", "own_actions", "pending_work")
_idle: defaultdict[Hashable, list["_App"]] = defaultdict(list)


class _Standin:
    """Stands for an object of the test that has borrowed the application."""

    target: Any = None

    def __getattr__(self, name: str) -> Any:
        return getattr(self.target, name)


class _App:
    """An application whose endpoints reach database, broker, clock and settings of the test that has borrowed it."""

    def __init__(self, service: Service, settings: Any, runtime: Runtime) -> None:
        self.service = service  # Its parts keep their identity as long as it lives.
        self._settings = type("Settings", (_Standin,), {"model_fields": type(settings).model_fields})()
        self._runtime, self._parts = _Standin(), {name: _Standin() for name in ("database", "bus", "clock", "verifier")}
        vars(self._runtime).update(self._parts)
        self.set_targets(settings, runtime)
        self.inner: Any = http_app(service, self._settings, self._runtime, None)._app  # type: ignore[arg-type]

    def set_targets(self, settings: Any, runtime: Runtime | None) -> None:
        self._settings.target, self._runtime.target = settings, runtime
        for name, part in self._parts.items():
            part.target = getattr(runtime, name, None)


@contextmanager
def lent_app(service: Service, settings: Any, runtime: Runtime, dependencies: object) -> Iterator[RequestScope]:
    """Yield the application of an open service; one that is open beside it gets another."""
    parts = (*service.endpoints, *(getattr(service, part) for part in _PARTS))
    idle = _idle[service.name, type(settings), *map(id, parts)]
    app = idle.pop() if idle else _App(service, settings, runtime)
    app.set_targets(settings, runtime)
    state = app.inner.state
    state.http = HttpContext(runtime.verifier, runtime.clock, settings.base_url, settings.service_keys)
    state.dependencies = dependencies
    yield RequestScope(app.inner)
    app.set_targets(None, None)
    idle.append(app)
