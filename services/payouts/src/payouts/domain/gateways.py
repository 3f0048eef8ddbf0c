"""The payment gateways that this service can use. The name is stored with each attempt."""

from typing import Final, Literal

GatewayName = Literal["paystack", "flutterwave"]
PAYSTACK: Final[GatewayName] = "paystack"
FLUTTERWAVE: Final[GatewayName] = "flutterwave"
# These report a transfer that the bank returned as failed, and have no word for a reversal.
REPORT_REVERSAL_AS_FAILURE: Final[frozenset[GatewayName]] = frozenset({FLUTTERWAVE})
