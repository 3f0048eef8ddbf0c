"""Where alerts wake somebody: the address says in which words (Alertmanager, PagerDuty Events v2, a plain webhook)."""

import httpx

from notifications.domain.alerts import Alert, dialect_of, page_of_alert
from notifications.domain.errors import ProviderUnavailable


class OnCall:
    """The people on call, at one address. Without an address there is nobody to page: then the log and the list tell alone."""

    def __init__(self, http: httpx.AsyncClient, url: str, routing_key: str) -> None:
        self._http, self._url, self._routing_key = http, url, routing_key
        self._dialect = dialect_of(url)

    @property
    def is_reachable(self) -> bool:
        return bool(self._url)

    @property
    def forgets(self) -> bool:
        """Whether whoever is paged loses its alerts at a restart, and is to be told what still stands."""
        return self._dialect == "alertmanager"

    async def page(self, alert: Alert) -> None:
        """Raises ProviderAway. A page that is said twice is one incident there, by its key."""
        try:
            answer = await self._http.post(self._url, json=page_of_alert(self._dialect, alert, self._routing_key))
        except httpx.HTTPError as error:
            raise ProviderUnavailable(self._dialect, type(error).__name__) from error
        if not answer.is_success:
            raise ProviderUnavailable(self._dialect, f"answered {answer.status_code}")
