"""The messaging app's templates of our business account.

`GET` and `POST {url}/{version}/{business account id}/message_templates`, `POST {url}/{version}/{template id}`
"""

from collections.abc import Mapping
from typing import Any, Final

import httpx

from notifications.deliveries.clients.messaging import fault_of
from notifications.deliveries.clients.responses import json_object, request_fault
from notifications.deliveries.domain.errors import ProviderUnavailable
from notifications.deliveries.domain.messaging_errors import PROVIDER
from notifications.deliveries.domain.registered_templates import RegisteredTemplate, read_registered

_FIELDS: Final = "id,name,language,category,status,rejected_reason,rejection_info,components"
_ROWS_OF_A_PAGE: Final = 100
# The provider allows 6,000 templates in an account.
_PAGES_MAX: Final = 60


class MessageTemplates:
    """The templates of one business account. Each call raises ProviderUnavailable and ProviderRejected."""

    def __init__(
        self, http: httpx.AsyncClient, base_url: str, version: str, business_account_id: str, token: str
    ) -> None:
        self._http, self._root = http, f"{base_url.rstrip('/')}/{version}"
        self._edge = f"{self._root}/{business_account_id}/message_templates"
        self._headers = {"Authorization": f"Bearer {token}"}

    async def list_all(self) -> list[RegisteredTemplate]:
        """Return every template, in all languages."""
        found: list[RegisteredTemplate] = []
        after: str | None = None
        for _ in range(_PAGES_MAX):
            query = {"fields": _FIELDS, "limit": str(_ROWS_OF_A_PAGE), **({} if after is None else {"after": after})}
            page = await self._call("GET", self._edge, params=query)
            rows = page.get("data")
            if not isinstance(rows, list):
                raise ProviderUnavailable(PROVIDER, "the response holds no list of templates")
            found += [template for template in map(read_registered, rows) if template is not None]
            after = _next_cursor(page)
            if after is None:
                return found
        raise ProviderUnavailable(PROVIDER, f"the list of templates has more than {_PAGES_MAX} pages")

    async def register(self, registration: Mapping[str, Any]) -> None:
        """Register a template; its review starts."""
        await self._call("POST", self._edge, json=dict(registration))

    async def replace(self, template_id: str, registration: Mapping[str, Any], *, with_category: bool) -> None:
        """Replace the components of a template; its review starts. The category of an approved one is fixed."""
        names = ("category", "components") if with_category else ("components",)
        await self._call("POST", f"{self._root}/{template_id}", json={name: registration[name] for name in names})

    async def _call(self, method: str, url: str, **given: Any) -> dict[str, Any]:
        try:
            response = await self._http.request(method, url, headers=self._headers, **given)
        except httpx.HTTPError as error:
            raise request_fault(PROVIDER, error) from error
        payload = json_object(response)
        if not response.is_success:
            raise fault_of(response.status_code, payload)
        return payload


def _next_cursor(page: Mapping[str, Any]) -> str | None:
    """Return the cursor of the next page. The last page has cursors too, but no `next`."""
    paging = page.get("paging")
    cursors = paging.get("cursors") if isinstance(paging, dict) and paging.get("next") else None
    after = cursors.get("after") if isinstance(cursors, dict) else None
    return after if isinstance(after, str) and after else None
