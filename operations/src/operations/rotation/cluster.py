"""Rotate secrets of a cluster: what to change in the store that writes its Secrets (decision 134)."""

import base64
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final

from common.auth.service_keys import fingerprint_of
from operations.kubectl import Kubectl
from operations.rotation.secret_store import (
    READABLE,
    VARIABLE_OF,
    RotationRefused,
    Secret,
    ended,
    started,
    switched,
)
from operations.secret_table import KEYS_OF_PURPOSES, SECRETS

_ROTATED_AT: Final = "campus.example/rotated-at"

SECRETS_OF: Final[Mapping[str, tuple[str, ...]]] = {
    "GATEWAY_SECRET_KEY": ("gateway-key", "gateway-key-of-payouts", "audit-gateways"),
    "FLUTTERWAVE_WEBHOOK_HASH": ("gateway-key",),
    "SERVICE_ROLE_KEY": ("service-role-key",),
    "AI_API_KEY": ("assistant-key",),
    "DNS_TOKEN": ("dns-token",),
    "PIN_KEY": ("orders-keys",),
    "CREDENTIALS_KEY": ("identity-keys",),
    "CODE_DELIVERY_KEY": ("identity-keys", "notifications-keys"),
    "PIN_DELIVERY_KEY": ("orders-keys", "notifications-keys"),
    "ACCOUNT_NUMBER_KEY": ("payouts-keys",),
    "MESSAGE_KEY": ("notifications-keys",),
}
"""The Secrets with a variable, as the ExternalSecrets of deploy/k8s write them. The first has the previous value too,
of an encryption key each.
"""


@dataclass(frozen=True, slots=True)
class ClusterSecret:
    """A Secret at one moment. `source`: kind and name of the object that writes it, which may be itself."""

    name: str
    values: Mapping[str, str]
    source: tuple[str, str]


def variables_of(secret: Secret) -> tuple[str, ...]:
    """Return the variables of a cluster, which has the keys of purposes instead of the sealing key."""
    return tuple(KEYS_OF_PURPOSES) if secret is Secret.encryption else (VARIABLE_OF[secret],)


