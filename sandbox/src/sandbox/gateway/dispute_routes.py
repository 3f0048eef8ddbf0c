"""The calls about disputes: show, list, evidence, upload, resolve."""

from sqlite3 import Row
from typing import Any

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from sandbox.clock import now_text
from sandbox.faults import respond_with_faults
from sandbox.gateway.codes import INTEGRATION
from sandbox.gateway.disputes import DISPUTES, add_evidence, find_dispute, reserve_file, respond
from sandbox.gateway.events import dispute_view
from sandbox.gateway.fields import read_amount_minor, read_text, row_id
from sandbox.gateway.paging import respond_page
from sandbox.web import RefusedError, ok, read_body, read_json, refused
from sandbox.world import world_of

EVIDENCE_REQUIRED = ("customer_email", "customer_name", "customer_phone", "service_details")
EVIDENCE_OPTIONAL = ("delivery_address", "delivery_date")
RESOLVED_FIELDS = (
    "currency", "last4", "bin", "transaction_reference", "refund_amount", "status", "domain", "resolution", "category",
    "note", "attachments", "id", "evidence", "resolvedAt", "createdAt", "updatedAt", "dueAt",
)  # fmt: skip
RESOLUTIONS = ("merchant-accepted", "declined")


async def show_dispute(request: Request) -> Response:
    """Return a dispute in its present state."""
    world = world_of(request)

    def work(_fault: object) -> Response:
        return ok("Dispute retrieved", dispute_view(_dispute_of(request)))

    return await respond_with_faults(request, world.faults, "verify_call", (request.path_params["id"],), work, refused)


async def list_disputes(request: Request) -> Response:
    given = request.query_params
    conditions = [
        ("listed.status = ?", given.get("status")),
        ("listed.transaction_id = ?", given.get("transaction")),
        ("gateway = ?", "paystack"),
    ]
    return await respond_page(request, "Disputes retrieved", DISPUTES, conditions, dispute_view)


async def create_evidence(request: Request) -> Response:
    world = world_of(request)
    body = await read_json(request)
    content = {name: read_text(body, name) for name in EVIDENCE_REQUIRED}
    content |= {name: body[name] for name in EVIDENCE_OPTIONAL if body.get(name)}

    def work(_fault: object) -> Response:
        evidence = add_evidence(world, _dispute_of(request), content)
        view = {"dispute": evidence["dispute_id"], "id": evidence["id"]}
        times = {"createdAt": evidence["created_at"], "updatedAt": evidence["created_at"]}
        return ok("Evidence created", {**msgspec.json.decode(evidence["content"]), **view, **times})

    return await respond_with_faults(request, world.faults, "dispute_call", (request.path_params["id"],), work, refused)


async def show_upload_url(request: Request) -> Response:
    world = world_of(request)

    def work(_fault: object) -> Response:
        file_name = reserve_file(world.database, _dispute_of(request))
        address = f"{world.settings.base_url}/uploads/{file_name}"
        return ok("Upload url generated", {"signedUrl": address, "fileName": file_name})

    return await respond_with_faults(request, world.faults, "dispute_call", (request.path_params["id"],), work, refused)


async def receive_upload(request: Request) -> Response:
    """Return the file store of the signed address: its name is the permission."""
    body = await read_body(request)
    database = world_of(request).database
    file_name = request.path_params["file_name"]
    if database.one("SELECT 1 FROM dispute_files WHERE file_name = ?", file_name) is None or not body:
        return Response(status_code=403)
    database.run("UPDATE dispute_files SET content = ? WHERE file_name = ?", body, file_name)
    return Response()


async def resolve_dispute(request: Request) -> Response:
    world = world_of(request)
    body = await read_json(request)
    resolution = read_text(body, "resolution")
    if resolution not in RESOLUTIONS:
        raise RefusedError(400, "resolution must be merchant-accepted or declined")
    message = read_text(body, "message")
    file_name = read_text(body, "uploaded_filename")
    amount_minor = 0 if body.get("refund_amount") in (0, "0") else read_amount_minor(body.get("refund_amount"))
    evidence = body.get("evidence")

    def work(_fault: object) -> Response:
        dispute = _dispute_of(request)
        return ok(
            "Dispute successfully resolved",
            _resolved_view(respond(world, dispute, resolution, message, amount_minor, file_name, evidence)),
        )

    return await respond_with_faults(request, world.faults, "dispute_call", (request.path_params["id"],), work, refused)


def _dispute_of(request: Request) -> Row:
    number = row_id(request.path_params["id"])
    dispute = None if number is None else find_dispute(world_of(request).database, number)
    if dispute is None or dispute["gateway"] != "paystack":
        raise RefusedError(404, "Dispute not found")
    return dispute


def _resolved_view(dispute: Row) -> dict[str, Any]:
    """Return the flat form that the resolution returns: the transaction as its id, and the message that was sent."""
    full = dispute_view(dispute)
    now = now_text()
    return {
        **{name: full[name] for name in RESOLVED_FIELDS},
        "merchant_transaction_reference": dispute["reference"],
        "integration": INTEGRATION,
        "transaction": dispute["transaction_id"],
        "created_by": dispute["customer_id"],
        "message": {
            "dispute": dispute["id"],
            "sender": "merchant@sandbox.example",
            "body": dispute["message"],
            "id": dispute["id"],
            "createdAt": now,
            "updatedAt": now,
        },
    }
