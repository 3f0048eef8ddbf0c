"""The messaging app's templates of our business account.

`GET` and `POST {url}/{version}/{business account id}/message_templates`, `POST {url}/{version}/{template id}`
"""

from collections.abc import Mapping
from typing import Final

import httpx
import msgspec

from common.primitives.json_records import decode_record
from notifications.deliveries.clients.messaging import fault_of
from notifications.deliveries.clients.responses import request_fault
from notifications.deliveries.domain.approved_templates import Registration
from notifications.deliveries.domain.errors import ProviderUnavailable
from notifications.deliveries.domain.messaging_errors import PROVIDER, ReportedError
from notifications.deliveries.domain.registered_templates import RegisteredTemplate, ReportedTemplate, read_registered

_FIELDS: Final = "id,name,language,category,status,rejected_reason,rejection_info,components"
_ROWS_OF_A_PAGE: Final = 100
# The provider allows 6,000 templates in an account.
_PAGES_MAX: Final = 60


class Cursors(msgspec.Struct, frozen=True):
    after: str = ""


class Paging(msgspec.Struct, frozen=True):
    cursors: Cursors = Cursors()
    next: str = ""


class TemplatePage(msgspec.Struct, frozen=True):
    """A page of the list; of any other call `error` alone."""

    data: list[ReportedTemplate] | None = None
    paging: Paging = Paging()
    error: ReportedError = ReportedError()


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
        after = ""
        for _ in range(_PAGES_MAX):
            query = {"fields": _FIELDS, "limit": str(_ROWS_OF_A_PAGE), **({"after": after} if after else {})}
            page = await self._call("GET", self._edge, params=query)
            if page.data is None:
                raise ProviderUnavailable(PROVIDER, "the response holds no list of templates")
            found += filter(None, map(read_registered, page.data))
            # The last page has cursors too, but no `next`.
            after = page.paging.cursors.after if page.paging.next else ""
            if not after:
                return found
        raise ProviderUnavailable(PROVIDER, f"the list of templates has more than {_PAGES_MAX} pages")

    async def register(self, registration: Registration) -> None:
        """Register a template; its review starts."""
        await self._call("POST", self._edge, json=dict(registration))

    async def replace(self, template_id: str, registration: Registration, *, with_category: bool) -> None:
        """Replace the components of a template; its review starts. The category of an approved one is fixed."""
        category = {"category": registration["category"]} if with_category else {}
        changed = {**category, "components": registration["components"]}
        await self._call("POST", f"{self._root}/{template_id}", json=changed)

    async def _call(
        self, method: str, url: str, *, params: Mapping[str, str | int] | None = None, json: object = None
    ) -> TemplatePage:
        try:
            response = await self._http.request(method, url, headers=self._headers, params=params, json=json)
        except httpx.HTTPError as error:
            raise request_fault(PROVIDER, error) from error
        page = decode_record(response.content, TemplatePage)
        if not response.is_success:
            raise fault_of(response.status_code, page.error)
        return page
