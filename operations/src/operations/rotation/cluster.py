"""Rotate secrets of a cluster: the values of its Secrets (decision 79)."""

import base64
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final

from common.auth.service_keys import fingerprint_of
from operations.kubectl import Kubectl
from operations.rotation.secret_store import (
    ENCRYPTING,
    READABLE,
    VARIABLE_OF,
    RotationRefused,
    Secret,
    ended,
    previous_of,
    started,
    switched,
)
from operations.secret_table import KEYS_OF_PURPOSES, SECRETS

_PHASE: Final = "campus.example/rotation."
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
"""The Secrets with a variable, as the ExternalSecrets of deploy/k8s write them. The first has the previous value too, of an
encryption key each."""


class SourceElsewhere(Exception):
    """The Secrets are written from outside the cluster; the message names what to change there. Nothing was changed."""


@dataclass(frozen=True, slots=True)
class ClusterSecret:
    """A Secret at one moment. `owner`: kind and name of the object that writes it, empty when there is none."""

    name: str
    version: str
    values: Mapping[str, str]
    annotations: Mapping[str, str]
    owner: tuple[str, str] | None


def variables_of(secret: Secret) -> tuple[str, ...]:
    """Return the variables of a cluster. The sealing key is the root of the keys of purposes, which a cluster has
    instead of it.
    """
    return tuple(KEYS_OF_PURPOSES) if secret is Secret.encryption else (VARIABLE_OF[secret],)


