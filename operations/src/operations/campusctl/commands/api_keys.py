"""API keys of the own shop or of the platform, for programs."""

from datetime import UTC, datetime, timedelta
from typing import Annotated, Final
from uuid import UUID

import typer

from operations.campusctl.api_commands import ID, Call, Commands, Own, Value, register_group
from operations.campusctl.registering import Operator
from operations.campusctl.showing import Output


def register(app: typer.Typer) -> None:
    register_group(app, "api-keys", "API keys of programs.", KEYS)


def create(
    operator: Operator,
    name: Annotated[str, typer.Argument(help="The program that uses the key.")],
    scope: Annotated[list[str], typer.Option(help="What the key may do, such as orders:read; once for each.")],
    days: Annotated[int, typer.Option(min=1, max=365, help="How long the key lives.")] = 90,
    network: Annotated[
        list[str] | None, typer.Option(help="A network that may use it; without: every address.")
    ] = None,
) -> Output:
    """Create a key. It is shown once."""
    expires_at = (datetime.now(UTC) + timedelta(days=days)).isoformat()
    body = {"name": name, "scopes": scope, "networks": network or [], "expiresAt": expires_at}
    return Output(operator.api.call("POST", "/api/api-keys", body).data)


KEYS: Final[Commands] = {
    "list": Call(
        "GET /api/api-keys",
        "List the keys without their secrets.",
        (),
        ("id", "name", "hint", "scopes", "expiresAt", "lastUsedAt", "revokedAt"),
        ("",),
    ),
    "create": Own(create, ("'Stock synchronisation' --scope orders:read --days 30",)),
    "revoke": Call(
        "DELETE /api/api-keys/{key_id}",
        "Revoke a key at once.",
        (Value("key_id", UUID, "Id of the key."),),
        examples=(f"{ID} --yes",),
        confirmation="Revoke the key {key_id}? Programs that use it are refused at once.",
    ),
}
