"""The secrets of one machine while they are rotated: what `STATE_DIR/secrets.env` says next. Pure; the commands write it."""

from collections.abc import Mapping
from enum import StrEnum

from campus_tools.secrets import new_key


class Secret(StrEnum):
    """What the specification wants rotated (Authentication 9), by the names that `deploy/k8s` gives it."""

    gateway = "gateway-secret-key"
    service_role = "service-role-key"
    signing = "jwt-signing-keys"
    database = "database-passwords"
    assistant = "ai-provider-key"


VARIABLE_OF = {
    Secret.gateway: "GATEWAY_SECRET_KEY",
    Secret.service_role: "SERVICE_ROLE_KEY",
    Secret.assistant: "AI_API_KEY",
}
"""Those that are one value. Somebody else makes the first and the last."""
_WITH_PREVIOUS = (Secret.gateway, Secret.service_role)


class RotationRefused(Exception):
    """Nothing was changed; the message says why."""


def previous_of(secret: Secret) -> str | None:
    """Under which name the value before is kept, for those of which we are the judge."""
    return f"{VARIABLE_OF[secret]}_PREVIOUS" if secret in _WITH_PREVIOUS else None


def begun(kept: Mapping[str, str], secret: Secret, given: str | None, *, compromised: bool) -> dict[str, str]:
    """What changes when the rotation begins: the new value comes in, and the old one stays beside it unless it is compromised.

    Raises:
        RotationRefused: a rotation of it is not ended yet, or the new value is missing or the old one.
    """
    variable, previous = VARIABLE_OF[secret], previous_of(secret)
    if previous and kept.get(previous) and not compromised:
        raise RotationRefused(f"{previous} is still valid. End that rotation first: campusctl rotation end {secret}")
    if given is None and secret is not Secret.service_role:
        raise RotationRefused(f"{secret} is made by its provider: give the new value as NEW_SECRET or when asked.")
    new = given or new_key()
    if new == kept.get(variable):
        raise RotationRefused("That is the value in use.")
    changed = {variable: new}
    if previous:
        changed[previous] = "" if compromised else kept.get(variable, "")
    return changed


def ended(kept: Mapping[str, str], secret: Secret) -> dict[str, str]:
    """What changes when it ends: nobody believes the value before any more. Nothing when there is none."""
    previous = previous_of(secret)
    return {previous: ""} if previous and kept.get(previous) else {}
