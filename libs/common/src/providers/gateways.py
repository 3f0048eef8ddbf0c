"""The payment gateways that payments and payouts can use. A name is stored with all objects of its gateway."""

from typing import Final, Literal

GatewayName = Literal["paystack", "flutterwave"]
PAYSTACK: Final[GatewayName] = "paystack"
FLUTTERWAVE: Final[GatewayName] = "flutterwave"