@dataclass(slots=True)
class ClusterRotation:
    """The rotation of one secret in a cluster. Its state is the Secrets and their annotations, so that every operator sees it."""

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

    # ---- State -----------------------------------------------------------------------------------------------------------

    def state(self, variable: str) -> dict[str, str]:
        """Return the value, the previous value and the phase of a variable, named as in `secrets.env`."""
        first = self.found[SECRETS_OF[variable][0]]
        values = {key: first.values.get(key_of(key), "") for key in (variable, f"{variable}_PREVIOUS")}
        # The phase is an annotation; of a value from outside the cluster it is unknown, and a switch is possible.
        phase = READABLE if first.owner else str(_annotation(first, variable).get("phase", ""))
        values[f"{variable}_PHASE"] = phase if values[f"{variable}_PREVIOUS"] else ""
        return values

    @property
    def is_owned(self) -> bool:
        """Whether a Secret is written from outside the cluster."""
        return any(found.owner for found in self.found.values())

    @property
    def may_have_encrypted(self) -> bool:
        """Whether a new key may have encrypted values: unknown where the phase is not written here."""
        return self.is_owned or any(
            state[f"{variable}_PREVIOUS"] and state[f"{variable}_PHASE"] != READABLE
            for variable in variables_of(self.secret)
            for state in [self.state(variable)]
        )

    def open_values(self) -> list[dict[str, Any]]:
        """Return the previous values that are still valid, with both fingerprints, and who began the rotation when."""
        lines: list[dict[str, Any]] = []
        for variable in variables_of(self.secret):
            state, first = self.state(variable), self.found[SECRETS_OF[variable][0]]
            if previous := state[f"{variable}_PREVIOUS"]:
                noted = _annotation(first, variable)
                lines.append(
                    {
                        "secret": self.secret, "open": f"{variable}_PREVIOUS", "inUse": False, "sessions": {},
                        "in": list(SECRETS_OF[variable]), "current": fingerprint_of(state[variable]),
                        "previous": fingerprint_of(previous), "startedAt": noted.get("startedAt"),
                    }
                )  # fmt: skip
        return lines

    # ---- Changes ---------------------------------------------------------------------------------------------------------

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
            state = self.state(variable)
            # Switched before by an interrupted command.
            if self.secret in ENCRYPTING and state[f"{variable}_PREVIOUS"] and state[f"{variable}_PHASE"] != READABLE:
                continue
            changed |= self._named(variable, switched(self._as_kept(variable), self.secret))
        if not changed:
            raise RotationRefused(f"There is no new key. First: campusctl rotation begin {self.secret}")
        return changed

    def end(self) -> dict[str, str]:
        """Return the changes that remove the previous values; none: there are none."""
        changed: dict[str, str] = {}
        for variable in variables_of(self.secret):
            changed |= self._named(variable, ended(self._as_kept(variable), self.secret))
        return changed

    def write(self, changed: Mapping[str, str], *, write_secret: bool = False) -> list[str]:
        """Write the changes, one Secret after another, and return their names.

        A Secret has all of its changes in one request. A repetition of the command completes an interrupted one; every state
        in between has both values.

        Raises:
            SourceElsewhere: a Secret has an owner, and `write_secret` is false or the secret encrypts.
            KubectlFailed: Conflict, when a Secret was changed since it was read.
        """
        patches = {name: self._patch(found, changed) for name, found in self.found.items()}
        patches = {name: patch for name, patch in patches.items() if patch}
        owned = [self.found[name] for name in patches if self.found[name].owner]
        # An owner restores its value within minutes. Values that a new key has encrypted by then would be lost.
        if owned and (self.secret in ENCRYPTING or not write_secret):
            raise SourceElsewhere(self._instructions(owned, changed))
        for name, patch in patches.items():
            values = {key: base64.b64encode(text.encode()).decode() for key, text in patch.items()}
            metadata = {"resourceVersion": self.found[name].version, "annotations": self._annotations(name, changed)}
            self.kubectl.patch("secret", name, {"metadata": metadata, "data": values})
        return list(patches)

    def complete(self) -> list[str]:
        """Write the values of the first Secret of each variable to the others during a rotation; return the changed ones."""
        return self.write({}) if self.open_values() and not self.is_owned else []

    def record_end(self) -> str:
        """Annotate the Secrets' owners, or the Secrets, with the date of the rotation; return it."""
        now = _now()
        for name in dict.fromkeys(SECRETS_OF[variable][0] for variable in variables_of(self.secret)):
            kind, owner = self.found[name].owner or ("secret", name)
            closed = {f"{_PHASE}{variable}": None for variable in variables_of(self.secret)}
            self.kubectl.patch(kind.lower(), owner, {"metadata": {"annotations": {_ROTATED_AT: now, **closed}}})
        return now

    def _patch(self, found: ClusterSecret, changed: Mapping[str, str]) -> dict[str, str]:
        """Return the values of a Secret that differ from those that it shall have."""
        expected: dict[str, str] = {}
        for variable in variables_of(self.secret):
            names = SECRETS_OF[variable]
            if found.name in names:
                state = {**self.state(variable), **changed}
                is_first = found.name == names[0]
                both = (variable, f"{variable}_PREVIOUS")
                keys = both if self.secret in ENCRYPTING or (is_first and previous_of(self.secret)) else both[:1]
                expected |= {key_of(key): state[key] for key in keys}
        return {key: text for key, text in expected.items() if found.values.get(key, "") != text}

    def _annotations(self, name: str, changed: Mapping[str, str]) -> dict[str, str]:
        annotations = {}
        for variable in variables_of(self.secret):
            if SECRETS_OF[variable][0] == name and {variable, f"{variable}_PREVIOUS"} & changed.keys():
                since = _annotation(self.found[name], variable).get("startedAt", _now())
                noted = {"phase": changed.get(f"{variable}_PHASE", ""), "startedAt": since}
                annotations[f"{_PHASE}{variable}"] = json.dumps(noted)
        return annotations

    def _instructions(self, owned: Sequence[ClusterSecret], changed: Mapping[str, str]) -> str:
        owners = ", ".join(sorted({" ".join(found.owner) for found in owned if found.owner}))
        steps = []
        for variable in variables_of(self.secret):
            entry = next(row for row in SECRETS if row.name == variable and row.entries)
            state = self.state(variable)
            steps += [
                f"entry {entry.entries[0]}, property {entry.key}{key.removeprefix(variable)}: {_described(text, state)}"
                for key, text in changed.items()
                if key in (variable, f"{variable}_PREVIOUS")
            ]
        return f"{owners} writes the Secret from outside the cluster. Change there, in one write: {'; '.join(steps)}."

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
        metadata = document["metadata"]
        owners = [it for it in metadata.get("ownerReferences", []) if it["kind"] in ("ExternalSecret", "SealedSecret")]
        values = {key: base64.b64decode(text).decode() for key, text in (document.get("data") or {}).items()}
        owner = (owners[0]["kind"], owners[0]["name"]) if owners else None
        noted = metadata.get("annotations") or {}
        found[name] = ClusterSecret(name, metadata["resourceVersion"], values, noted, owner)
    return found


def _names_of(secret: Secret) -> list[str]:
    return list(dict.fromkeys(name for variable in variables_of(secret) for name in SECRETS_OF[variable]))


def key_of(variable: str) -> str:
    """Return the name within its Secret: that of the store's property for what no process has as a variable."""
    return next((row.key for row in SECRETS if row.name == variable and row.readers == ("cert-manager",)), variable)


def _annotation(found: ClusterSecret, variable: str) -> dict[str, Any]:
    noted: dict[str, Any] = json.loads(found.annotations.get(f"{_PHASE}{variable}", "{}"))
    return noted


def _described(text: str, state: Mapping[str, str]) -> str:
    if not text:
        return "empty"
    known = next((key for key, value in state.items() if value == text), None)
    if known is None:
        return "the new value"
    return f"the present value of {known} (fingerprint {fingerprint_of(text)})"


def _now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
