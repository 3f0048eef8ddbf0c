"""A shop that `npm create campus-storefront` makes, from the packed packages to a paid order in Chromium."""

import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import pytest
from playwright.async_api import Browser, expect

from campus_tools.launcher.system import System
from operations.journey import Marketplace
from tests.end_to_end.steps import a_product
from tests.running_system import new_address
from tests.storefront.shopper import fill_cart, new_shopper
from tests.storefront.site import ROOT, Site, served

pytestmark = pytest.mark.long


def npm(*arguments: str | Path, folder: Path) -> str:
    """Run npm in a folder. Raises AssertionError with the end of its output."""
    done = subprocess.run(
        ["npm", *arguments],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        env={**os.environ, "npm_config_audit": "false"},
    )
    assert done.returncode == 0, done.stdout[-3000:]
    return done.stdout


def create(packages: Path, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
    """Run the command of the installed package."""
    command = packages / "node_modules/.bin/create-campus-storefront"
    return subprocess.run([command, *arguments], cwd=packages, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def packages(node: None, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the client's tarball, and the installed tarball of the template."""
    folder = tmp_path_factory.mktemp("packages")
    subprocess.run([ROOT / "tools/storefront", "install"], check=True, capture_output=True)
    npm("pack", "--ignore-scripts", "--pack-destination", folder, folder=ROOT / "clients/typescript")
    npm("pack", "--pack-destination", folder, folder=ROOT / "clients/create-storefront")
    npm("install", "--offline", *folder.glob("create-campus-storefront-*.tgz"), folder=folder)
    return folder


@pytest.fixture(scope="module")
def shop(packages: Path, system: System) -> Path:
    """Return a created, installed and built shop of the running system."""
    [client] = packages.glob("campus-client-*.tgz")
    created = create(packages, "my-shop", "--api", system.base_url, "--client", client.name)
    assert created.returncode == 0, created.stderr
    folder = packages / "my-shop"
    npm("install", "--prefer-offline", folder=folder)
    npm("run", "build", folder=folder)
    return folder


@pytest.fixture(scope="module")
def shop_site(shop: Path) -> Iterator[Site]:
    with served(shop / "dist") as site:
        yield site


def test_the_packed_template_contains_no_path_of_the_repository(packages: Path) -> None:
    folder = packages / "node_modules/create-campus-storefront"
    assert {path.name for path in folder.iterdir()} >= {"LICENSE", "CHANGELOG.md", "README.md", "bin", "template"}
    readme = (folder / "template/README.md").read_text()
    assert "../" not in readme
    assert "make " not in readme.partition("## What it shows")[0]
    assert "paths" not in json.loads((folder / "template/tsconfig.json").read_text())["compilerOptions"]


def test_a_created_shop_passes_its_smoke_test(shop: Path, system: System) -> None:
    assert (shop / ".env").read_text() == f"VITE_API_URL={system.base_url}\n"
    project = json.loads((shop / "package.json").read_text())
    assert (project["name"], project["private"]) == ("my-shop", True)
    assert {".gitignore", ".npmrc", "package-lock.json"} <= {path.name for path in shop.iterdir()}
    assert "fail 0" in npm("run", "smoke", folder=shop)


async def test_a_buyer_signs_in_and_buys_at_a_created_shop(
    shop_site: Site, browser: Browser, market: Marketplace
) -> None:
    market.http.headers["X-Forwarded-For"] = new_address()
    student = await market.sign_up(
        f"shop.{uuid4().hex}@unilag.edu.ng", "Tobi Alabi", f"+234803{uuid4().int % 10**7:07d}"
    )
    product = await a_product(market)
    await fill_cart(market, student, product["id"])
    buyer = await new_shopper(browser, shop_site)
    try:
        await buyer.open("/sign-in?next=/cart")
        await buyer.fill("Mail address", student.email)
        await buyer.fill("Password", market.secrets["DEMO_PASSWORD"])
        await buyer.click("Sign in")
        await buyer.page.get_by_role("link", name="Check out ").click()
        await buyer.page.get_by_role("radio").first.check()
        await buyer.page.get_by_role("button", name="Pay ₦").click()
        await buyer.page.wait_for_url("**/pay/**")
        await buyer.page.get_by_role("button", name="Pay ").click()
        await buyer.page.wait_for_url("**/orders/**")
        await expect(buyer.page.get_by_test_id("pin")).to_be_visible()
        assert buyer.errors == []
    finally:
        await buyer.context.close()
