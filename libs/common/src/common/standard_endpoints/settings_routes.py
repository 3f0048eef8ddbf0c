"""The settings of a service's API process: its part of `GET /api/settings` (contract section 13.10).

No value of a secret is in them. A number, a switch, a word of a list, a day or a network is shown. A text is shown
unless its name has a word of `SECRET_WORDS`; an address as its origin, because accounts, paths and queries may be
secret. Everything else is hidden.
"""

from collections.abc import Sequence
from datetime import date
from ipaddress import IPv4Network, IPv6Network
from typing import Annotated, Final
from urllib.parse import urlsplit

from msgspec import Meta
from pydantic.fields import FieldInfo
from pydantic_settings import BaseSettings
from starlette.requests import Request
from starlette.responses import Response

from common.auth.guards import permission
from common.standard_endpoints.pending_work import WorkMeta
from common.web.endpoints import Endpoints
from common.web.http import ok
from common.web.response_models import ResponseModel
from common.web.responses import Success

SETTINGS_PATH: Final = "/api/settings"
SECRET_WORDS: Final = frozenset(
    {"KEY", "KEYS", "SECRET", "TOKEN", "PASSWORD", "ACCOUNT", "EMAIL", "HASH", "ISSUERS", "PROVIDERS", "TOTP"}
)
"""Words of the names of secrets. A test compares them with the operators' table of secrets."""
_REFERENCE: Final = "docs/reference/configuration.md"
_PLAIN: Final = (bool, int, float, date, IPv4Network, IPv6Network)


class ServiceSetting(ResponseModel):
    """A setting of a service, as its process reads it."""

    service: Annotated[str, Meta(description="The service whose process has the setting.")]
    name: Annotated[str, Meta(description="The environment variable.")]
    value: Annotated[
        str | None,
        Meta(description="The value in use, an address as its origin; null for a secret."),
    ]
    default: Annotated[str | None, Meta(description="The default; null for a secret, and where there is none.")]
    is_set: Annotated[bool, Meta(description="Whether the environment sets it.")]
    is_secret: Annotated[bool, Meta(description="Whether its value is never shown.")]
    meaning: Annotated[str, Meta(description="What it sets, with its unit.")]
    documented_in: Annotated[str, Meta(description="The document of the repository that explains it.")]


class ServiceSettingList(ResponseModel):
    success: Success
    data: list[ServiceSetting]
    meta: WorkMeta


def settings_of_service(service: str, settings: BaseSettings) -> Sequence[ServiceSetting]:
    """Return the settings of a service in the order of their declaration, without the value of any secret."""
    return [_shown(service, name, field, settings) for name, field in type(settings).model_fields.items()]


def settings_endpoints(service: str, settings: BaseSettings) -> Endpoints:
    """Return the endpoint of this service's part. The edge merges the parts of all services, and adds its own."""
    endpoint = Endpoints("operations")

    @endpoint(
        "GET",
        SETTINGS_PATH,
        id="settings.list",
        returns=ServiceSettingList,
        allow=permission("settings:manage"),
        merged=True,
    )
    async def list_settings(request: Request) -> Response:
        """List the settings of all services, by service, read-only: value, default, meaning. Secrets have no value."""
        return ok(request, settings_of_service(service, settings), meta=WorkMeta, unavailable=[])

    return endpoint


def _shown(service: str, field_name: str, field: FieldInfo, settings: BaseSettings) -> ServiceSetting:
    name, value = variable_of(field_name, field), getattr(settings, field_name)
    is_secret = not is_shown(name, value)
    return ServiceSetting(
        service=service,
        name=name,
        value=None if is_secret else _text_of(value),
        default=None if is_secret or field.is_required() else _text_of(field.default),
        is_set=field_name in settings.model_fields_set,
        is_secret=is_secret,
        meaning=meaning_of(field),
        documented_in=f"{_REFERENCE}#{service}",
    )


def variable_of(field_name: str, field: FieldInfo) -> str:
    """Return the environment variable of a setting."""
    return str(field.validation_alias or field_name).upper()


def meaning_of(field: FieldInfo) -> str:
    """Return the description on one line."""
    return " ".join((field.description or "").split())


def is_shown(name: str, value: object) -> bool:
    """Return whether the value of a setting may be read by staff."""
    if isinstance(value, _PLAIN):
        return True
    if not SECRET_WORDS.isdisjoint(name.split("_")):
        return False
    if isinstance(value, tuple):
        return all(is_shown(name, part) for part in value)
    return value is None or isinstance(value, str)


def _text_of(value: object) -> str:
    if isinstance(value, tuple):
        return ",".join(_text_of(part) for part in value)
    if isinstance(value, float):
        return f"{value:g}"
    if value is None:
        return ""
    return _origin_of(str(value))


def _origin_of(text: str) -> str:
    """Return the scheme and host of an address, without its account, path and query; any other text unchanged."""
    scheme, mark, rest = text.partition("://")
    return text if not mark else f"{scheme}://{urlsplit(f'//{rest}').netloc.rpartition('@')[2]}"
