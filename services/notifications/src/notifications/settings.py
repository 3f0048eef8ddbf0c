"""What the notifications service is told, beyond what every service is told."""

from typing import Self

from pydantic import Field, model_validator

from common.settings import ServiceSettings
from notifications.domain.alerts import PAGERDUTY_PATH


class Settings(ServiceSettings):
    """Providers and keys. The default of `SMS_API_KEY` is a word that every real company refuses, aloud, with 401."""

    sealing_key: str = Field(min_length=16)
    sms_api_url: str = Field(pattern="^https?://")
    sms_api_key: str = Field(default="not-set", min_length=1)
    sms_sender: str = Field(default="Campus", min_length=3, max_length=11)
    smtp_url: str = Field(pattern="^smtp(s|\\+starttls)?://")
    mail_from: str = Field(default="Campus Marketplace <no-reply@campus.example>", min_length=3)
    on_call_url: str = Field(default="", pattern="^(https?://.*)?$")
    on_call_key: str = ""

    @model_validator(mode="after")
    def know_where_to_page(self) -> Self:
        """PagerDuty takes an event only with the routing key of the service that is on call."""
        if self.on_call_url.rstrip("/").endswith(PAGERDUTY_PATH) and not self.on_call_key:
            raise ValueError("ON_CALL_KEY (the routing key) is needed when ON_CALL_URL is PagerDuty's")
        return self
