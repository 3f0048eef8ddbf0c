"""Pages to the on-call receiver. Its URL implies the format: Alertmanager, PagerDuty Events v2, or a plain webhook."""

import httpx

from notifications.deliveries.domain.alerts import Alert, dialect_of, page_bodies
from notifications.deliveries.domain.errors import ProviderUnavailable


class OnCall:
    """The receiver of pages. Without an address alerts appear in the log and the list only."""

    def __init__(self, http: httpx.AsyncClient, url: str, routing_key: str) -> None:
        self._http, self._url, self._routing_key = http, url, routing_key
        self._dialect = dialect_of(url)

    @property
    def is_configured(self) -> bool:
        return bool(self._url)

    @property
    def needs_repeats(self) -> bool:
        """Return whether the receiver loses open alerts at a restart."""
        return self._dialect == "alertmanager"

    async def page(self, alert: Alert, *, is_acknowledgement: bool = False) -> None:
        """Send the alert, or its acknowledgement. Raises ProviderUnavailable. The receiver deduplicates by key."""
        for body in page_bodies(self._dialect, alert, self._routing_key, is_acknowledgement=is_acknowledgement):
            try:
                response = await self._http.post(self._url, json=body)
            except httpx.HTTPError as error:
                raise ProviderUnavailable(self._dialect, type(error).__name__) from error
            if not response.is_success:
                raise ProviderUnavailable(self._dialect, f"answered {response.status_code}")
