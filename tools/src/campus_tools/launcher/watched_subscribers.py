"""Hold subscribers to their limits while the system runs (decision 103)."""

import asyncio
import threading

from campus_tools.launcher.supervisor import Report
from operations.subscriber_supervisor import supervise


class WatchedSubscribers:
    """The rounds of the supervisor, in a thread of the launcher."""

    def __init__(self, management_url: str, broker_url: str, *, report: Report) -> None:
        self._rounds = supervise(management_url, broker_url, lambda line: report("rabbitmq", line))
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run, name="watch subscribers", daemon=True)

    def start(self) -> None:
        """Begin the rounds."""
        self._thread.start()

    def stop(self) -> None:
        """End the rounds."""
        if self._thread.is_alive():
            self._loop.call_soon_threadsafe(self._cancel)
            self._thread.join()

    def _run(self) -> None:
        try:
            self._task = self._loop.create_task(self._rounds)
            self._loop.run_until_complete(asyncio.gather(self._task, return_exceptions=True))
        finally:
            self._loop.close()

    def _cancel(self) -> None:
        self._task.cancel()
