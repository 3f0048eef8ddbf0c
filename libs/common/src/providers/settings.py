"""The settings of the payment gateways, which payments and payouts share."""

from typing import Self

from pydantic import BaseModel, Field, model_validator

from common.primitives.web_origins import HttpAddress
from providers.gateways import FLUTTERWAVE, PAYSTACK, GatewayName


class GatewaySettings(BaseModel):
    """The addresses of the gateways' APIs, the key of Flutterwave's, and the gateway of new work."""

    gateway_api_url: HttpAddress = Field(
        description="The base address of the payment gateway's API", examples=["https://api.gateway.example"]
    )
    gateway_provider: GatewayName = Field(
        default=PAYSTACK,
        description="The gateway of new payments and transfers: `paystack` or `flutterwave`. Those of the other one, "
        "with refunds and disputes, continue there while its secret key is set",
        examples=["paystack"],
    )
    flutterwave_api_url: HttpAddress = Field(
        default="https://api.flutterwave.com/v3",
        description="The base address of Flutterwave's API, with its version",
        examples=["https://api.flutterwave.com/v3"],
    )
    flutterwave_secret_key: str = Field(
        default="",
        description="The secret key that authenticates calls to Flutterwave; empty: this gateway is not used",
        examples=["FLWSECK-0123456789abcdef-X"],
    )

    @model_validator(mode="after")
    def _has_key_of_provider(self) -> Self:
        if self.gateway_provider == FLUTTERWAVE and not self.flutterwave_secret_key:
            raise ValueError("FLUTTERWAVE_SECRET_KEY is empty, and GATEWAY_PROVIDER is flutterwave")
        return self
