"""Everything under /control, and the pages for developers."""

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Mount, Route

from sandbox.control.movements import list_accounts, list_movements, put_account, show_balance
from sandbox.control.switches import (
    change_charge,
    change_dispute,
    change_refund,
    change_transfer,
    delete_faults,
    make_settlement,
    put_faults,
    put_gateway_keys,
    put_settings,
    show_evidence,
    show_faults,
    show_settings,
)
from sandbox.control.views import (
    clear_messages,
    show_inbox,
    show_messages,
    show_trace,
    show_trace_list,
    show_trace_list_page,
    show_trace_page,
)
from sandbox.control.webhooks import list_webhooks, resend_webhook, resend_webhooks, send_webhook
from sandbox.sinks.message_templates import review_template
from sandbox.sinks.messaging import receive_incoming, report_status
from sandbox.web import JsonResponse


async def health(_request: Request) -> Response:
    return JsonResponse({"status": "ok"})


ROUTES = [
    Route("/health", health, methods=["GET"]),
    Route("/health/readiness", health, methods=["GET"]),
    Route("/", show_inbox, methods=["GET"]),
    Route("/traces", show_trace_list_page, methods=["GET"]),
    Route("/traces/{trace_id}", show_trace_page, methods=["GET"]),
    Mount(
        "/control",
        routes=[
            Route("/book", show_balance, methods=["GET"]),
            Route("/book/movements", list_movements, methods=["GET"]),
            Route("/accounts", list_accounts, methods=["GET"]),
            Route("/accounts", put_account, methods=["PUT"]),
            Route("/faults", show_faults, methods=["GET"]),
            Route("/faults", put_faults, methods=["PUT"]),
            Route("/faults", delete_faults, methods=["DELETE"]),
            Route("/gateway-keys", put_gateway_keys, methods=["PUT"]),
            Route("/settings", show_settings, methods=["GET"]),
            Route("/settings", put_settings, methods=["PUT"]),
            Route("/transfers/{reference}/{act}", change_transfer, methods=["POST"]),
            Route("/refunds/{id}/{act}", change_refund, methods=["POST"]),
            Route("/charges/{reference}/{act}", change_charge, methods=["POST"]),
            Route("/disputes/{id}/evidence", show_evidence, methods=["GET"]),
            Route("/disputes/{id}/{act}", change_dispute, methods=["POST"]),
            Route("/settlements", make_settlement, methods=["POST"]),
            Route("/messages", show_messages, methods=["GET"]),
            Route("/messages", clear_messages, methods=["DELETE"]),
            Route("/messaging/incoming", receive_incoming, methods=["POST"]),
            Route("/messaging/statuses", report_status, methods=["POST"]),
            Route("/messaging/templates/{name}/{act}", review_template, methods=["POST"]),
            Route("/traces", show_trace_list, methods=["GET"]),
            Route("/traces/{trace_id}", show_trace, methods=["GET"]),
            Route("/webhooks", list_webhooks, methods=["GET"]),
            Route("/webhooks/send", send_webhook, methods=["POST"]),
            Route("/webhooks/resend", resend_webhooks, methods=["POST"]),
            Route("/webhooks/{id}/resend", resend_webhook, methods=["POST"]),
        ],
    ),
]
