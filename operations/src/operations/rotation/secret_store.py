"""Changes of `STATE_DIR/secrets.env` during a rotation. Pure functions; the commands write the file."""

from collections.abc import Mapping
from enum import StrEnum

from operations.secrets import new_key


class Secret(StrEnum):
    """Secrets with a rotation: six of the specification (Authentication 9), named as in `deploy/k8s`, two encryption
    keys (decision 36), and the shared secret of the second gateway's webhooks (decision 45). Only a cluster has the
    token for DNS records.
    """

    gateway = "gateway-secret-key"
    flutterwave = "flutterwave-webhook-hash"
    service_role = "service-role-key"
    signing = "jwt-signing-keys"
    database = "database-passwords"
    assistant = "ai-provider-key"
    dns = "dns-automation-token"
    encryption = "sealing-key"
    pin = "pin-key"


VARIABLE_OF = {
    Secret.gateway: "GATEWAY_SECRET_KEY",
    Secret.flutterwave: "FLUTTERWAVE_WEBHOOK_HASH",
    Secret.service_role: "SERVICE_ROLE_KEY",
    Secret.assistant: "AI_API_KEY",
    Secret.dns: "DNS_TOKEN",
    Secret.encryption: "SEALING_KEY",
    Secret.pin: "PIN_KEY",
}
"""Secrets of one value. A provider issues the first and the assistant's; the second is entered at its provider too."""
ENCRYPTING = (Secret.encryption, Secret.pin)
"""Encryption keys: every process must read the new key before one writes with it, and stored values are
re-encrypted.
"""
_WITH_PREVIOUS = (Secret.gateway, Secret.flutterwave, Secret.service_role, *ENCRYPTING)
READABLE = "readable"
"""The phase between `begin` and `switch`: `_PREVIOUS` is the next key."""
_MADE_HERE = (Secret.service_role, *ENCRYPTING)


class RotationRefused(Exception):
    """Rejection before any change; the message gives the reason."""


def previous_of(secret: Secret) -> str | None:
    """Return the variable of the previous value, for secrets that the system verifies itself."""
    return f"{VARIABLE_OF[secret]}_PREVIOUS" if secret in _WITH_PREVIOUS else None


def started(kept: Mapping[str, str], secret: Secret, given: str | None, *, compromised: bool) -> dict[str, str]:
    """Return the changes at the start of a rotation: the new value, and the old one as previous unless it is
    compromised.

    A new encryption key is `_PREVIOUS`, for decryption only, until `switched`. When the old key is compromised, the new
    one encrypts at once, and the old one stays until all values are re-encrypted.

    Raises:
        RotationRefused: its last rotation has not ended, or the new or the old value is missing.
    """
    variable, previous = VARIABLE_OF[secret], previous_of(secret)
    if previous and kept.get(previous) and not compromised:
        raise RotationRefused(f"{previous} is still valid. End that rotation first: campusctl rotation end {secret}")
    if secret is Secret.pin and kept.get("SHARED_SEALING_KEY"):
        raise RotationRefused("PIN_KEY is still used by the previous release. Rotate sealing-key first.")
    if previous and kept.get(previous) and secret in ENCRYPTING:
        raise RotationRefused(f"{previous} is still needed. Re-encrypt first: campusctl rotation re-encrypt {secret}")
    if given is None and secret not in _MADE_HERE:
        raise RotationRefused(f"{secret} is set at its provider: give the new value as NEW_SECRET or when asked.")
    new = given or new_key()
    if new == kept.get(variable):
        raise RotationRefused("That is the value in use.")
    if secret in ENCRYPTING:
        if compromised:
            return _encrypting(kept, secret, new, kept[variable])
        return {f"{variable}_PREVIOUS": new, f"{variable}_PHASE": READABLE}
    changed = {variable: new}
    if previous:
        changed[previous] = "" if compromised else kept.get(variable, "")
    return changed


def switched(kept: Mapping[str, str], secret: Secret) -> dict[str, str]:
    """Return the changes when every process reads the new key: it encrypts, and the old key is the previous.

    Raises:
        RotationRefused: there is no new key.
    """
    variable = VARIABLE_OF[secret]
    if secret not in ENCRYPTING:
        raise RotationRefused(f"{secret} has no switch: its new value is in use from the roll after `begin` on.")
    if kept.get(f"{variable}_PHASE") != READABLE:
        raise RotationRefused(f"There is no new key. First: campusctl rotation begin {secret}")
    return _encrypting(kept, secret, kept[f"{variable}_PREVIOUS"], kept[variable])


def may_encrypt(kept: Mapping[str, str], secret: Secret) -> bool:
    """Return whether the newer key may have encrypted values. Before `switch` the rotation can be cancelled."""
    return kept.get(f"{VARIABLE_OF[secret]}_PHASE") != READABLE


def _encrypting(kept: Mapping[str, str], secret: Secret, current: str, previous: str) -> dict[str, str]:
    variable = VARIABLE_OF[secret]
    changed = {variable: current, f"{variable}_PREVIOUS": previous, f"{variable}_PHASE": ""}
    if secret is Secret.encryption and kept.get("SHARED_SEALING_KEY"):
        changed |= {"SHARED_SEALING_KEY": "", "SHARED_SEALING_KEY_PREVIOUS": kept["SHARED_SEALING_KEY"]}
    return changed


def ended(kept: Mapping[str, str], secret: Secret) -> dict[str, str]:
    """Return the changes at the end of a rotation: the previous value is removed, when there is one."""
    previous = previous_of(secret)
    names = [previous] if previous else []
    if secret in ENCRYPTING:
        names.append(f"{VARIABLE_OF[secret]}_PHASE")
    if secret is Secret.encryption:
        names.append("SHARED_SEALING_KEY_PREVIOUS")
    return {name: "" for name in names if kept.get(name)}
