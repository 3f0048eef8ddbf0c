"""A list refuses an order that it does not know, an operation without a body refuses fields, and what cannot be read is called so."""

from collections.abc import AsyncIterator
from typing import Annotated

import httpx
import pytest
import pytest_asyncio
from fastapi import Depends
from starlette.requests import Request
from starlette.responses import Response

from campus_tools.service_kit import BASE_URL, issuing
from common.clock import SystemClock
from common.http import (
    LIMIT_DEFAULT,
    Cursor,
    HttpContext,
    Limit,
    OffsetPage,
    RequestScope,
    create_app,
    guarded_router,
    offset_page,
    ok,
    public,
    signed_in,
)
from common.ids import new_id
from common.refusals import INVALID_PARAMS_MAX
from common.schemas import RequestBody
from common.tokens import Revocations, TokenVerifier
from common.verification_keys import KeySet

router = guarded_router()


class Named(RequestBody):
    name: str


@router.get("/by-cursor")
@public
async def by_cursor(request: Request, limit: Limit = LIMIT_DEFAULT, cursor: Cursor = None) -> Response:
    return ok(request, [])


@router.get("/by-page")
@public
async def by_page(
    request: Request, page: Annotated[OffsetPage, Depends(offset_page("created_at", "total"))]
) -> Response:
    return ok(request, page.sort)


@router.get("/no-list")
@public
async def no_list(request: Request) -> Response:
    return ok(request, "here")


@router.post("/no-body")
@signed_in
async def no_body(request: Request) -> Response:
    return ok(request, "done")


@router.post("/body")
@signed_in
async def with_body(request: Request, body: Named) -> Response:
    return ok(request, body.name)


@pytest_asyncio.fixture(loop_scope="session")
async def client() -> AsyncIterator[httpx.AsyncClient]:
    clock = SystemClock()
    async with issuing() as issuer:
        verifier = TokenVerifier(
            KeySet(issuer.jwks_url, clock), issuer=BASE_URL, clock=clock, revocations=Revocations()
        )
        context = HttpContext(verifier, clock, BASE_URL)
        app = RequestScope(create_app(title="test", routers=[router], context=context, dependencies=None))
        headers = {"Authorization": f"Bearer {issuer.token(new_id())}", "Content-Type": "application/json"}
        transport = httpx.ASGITransport(app=app, raise_app_exceptions=False)
        async with httpx.AsyncClient(transport=transport, base_url="http://service", headers=headers) as client:
            yield client


@pytest.mark.parametrize(
    ("target", "status"),
    [
        ("/by-cursor", 200),
        ("/by-cursor?sort=created_at", 200),
        ("/by-cursor?sort=zzz", 422),
        ("/by-cursor?sort=", 422),
        ("/by-cursor?sort=created_at&sort=zzz", 422),
        ("/by-cursor?unknown=zzz", 200),
        ("/by-page?sort=total", 200),
        ("/by-page?sort=zzz", 422),
        ("/no-list?sort=zzz", 200),
    ],
)
async def test_a_list_refuses_an_order_that_it_does_not_know(client, target, status):
    answer = await client.get(target)
    assert answer.status_code == status
    if status == 422:
        assert [param["name"] for param in answer.json()["invalid_params"]] == ["sort"]


@pytest.mark.parametrize(
    ("body", "named"),
    [
        (b"", None),
        (b"{}", None),
        (b' {"note": 1}', "note"),
        (b"[]", "body"),
        (b"null", "body"),
        (b"{", "body"),
        (b"\xff", "body"),
        (b"[" * 50_000, "body"),
    ],
)
async def test_an_operation_without_a_body_refuses_whatever_is_said_to_it(client, body, named):
    answer = await client.post("/no-body", content=body)
    assert answer.status_code == (200 if named is None else 422)
    if named is not None:
        assert [param["name"] for param in answer.json()["invalid_params"]] == [named]


@pytest.mark.parametrize("body", [b"[" * 50_000, b'{"name": "\xff"}', b'{"name": 1' + b"0" * 10_000 + b"}"])
async def test_a_body_that_cannot_be_read_is_named(client, body):
    answer = await client.post("/body", content=body)
    assert (answer.status_code, answer.json()["code"]) == (422, "VALIDATION_FAILED")
    assert [param["name"] for param in answer.json()["invalid_params"]] == ["body"]


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32"])
async def test_a_body_has_the_one_encoding_that_the_edge_reads_too(client, encoding):
    for path in ("/body", "/no-body"):
        answer = await client.post(path, content='{"name": "x"}'.encode(encoding))
        assert answer.status_code == 422
        assert answer.json()["invalid_params"][0]["name"] == "body"


async def test_a_refusal_is_never_longer_than_a_page_however_many_faults_a_body_has(client):
    fields = ",".join(f'"f{number}": 1' for number in range(5_000))
    answer = await client.post("/body", content=f'{{{fields}, "{"x" * 50_000}": 1}}')
    assert answer.status_code == 422
    assert len(answer.json()["invalid_params"]) == INVALID_PARAMS_MAX
    assert len(answer.content) < 16 * 1024
    assert len((await client.post("/body", content=f'{{"{"x" * 50_000}": 1}}')).content) < 16 * 1024
