"""What the identity service is told by its environment."""

from collections.abc import Mapping

from pydantic import Field

from common.settings import ServiceSettings


class Settings(ServiceSettings):
    """The service's own variables. Demo and bootstrap secrets may be absent: then there is nothing of that kind."""

    sealing_key: str = Field(min_length=16)
    referral_reward_minor: int = Field(default=50_000, ge=0)
    bootstrap_admin_email: str = ""
    bootstrap_admin_password: str = ""
    demo_password: str = ""
    demo_totp_vendor: str = ""
    demo_totp_vendor2: str = ""
    demo_totp_hub: str = ""
    demo_totp_support: str = ""
    demo_totp_campus: str = ""
    demo_totp_maker: str = ""
    demo_totp_checker: str = ""
    demo_totp_ops: str = ""
    demo_totp_auditor: str = ""
    demo_totp_admin: str = ""

    @property
    def demo_totp_by_name(self) -> Mapping[str, str]:
        """The TOTP secrets (base32) of the demo accounts that have one, by the name that stands in secrets.env."""
        prefix = "demo_totp_"
        named = {
            name.removeprefix(prefix).upper(): getattr(self, name)
            for name in Settings.model_fields
            if name.startswith(prefix)
        }
        return {name: secret for name, secret in named.items() if secret}
