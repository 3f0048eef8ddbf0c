"""The payment gateways that this service can use. The name is stored with all objects of a gateway."""

from typing import Final, Literal

GatewayName = Literal["paystack", "flutterwave"]
PAYSTACK: Final[GatewayName] = "paystack"
FLUTTERWAVE: Final[GatewayName] = "flutterwave"
