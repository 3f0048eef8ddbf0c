"""The environment variables of the identity service.

A wrong `CREDENTIALS_KEY` stops the start (runbook rotate-sealing-keys). Browsers accept no IP address as
`PASSKEY_RP_ID`. `BOOTSTRAP_ADMIN_EMAIL` makes the first platform_admin and changes no account that exists;
`grant-admin` makes the second. The budgets of texts are those of decision 94.
"""

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated, Self
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, SecretStr, ValidationInfo, field_validator, model_validator
from pydantic.alias_generators import to_camel
from pydantic_settings import NoDecode

from common.auth.issuers import is_safe_to_fetch
from common.primitives.encryption import FurtherKey, PurposeKey
from common.process.settings import AccessLogSettings, Countries, Origins, SharedAddressSettings
from identity.domain.addresses import domain_of, normal_email
from identity.domain.oidc import ProviderRules
from identity.domain.staff import PROPOSABLE_ROLES

DemoTotpSecret = Annotated[
    str,
    Field(
        description="TOTP secret of this demo account in base32. Empty: the account has no second factor",
        examples=["JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP"],
    ),
]


class GroupsClaim(BaseModel):
    """The claim with a user's groups, and the role that each of them proposes. Groups without a role propose none."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    claim: str = Field(min_length=1, max_length=255)
    roles: Mapping[str, str] = Field(min_length=1)

    @field_validator("roles")
    @classmethod
    def check_roles(cls, value: Mapping[str, str]) -> Mapping[str, str]:
        if not PROPOSABLE_ROLES.issuperset(value.values()):
            raise ValueError(f"must be staff roles of no campus or hub: {', '.join(sorted(PROPOSABLE_ROLES))}")
        return value


class OidcProviderEntry(BaseModel):
    """One entry of OIDC_PROVIDERS."""

    model_config = ConfigDict(frozen=True, extra="forbid", alias_generator=to_camel, hide_input_in_errors=True)

    name: str = Field(pattern="^[A-Za-z0-9][A-Za-z0-9_-]{0,39}$")
    issuer: str = Field(pattern="^https?://[^?#]+$", max_length=512)
    client_id: str = Field(min_length=1, max_length=255)
    client_secret: SecretStr = Field(min_length=1)
    email_domains: tuple[str, ...] = Field(min_length=1)
    aal2_acr: tuple[str, ...] = ()
    groups_claim: GroupsClaim | None = None

    @field_validator("email_domains", "aal2_acr", mode="before")
    @classmethod
    def one_text_is_a_list_of_one(cls, value: object) -> object:
        return (value,) if isinstance(value, str) else value

    @field_validator("groups_claim", mode="before")
    @classmethod
    def a_name_alone_maps_groups_named_as_roles(cls, value: object) -> object:
        if isinstance(value, str):
            return {"claim": value, "roles": {role: role for role in PROPOSABLE_ROLES}} if value else None
        return value

    @field_validator("email_domains")
    @classmethod
    def check_domains(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        domains = tuple(map(normal_email, value))
        if any(domain_of(f"user@{domain}") != domain for domain in domains):
            raise ValueError("must be mail domains, such as school.edu.ng")
        return domains

    @property
    def rules(self) -> ProviderRules:
        domains, aal2_acr = frozenset(self.email_domains), frozenset(self.aal2_acr)
        rules = ProviderRules(self.name, self.issuer, self.client_id, domains, aal2_acr)
        if self.groups_claim is None:
            return rules
        return replace(rules, groups_claim=self.groups_claim.claim, role_by_group=self.groups_claim.roles)


class Settings(SharedAddressSettings, AccessLogSettings):
    """The service's own variables. Without demo or bootstrap secrets, no demo accounts and no first administrator
    exist.
    """

    credentials_key: PurposeKey = Field(
        description=(
            "Key that encrypts TOTP secrets, signing keys and the hash key at rest. A wrong key stops the start"
        ),
        examples=["Zk1yQ2hhbmdlLXRoaXMta2V5LWluLXByb2R1Y3Rpb24"],
    )
    credentials_key_previous: FurtherKey = Field(
        default="",
        description="The previous CREDENTIALS_KEY while its texts are re-encrypted",
        examples=["T2xkLWtleS1vZi10aGUtbGFzdC1yb3RhdGlvbi1oZXI"],
    )
    code_delivery_key: PurposeKey = Field(
        description="Key that encrypts one-time codes and their addresses for notifications, which has the same value",
        examples=["Q29kZS1kZWxpdmVyeS1rZXktc2hhcmVkLWJ5LXR3bw"],
    )
    code_delivery_key_previous: FurtherKey = Field(
        default="",
        description="The previous CODE_DELIVERY_KEY while its messages are re-encrypted",
        examples=["T2xkLWNvZGUtZGVsaXZlcnkta2V5LW9mLXR3bw"],
    )
    sealing_key: FurtherKey = Field(
        default="",
        description="The key that all services shared before each purpose had its own. Empty after its rotation",
        examples=["U2hhcmVkLWtleS1vZi10aGUtcmVsZWFzZS1iZWZvcmU"],
    )
    sealing_key_previous: FurtherKey = Field(
        default="",
        description="The previous SEALING_KEY. Empty after its rotation",
        examples=["T2xkZXItc2hhcmVkLWtleS1vZi1hbi1vbGQtcmVsZWE"],
    )
    referral_reward_minor: int = Field(
        default=50_000, ge=0, description="Reward of a referred user, in kobo. 0 pays nothing", examples=["50000"]
    )
    sms_countries: Countries = Field(
        default=("NG",),
        min_length=1,
        description="Countries whose mobile numbers are accepted, as ISO 3166 codes separated by commas",
        examples=["NG,GH"],
    )
    sms_budget_account_per_day: int = Field(
        default=20, ge=1, description="Codes by text that a signed-in user may request in a day", examples=["20"]
    )
    sms_budget_number_per_hour: int = Field(
        default=5, ge=1, description="Codes by text that may be requested for a number in an hour", examples=["5"]
    )
    sms_budget_number_per_day: int = Field(
        default=15, ge=1, description="Codes by text that may be requested for a number in a day", examples=["15"]
    )
    sms_budget_address_per_hour: int = Field(
        default=200,
        ge=1,
        description="Codes by text that an address may request in an hour; multiplied for RATE_SHARED_ADDRESSES",
        examples=["200"],
    )
    sms_budget_prefix_per_hour: int = Field(
        default=500,
        ge=1,
        description="Codes by text that are sent to a prefix in an hour: the country and the first three digits",
        examples=["500"],
    )
    sms_budget_total_per_hour: int = Field(
        default=5_000, ge=1, description="Codes by text that are sent in an hour in all", examples=["5000"]
    )
    passkey_rp_id: str = Field(
        default="",
        description="Domain that passkeys are bound to (WebAuthn relying party id). Empty: the host of BASE_URL",
        examples=["campus.example"],
    )
    passkey_origins: Annotated[tuple[str, ...], NoDecode] = Field(
        default=(),
        description="Origins on which passkeys may be used, separated by commas. Empty: the origin of BASE_URL",
        examples=["https://campus.example,https://shop.campus.example"],
    )
    oidc_allow_loopback: bool = Field(
        default=False,
        description="Whether identity providers may be on this machine, by http; for development only",
        examples=["false"],
    )
    oidc_providers: Annotated[tuple[OidcProviderEntry, ...], NoDecode] = Field(
        default=(),
        description="JSON list of the identity providers that staff sign in by: `{name, issuer, clientId, "
        "clientSecret, "
        "emailDomains, aal2Acr, groupsClaim}`. It holds secrets. `groupsClaim` is a claim whose groups are named as "
        "staff roles, or `{claim, roles: {GROUP: ROLE}}`; a group proposes its role, which two administrators grant",
        examples=[
            '[{"name": "school", "issuer": "https://login.school.example", "clientId": "campus", "clientSecret": '
            '"c2VjcmV0LW9mLXRoZS1jbGllbnQ", "emailDomains": ["school.example"], "aal2Acr": ["mfa"], '
            '"groupsClaim": {"claim": "groups", "roles": {"it-audit": "auditor"}}}]'
        ],
    )
    allowed_origins: Origins = Field(
        default=(),
        description="Origins that `returnTo` of a sign-in by an identity provider may lead to, such as the console's",
        examples=["https://console.campus.example"],
    )
    bootstrap_admin_email: str = Field(
        default="",
        description=(
            "Mail address of the first platform_admin, created at the first start. Empty: no account is created"
        ),
        examples=["root@campus.example"],
    )
    bootstrap_admin_password: str = Field(
        default="",
        description="Password of the first platform_admin, at least 10 characters",
        examples=["correct horse battery staple"],
    )
    demo_password: str = Field(
        default="", description="Password of every demo account, at least 10 characters", examples=["a demo password"]
    )
    demo_totp_vendor: DemoTotpSecret = ""
    demo_totp_vendor2: DemoTotpSecret = ""
    demo_totp_hub: DemoTotpSecret = ""
    demo_totp_support: DemoTotpSecret = ""
    demo_totp_campus: DemoTotpSecret = ""
    demo_totp_maker: DemoTotpSecret = ""
    demo_totp_checker: DemoTotpSecret = ""
    demo_totp_ops: DemoTotpSecret = ""
    demo_totp_auditor: DemoTotpSecret = ""
    demo_totp_admin: DemoTotpSecret = ""

    @field_validator("oidc_providers", mode="before")
    @classmethod
    def read_oidc_providers(cls, value: object) -> object:
        if not isinstance(value, str):
            return value
        try:
            return json.loads(value)
        except ValueError:
            # The error of the parser would show the text, which holds secrets.
            raise ValueError("must be a JSON list") from None

    @field_validator("oidc_providers")
    @classmethod
    def check_oidc_providers(
        cls, value: tuple[OidcProviderEntry, ...], context: ValidationInfo
    ) -> tuple[OidcProviderEntry, ...]:
        allow_loopback = context.data.get("oidc_allow_loopback", False)
        if not all(is_safe_to_fetch(entry.issuer, allow_loopback=allow_loopback) for entry in value):
            raise ValueError(
                "each issuer must be an https address (with OIDC_ALLOW_LOOPBACK also http on this machine)"
            )
        if len({entry.name for entry in value}) < len(value):
            raise ValueError("each name must be listed once")
        return value

    @field_validator("passkey_origins", mode="before")
    @classmethod
    def split_passkey_origins(cls, value: object) -> object:
        if not isinstance(value, str):
            return value
        return tuple(part.strip().rstrip("/") for part in value.split(",") if part.strip())

    @model_validator(mode="after")
    def passkeys_belong_to_their_site(self) -> Self:
        """Reject origins outside the relying party: a browser would refuse every passkey there."""
        for origin in self.relying_origins:
            host = urlsplit(origin).hostname or ""
            is_ours = host == self.relying_party_id or host.endswith(f".{self.relying_party_id}")
            if not origin.startswith("android:apk-key-hash:") and (origin != _origin_of(origin) or not is_ours):
                raise ValueError(f"PASSKEY_ORIGINS: {origin} is not an origin of {self.relying_party_id}")
        return self

    @property
    def relying_party_id(self) -> str:
        """The domain that passkeys are bound to: PASSKEY_RP_ID, or the host of BASE_URL."""
        return self.passkey_rp_id or urlsplit(self.base_url).hostname or ""

    @property
    def relying_origins(self) -> tuple[str, ...]:
        """The origins on which passkeys may be used: PASSKEY_ORIGINS, or the origin of BASE_URL."""
        return self.passkey_origins or (_origin_of(self.base_url),)

    @property
    def demo_totp_by_name(self) -> Mapping[str, str]:
        """The TOTP secrets (base32) of demo accounts by their name in secrets.env."""
        prefix = "demo_totp_"
        named = {
            name.removeprefix(prefix).upper(): getattr(self, name)
            for name in Settings.model_fields
            if name.startswith(prefix)
        }
        return {name: secret for name, secret in named.items() if secret}


def _origin_of(url: str) -> str:
    """Return the origin as a browser writes it, without a default port."""
    parts = urlsplit(url)
    port = None if parts.port == {"http": 80, "https": 443}.get(parts.scheme) else parts.port
    return f"{parts.scheme}://{parts.hostname}" + (f":{port}" if port else "")
