"""Flutterwave's rows and responses, as its documentation shows them."""

from decimal import Decimal
from typing import Any

from testkit.providers.flutterwave import transfers

PAID: dict[str, Any] = {
    "id": 8415006,
    "tx_ref": "ch-1",
    "flw_ref": "FLW-REF-1",
    "amount": 2500,
    "currency": "NGN",
    "charged_amount": 2500,
    "app_fee": 35,
    "merchant_fee": 0,
    "processor_response": "Approved",
    "auth_model": "NOAUTH",
    "ip": "54.0.0.1",
    "narration": "CARD Transaction",
    "status": "successful",
    "payment_type": "card",
    "created_at": "2025-02-27T18:29:34.000Z",
    "account_id": 20937,
    "meta": {"orderId": "order-1", "settlement": "250000"},
    "amount_settled": Decimal("2462.37"),
    "customer": {"id": 1, "name": None, "phone_number": None, "email": "buyer@unilag.edu.ng"},
}
REFUND: dict[str, Any] = {
    "id": 75923,
    "account_id": 73362,
    "tx_id": 908790,
    "flw_ref": "URF_1",
    "wallet_id": 74639,
    "amount_refunded": 6900,
    "status": "completed",
    "destination": "payment_source",
    "meta": {"source": "availablebalance"},
    "created_at": "2021-01-24T09:18:37.366Z",
}
TRANSFER = transfers.EXAMPLE
CHARGEBACK: dict[str, Any] = {
    "id": 2221,
    "amount": 3000,
    "flw_ref": "0550726510071683619721660",
    "status": "lost",
    "stage": "pre-arbitration",
    "comment": "Product/service not received",
    "meta": {"uploaded_proof": None, "history": [{"action": "lost", "description": "No merchant response"}]},
    "due_date": "2024-08-03T15:59:59.000Z",
    "settlement_id": "N/A",
    "created_at": "2024-08-01T16:58:20.000Z",
    "transaction_id": 674630970,
    "tx_ref": "ch-1",
}
SETTLED: dict[str, Any] = {
    "id": 41_748,
    "settlement_account": "0031318432",
    "bank_code": "063",
    "due_date": "2026-01-01T04:00:00.000Z",
    "status": "completed",
    "currency": "NGN",
    "gross_amount": 1_220,
    "app_fee": 21.08,
    "merchant_fee": 0,
    "chargeback": 0,
    "refund": 0,
    "stampduty_charge": 0,
    "net_amount": 1_198.92,
    "disburse_ref": None,
    "destination": "account",
    "created_at": "2026-01-02T01:30:00.000Z",
}


def page_of(*rows: Any) -> dict[str, Any]:
    page_info = {"total": len(rows), "current_page": 1, "total_pages": 1}
    return {"status": "success", "message": "fetched", "meta": {"page_info": page_info}, "data": list(rows)}


def success(data: Any) -> dict[str, Any]:
    return {"status": "success", "message": "ok", "data": data}


def error(message: str) -> dict[str, Any]:
    return {"status": "error", "message": message, "data": None}
