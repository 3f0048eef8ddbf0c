"""Audits of all services, recorded by the audit itself (contract section 13.3)."""

from typing import Annotated
from uuid import UUID

from fastapi import Depends, Query
from starlette.requests import Request
from starlette.responses import Response

from common.auth.caller import THE_SERVICE
from common.auth.guards import SERVICE_KEY, permission
from common.web.endpoint_table import MIB
from common.web.endpoints import Endpoints
from common.web.http import CurrentCaller, dependencies_of, ok
from common.web.pages import OffsetPage, offset_page, respond_offset_page
from payments.dependencies import Dependencies
from payments.domain.audits import Audit, AuditFinding, Verdict
from payments.queries.audits import find_audit, page_of_audits
from payments.responses import audits as responses
from payments.schemas import audits as schemas
from payments.use_cases.audits.record_audit import record_audit as record

endpoint = Endpoints("audits")


@endpoint("GET", "/api/audits", id="audits.list", returns=list[responses.Audit], allow=permission("audits:read"))
async def list_audits(
    request: Request,
    caller: CurrentCaller,
    page: Annotated[OffsetPage, Depends(offset_page("created_at"))],
    verdict: Annotated[Verdict | None, Query()] = None,
) -> Response:
    """Return the audits with their findings, newest first."""
    dependencies = dependencies_of(request, Dependencies)
    async with dependencies.database.unit_of_work(acting_as=caller) as uow:
        found = await page_of_audits(uow, page, verdict)
    return respond_offset_page(request, page, found)


@endpoint("GET", "/api/audits/{audit_id}", id="audits.get", returns=responses.Audit, allow=permission("audits:read"))
async def get_audit(request: Request, caller: CurrentCaller, audit_id: UUID) -> Response:
    """Return one audit with its findings."""
    dependencies = dependencies_of(request, Dependencies)
    async with dependencies.database.unit_of_work(acting_as=caller) as uow:
        audit = await find_audit(uow, audit_id)
    return ok(request, audit)


@endpoint(
    "POST",
    "/functions/v1/record-audit",
    id="functions.recordAudit",
    returns=responses.Audit,
    allow=SERVICE_KEY,
    body_bytes_max=MIB,
)
async def record_audit(request: Request, body: schemas.RecordAuditRequest) -> Response:
    """Record the result of an audit once by its id. A broken one alerts the on-call staff."""
    dependencies = dependencies_of(request, Dependencies)
    findings = tuple(AuditFinding(**finding.model_dump()) for finding in body.findings)
    audit = Audit(body.id, body.started_at, body.finished_at, body.gateway_reason, findings)
    async with dependencies.database.unit_of_work(acting_as=THE_SERVICE) as uow:
        await record(uow, audit, dependencies.clock.now())
        recorded = await find_audit(uow, audit.id)
    return ok(request, recorded)