@dataclass(slots=True)
class ClusterRotation:
    """The rotation of one secret in a cluster. Its state is the Secrets, so that every operator sees it."""

    kubectl: Kubectl
    secret: Secret
    found: dict[str, ClusterSecret]

    @classmethod
    def read(cls, kubectl: Kubectl, secret: Secret) -> "ClusterRotation":
        """Read the Secrets. Raises KubectlFailed; RotationRefused: the first Secret of a variable does not exist."""
        found = read_secrets(kubectl, _names_of(secret))
        for variable in variables_of(secret):
            if SECRETS_OF[variable][0] not in found:
                raise RotationRefused(
                    f"The namespace {kubectl.namespace} has no Secret {SECRETS_OF[variable][0]} with {variable}."
                )
        return cls(kubectl, secret, found)

    @classmethod
    def read_all(cls, kubectl: Kubectl) -> "list[ClusterRotation]":
        """Read the Secrets of every secret that the cluster has. Raises KubectlFailed."""
        chosen = [secret for secret in Secret if secret not in (Secret.signing, Secret.database)]
        read = read_secrets(kubectl, list(dict.fromkeys(name for secret in chosen for name in _names_of(secret))))
        rotations = []
        for secret in chosen:
            found = {name: read[name] for name in _names_of(secret) if name in read}
            if all(SECRETS_OF[variable][0] in found for variable in variables_of(secret)):
                rotations.append(cls(kubectl, secret, found))
        return rotations

    # ---- State
    # -----------------------------------------------------------------------------------------------------------

    def state(self, variable: str) -> dict[str, str]:
        """Return the value, the previous value and the phase of a variable, named as in `secrets.env`.

        A store has no phase. A previous value may be the new key, so that a switch is possible.
        """
        first = self.found[SECRETS_OF[variable][0]]
        values = {key: first.values.get(key_of(key), "") for key in (variable, f"{variable}_PREVIOUS")}
        values[f"{variable}_PHASE"] = READABLE if values[f"{variable}_PREVIOUS"] else ""
        return values

    def open_values(self) -> list[dict[str, Any]]:
        """Return the previous values that are still valid, with both fingerprints."""
        lines: list[dict[str, Any]] = []
        for variable in variables_of(self.secret):
            state = self.state(variable)
            if previous := state[f"{variable}_PREVIOUS"]:
                lines.append(
                    {
                        "secret": self.secret, "open": f"{variable}_PREVIOUS", "inUse": False, "sessions": {},
                        "in": list(SECRETS_OF[variable]), "current": fingerprint_of(state[variable]),
                        "previous": fingerprint_of(previous),
                    }
                )  # fmt: skip
        return lines

    # ---- Changes
    # ---------------------------------------------------------------------------------------------------------

    def start(self, given: str | None, *, compromised: bool) -> dict[str, str]:
        """Return the changes at the start; those that an interrupted start has left out, when it is repeated.

        Raises:
            RotationRefused: its last rotation has not ended, or the new or the old value is missing.
        """
        rotated = [name for name in variables_of(self.secret) if self.state(name)[f"{name}_PREVIOUS"]]
        left_out = [name for name in variables_of(self.secret) if name not in rotated]
        changed: dict[str, str] = {}
        for variable in left_out or rotated:
            changed |= self._named(
                variable, started(self._as_kept(variable), self.secret, given, compromised=compromised)
            )
        return changed

    def switch(self) -> dict[str, str]:
        """Return the changes after which the new keys encrypt. Raises RotationRefused: a key was not begun."""
        changed: dict[str, str] = {}
        for variable in variables_of(self.secret):
            changed |= self._named(variable, switched(self._as_kept(variable), self.secret))
        return changed

    def end(self) -> dict[str, str]:
        """Return the changes that remove the previous values; none: there are none."""
        changed: dict[str, str] = {}
        for variable in variables_of(self.secret):
            changed |= self._named(variable, ended(self._as_kept(variable), self.secret))
        return changed

    def record_end(self) -> str:
        """Annotate the sources of the Secrets with the date of the rotation, and return it."""
        now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        for name in dict.fromkeys(SECRETS_OF[variable][0] for variable in variables_of(self.secret)):
            kind, source = self.found[name].source
            self.kubectl.call("annotate", kind.lower(), source, f"{_ROTATED_AT}={now}", "--overwrite")
        return now

    def change_in_store(self, changed: Mapping[str, str]) -> str:
        """Return the instructions for a change: entries and properties, and which known value each gets."""
        names = dict.fromkeys(name for variable in variables_of(self.secret) for name in SECRETS_OF[variable])
        sources = ", ".join(sorted({" ".join(self.found[name].source) for name in names if name in self.found}))
        steps = []
        for variable in variables_of(self.secret):
            entry = next(row for row in SECRETS if row.name == variable and row.entries)
            state = self.state(variable)
            steps += [
                f"entry {entry.entries[0]}, property {entry.key}{key.removeprefix(variable)}: {_described(text, state)}"
                for key, text in changed.items()
                if key in (variable, f"{variable}_PREVIOUS")
            ]
        return f"{sources}: the values come from outside the cluster. Change there, in one write: {'; '.join(steps)}."

    def _as_kept(self, variable: str) -> dict[str, str]:
        """Return the state under the names of one machine, for the rules of `secret_store`."""
        named = VARIABLE_OF[self.secret]
        return {named + key.removeprefix(variable): text for key, text in self.state(variable).items()}

    def _named(self, variable: str, changed: Mapping[str, str]) -> dict[str, str]:
        named = VARIABLE_OF[self.secret]
        return {variable + key.removeprefix(named): text for key, text in changed.items()}


def read_secrets(kubectl: Kubectl, names: Sequence[str]) -> dict[str, ClusterSecret]:
    """Read the Secrets of these names that exist. Raises KubectlFailed."""
    found = {}
    for name, document in kubectl.get("secret", *names).items():
        owners = document["metadata"].get("ownerReferences", [])
        sources = [(it["kind"], it["name"]) for it in owners if it["kind"] in ("ExternalSecret", "SealedSecret")]
        values = {key: base64.b64decode(text).decode() for key, text in (document.get("data") or {}).items()}
        found[name] = ClusterSecret(name, values, [*sources, ("Secret", name)][0])
    return found


def _names_of(secret: Secret) -> list[str]:
    return list(dict.fromkeys(name for variable in variables_of(secret) for name in SECRETS_OF[variable]))


def key_of(variable: str) -> str:
    """Return the name within its Secret: that of the store's property for what no process has as a variable."""
    return next((row.key for row in SECRETS if row.name == variable and row.readers == ("cert-manager",)), variable)


def _described(text: str, state: Mapping[str, str]) -> str:
    if not text:
        return "empty"
    known = next((key for key, value in state.items() if value == text), None)
    if known is None:
        return "the new value"
    return f"the present value of {known} (fingerprint {fingerprint_of(text)})"
