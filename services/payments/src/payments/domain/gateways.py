"""The payment gateways that this service can use. The name is stored with everything that a gateway took."""

from typing import Final, Literal

GatewayName = Literal["paystack", "flutterwave"]
PAYSTACK: Final[GatewayName] = "paystack"
FLUTTERWAVE: Final[GatewayName] = "flutterwave"
