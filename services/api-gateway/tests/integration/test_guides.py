"""The documentation site under /guides: a folder of files, or a clear error without it."""

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import httpx
import pytest

from api_gateway.guides import Guides

from .conftest import GatewayApp, edge_served, problem_of

PAGE = "<!doctype html><title>Orders</title>" + "<p>An order has one vendor.</p>" * 100


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    site = tmp_path / "guides"
    (site / "contract").mkdir(parents=True)
    (site / "index.html").write_text("<!doctype html><title>Guides</title>")
    (site / "orders.html").write_text(PAGE)
    (site / "contract/06-orders.html").write_text("<!doctype html><title>6. Orders</title>")
    (site / "404.html").write_text("<!doctype html><title>No such page</title><nav>All pages</nav>")
    (site / "search.json").write_text("[]")
    (site / "index.md").write_text("# Guides")
    (site / "contract/06-orders.md").write_text("# 6. Orders")
    (site / "llms.txt").write_text("# Campus\n\n- [Orders](http://localhost:8080/guides/orders.md)")
    (tmp_path / "secret.html").write_text("outside")
    return site


def only(guides: Guides) -> SimpleNamespace:
    """Return pages of a gateway that has the guides alone."""
    return SimpleNamespace(find=lambda path, _accept: guides.find(path))


@pytest.fixture
async def client(app: GatewayApp, folder: Path) -> AsyncIterator[httpx.AsyncClient]:
    async with (
        edge_served(replace(app.dependencies.edge, pages=only(Guides(folder, "https://shop.example")))) as port,
        httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", trust_env=False, timeout=60) as client,
    ):
        yield client


@pytest.mark.parametrize(
    ("path", "title"),
    [
        ("/guides", "Guides"),
        ("/guides/", "Guides"),
        ("/guides/orders", "Orders"),
        ("/guides/orders/", "Orders"),
        ("/guides/contract/06-orders", "6. Orders"),
    ],
)
async def test_a_page_has_a_path_without_its_file_s_ending(client: httpx.AsyncClient, path: str, title: str) -> None:
    page = await client.get(path)
    assert (page.status_code, page.headers["content-type"]) == (200, "text/html; charset=utf-8")
    assert f"<title>{title}</title>" in page.text
    assert "script-src 'self';" in page.headers["content-security-policy"]


@pytest.mark.parametrize(
    ("path", "text"), [("/guides.md", "# Guides"), ("/guides/contract/06-orders.md", "# 6. Orders")]
)
async def test_a_page_is_markdown_at_its_path_with_that_ending(client: httpx.AsyncClient, path: str, text: str) -> None:
    page = await client.get(path)
    assert (page.status_code, page.headers["content-type"]) == (200, "text/markdown; charset=utf-8")
    assert page.text == text


async def test_the_list_for_programs_names_this_gateway(client: httpx.AsyncClient) -> None:
    listed = await client.get("/llms.txt")
    assert (listed.status_code, listed.headers["content-type"]) == (200, "text/plain; charset=utf-8")
    assert "(https://shop.example/guides/orders.md)" in listed.text


async def test_a_page_is_compressed_and_revalidated(client: httpx.AsyncClient) -> None:
    page = await client.get("/guides/orders", headers={"Accept-Encoding": "gzip"})
    assert (page.headers["content-encoding"], page.text) == ("gzip", PAGE)
    again = await client.get("/guides/orders", headers={"If-None-Match": page.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")


async def test_a_changed_page_is_read_again(client: httpx.AsyncClient, folder: Path) -> None:
    before = await client.get("/guides/orders")
    (folder / "orders.html").write_text("<!doctype html><title>Changed</title>")
    changed = await client.get("/guides/orders", headers={"If-None-Match": before.headers["etag"]})
    assert (changed.status_code, changed.text) == (200, "<!doctype html><title>Changed</title>")


@pytest.mark.parametrize(
    "path",
    [
        "/guides/nothing", "/guides/contract", "/guides/../secret", "/guides/..%2fsecret", "/guides//orders",
        "/guides/orders.html",
        "/guides/contract/../orders", "/guides/Orders", "/guides/orders%00", "/guides/nothing.md",
        "/guides/orders.md.md",
    ],
)  # fmt: skip
async def test_an_unknown_path_gets_the_site_s_own_page(client: httpx.AsyncClient, folder: Path, path: str) -> None:
    request = client.build_request("GET", "/guides")
    request.extensions["target"] = path.encode()
    page = await client.send(request)
    assert (page.status_code, page.text) == (404, (folder / "404.html").read_text())
    assert page.headers["cache-control"] == "no-store"
    assert "etag" not in page.headers


async def test_the_search_index_is_json(client: httpx.AsyncClient) -> None:
    index = await client.get("/guides/search.json")
    assert (index.status_code, index.headers["content-type"], index.json()) == (200, "application/json", [])


@pytest.mark.parametrize("path", ["/guides", "/guides/orders", "/guides/search.json", "/llms.txt"])
async def test_without_the_built_site_the_error_names_its_command(app: GatewayApp, tmp_path: Path, path: str) -> None:
    async with (
        edge_served(replace(app.dependencies.edge, pages=only(Guides(tmp_path / "absent")))) as port,
        httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", trust_env=False, timeout=60) as client,
    ):
        missing = await client.get(path)
    assert missing.status_code == 404
    assert "`make guides`" in problem_of(missing)["detail"]


async def test_the_guides_are_not_counted(client: httpx.AsyncClient) -> None:
    remaining = {(await client.get("/guides/orders")).headers["ratelimit-remaining"] for _ in range(3)}
    assert len(remaining) == 1
