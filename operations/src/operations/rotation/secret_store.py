"""The secrets of one machine while they are rotated: what `STATE_DIR/secrets.env` says next. Pure; the commands write it."""

from collections.abc import Mapping
from enum import StrEnum

from operations.secrets import new_key


class Secret(StrEnum):
    """The five that the specification wants rotated (Authentication 9), by the names that `deploy/k8s` gives them, and the two
    that encrypt (decision 36)."""

    gateway = "gateway-secret-key"
    service_role = "service-role-key"
    signing = "jwt-signing-keys"
    database = "database-passwords"
    assistant = "ai-provider-key"
    encryption = "sealing-key"
    pin = "pin-key"


VARIABLE_OF = {
    Secret.gateway: "GATEWAY_SECRET_KEY",
    Secret.service_role: "SERVICE_ROLE_KEY",
    Secret.assistant: "AI_API_KEY",
    Secret.encryption: "SEALING_KEY",
    Secret.pin: "PIN_KEY",
}
"""Those that are one value. Somebody else makes the first and the last."""
ENCRYPTING = (Secret.encryption, Secret.pin)
"""Those under which values rest: every process reads the new key before one writes with it, and values are encrypted anew."""
_WITH_PREVIOUS = (Secret.gateway, Secret.service_role, *ENCRYPTING)
_READABLE = "readable"
"""The phase between `begin` and `switch`: `_PREVIOUS` is the next key."""
_MADE_HERE = (Secret.service_role, *ENCRYPTING)


class RotationRefused(Exception):
    """Nothing was changed; the message says why."""


def previous_of(secret: Secret) -> str | None:
    """Under which name the value before is kept, for those of which we are the judge."""
    return f"{VARIABLE_OF[secret]}_PREVIOUS" if secret in _WITH_PREVIOUS else None


def started(kept: Mapping[str, str], secret: Secret, given: str | None, *, compromised: bool) -> dict[str, str]:
    """What changes when the rotation begins: the new value comes in, and the old one stays beside it unless it is compromised.

    A key that encrypts is only readable at first: it is `_PREVIOUS` until `switched`. When it is compromised it encrypts at once,
    and the old one stays until everything was encrypted anew.

    Raises:
        RotationRefused: a rotation of it is not ended yet, or the new value is missing or the old one.
    """
    variable, previous = VARIABLE_OF[secret], previous_of(secret)
    if previous and kept.get(previous) and not compromised:
        raise RotationRefused(f"{previous} is still valid. End that rotation first: campusctl rotation end {secret}")
    if secret is Secret.pin and kept.get("SHARED_SEALING_KEY"):
        raise RotationRefused("PIN_KEY is still used for the release before. Rotate sealing-key first.")
    if previous and kept.get(previous) and secret in ENCRYPTING:
        raise RotationRefused(f"{previous} is still needed. Encrypt anew first: campusctl rotation re-encrypt {secret}")
    if given is None and secret not in _MADE_HERE:
        raise RotationRefused(f"{secret} is made by its provider: give the new value as NEW_SECRET or when asked.")
    new = given or new_key()
    if new == kept.get(variable):
        raise RotationRefused("That is the value in use.")
    if secret in ENCRYPTING:
        if compromised:
            return _encrypting(kept, secret, new, kept[variable])
        return {f"{variable}_PREVIOUS": new, f"{variable}_PHASE": _READABLE}
    changed = {variable: new}
    if previous:
        changed[previous] = "" if compromised else kept.get(variable, "")
    return changed


def switched(kept: Mapping[str, str], secret: Secret) -> dict[str, str]:
    """What changes when every process can read the new key: it encrypts, and the old one is the previous.

    Raises:
        RotationRefused: no new key waits for it.
    """
    variable = VARIABLE_OF[secret]
    if secret not in ENCRYPTING:
        raise RotationRefused(f"{secret} has no switch: its new value is in use from the roll after `begin` on.")
    if kept.get(f"{variable}_PHASE") != _READABLE:
        raise RotationRefused(f"No new key waits. First: campusctl rotation begin {secret}")
    return _encrypting(kept, secret, kept[f"{variable}_PREVIOUS"], kept[variable])


def may_encrypt(kept: Mapping[str, str], secret: Secret) -> bool:
    """Whether the newer of the two keys has been used: before `switch` nothing is under it, and the rotation can be given up."""
    return kept.get(f"{VARIABLE_OF[secret]}_PHASE") != _READABLE


def _encrypting(kept: Mapping[str, str], secret: Secret, current: str, previous: str) -> dict[str, str]:
    variable = VARIABLE_OF[secret]
    changed = {variable: current, f"{variable}_PREVIOUS": previous, f"{variable}_PHASE": ""}
    if secret is Secret.encryption and kept.get("SHARED_SEALING_KEY"):
        changed |= {"SHARED_SEALING_KEY": "", "SHARED_SEALING_KEY_PREVIOUS": kept["SHARED_SEALING_KEY"]}
    return changed


def ended(kept: Mapping[str, str], secret: Secret) -> dict[str, str]:
    """What changes when it ends: nobody believes the value before any more. Nothing when there is none."""
    previous = previous_of(secret)
    names = [previous] if previous else []
    if secret in ENCRYPTING:
        names.append(f"{VARIABLE_OF[secret]}_PHASE")
    if secret is Secret.encryption:
        names.append("SHARED_SEALING_KEY_PREVIOUS")
    return {name: "" for name in names if kept.get(name)}
