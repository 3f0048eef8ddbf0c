"""The documentation site: complete, without broken links, small, and without scripts or styles in a page."""

import json
import re
import shutil
import subprocess
import sys
from importlib.metadata import distribution
from pathlib import Path

import pytest

from campus_tools.guides.rendering import render_page
from campus_tools.guides.site import (
    DOCS,
    GUIDES,
    BrokenLink,
    SitePage,
    address_of,
    build_site,
    check_links,
    pages_of,
    read_chapters,
)
from notifications.assistant.domain.documentation import read_sections, search_sections
from tests.architecture.sources import ROOT

PAGE_BYTES_MAX = 100_000


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the site by the commands of its stage of the Dockerfile, from that stage's files and packages alone."""
    folder = tmp_path_factory.mktemp("build")
    [section] = re.findall(
        r"^FROM builder AS guides\n(.*?)^FROM ", (ROOT / "deploy/Dockerfile").read_text(), re.M | re.S
    )
    for source, target in re.findall(r"^COPY (\S+) (\S+)$", section, re.MULTILINE):
        copy_of_context(source, folder / "site" / target)
    [names] = re.findall(r"requirements_of\.py (\.\./requirements\.lock .*?) >", section)
    put_requirements(names.replace("../", "").split(), folder / "site/packages")
    [path] = re.findall(r"^ENV PYTHONPATH=(\S+)$", section, re.MULTILINE)
    [commands] = re.findall(r"^RUN (python -m .*)$", section, re.MULTILINE)
    # Without site packages: what the stage does not install is absent.
    words = commands.replace("/build/", f"{folder}/").replace("python ", f"{sys.executable} -S ")
    subprocess.run(words, shell=True, check=True, cwd=folder / "site", env={"PYTHONPATH": path})
    return folder / "guides"


def copy_of_context(source: str, target: Path) -> None:
    """Copy a file or folder of the build context: `.dockerignore` names what belongs to it."""
    lines = (ROOT / ".dockerignore").read_text().split()
    listed = tuple(line[1:] for line in lines if line.startswith("!"))
    for file in [ROOT / source, *(ROOT / source).rglob("*")]:
        name = f"{file.relative_to(ROOT)}/"
        if file.is_file() and "__pycache__" not in name and any(name.startswith(f"{line}/") for line in listed):
            copy = target / file.relative_to(ROOT / source) if file != ROOT / source else target / file.name
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(file, copy)


def put_requirements(names: list[str], folder: Path) -> None:
    """Put the named part of the lock into a folder, from the packages of this environment."""
    folder.mkdir()
    command = [sys.executable, ROOT / "deploy/requirements_of.py", *names]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    for name in re.findall(r"^([\w.-]+)==", listed, re.MULTILINE):
        files = distribution(name).files or []
        for top in {file.parts[0] for file in files if file.parts[0] != ".."}:
            (folder / top).symlink_to(distribution(name).locate_file(top))


def file_of(site: Path, address: str) -> Path:
    page = address.removesuffix(".md")
    ending = "html" if page == address else "md"
    return site / f"{page.removeprefix('/guides').strip('/') or 'index'}.{ending}"


def page_from(file: str, source: str) -> SitePage:
    return SitePage(file, address_of(file), render_page(source, file, address_of), source)


def test_each_guide_is_in_the_list_of_guides() -> None:
    assert sorted(GUIDES) == sorted(path.stem for path in (DOCS / "guides").glob("*.md"))


def test_no_link_of_the_site_is_broken() -> None:
    check_links(pages_of(read_chapters()))


@pytest.mark.parametrize("link", ["absent.md", "a.md#absent", "#absent", "../contract/absent.md"])
def test_a_broken_link_is_named(link: str) -> None:
    with pytest.raises(BrokenLink, match=r"guides/a\.md links to"):
        check_links([page_from("guides/a.md", f"# A\n\nSee [b]({link}).")])


def test_a_link_to_a_heading_is_checked_by_its_anchor() -> None:
    check_links(
        [page_from("guides/a.md", "# A\n\n[here](#the-second-part-1)\n\n## The second part\n\n## The second part")]
    )


def test_a_link_to_a_file_outside_the_site_is_text_with_its_place() -> None:
    page = render_page("# A\n\n[the runbooks](../runbooks/README.md)", "guides/a.md", lambda file: None)
    assert '<span title="In the repository: docs/runbooks/README.md">the runbooks</span>' in page.html


def test_each_page_of_the_site_links_to_pages_that_exist(site: Path) -> None:
    pages = [path.read_text() for path in site.rglob("*.html")]
    addresses = {address for page in pages for address in re.findall(r'href="(/guides[^"#]*)', page)}
    assert len(addresses) > 15
    assert [address for address in addresses if not file_of(site, address).exists()] == []


def test_each_result_of_the_search_links_to_a_heading(site: Path) -> None:
    entries = json.loads((site / "search.json").read_text())
    assert {entry["u"].split("/")[1].partition("#")[0] for entry in entries} == {"docs", "errors", "events", "guides"}
    for entry in entries:
        address, _, anchor = entry["u"].partition("#")
        if address.startswith("/guides") and anchor:
            assert f'id="{anchor}"' in file_of(site, address).read_text(), entry["u"]


def test_no_page_has_a_script_or_style_of_its_own_or_is_large(site: Path) -> None:
    pages = sorted(site.rglob("*.html"))
    assert len(pages) > 15
    for path in pages:
        text = path.read_text()
        assert not re.search(r"<style|<script(?! src)|\s(?:on\w+|style)=|(?:src|<link[^>]* href)=\"http", text), path
        assert len(text.encode()) <= PAGE_BYTES_MAX, path


def test_the_changelog_is_a_page_and_a_markdown_file(site: Path) -> None:
    page = (site / "changelog.html").read_text()
    assert '<h4 id="for-integrators">For integrators</h4>' in page
    assert '<a href="/guides/changelog" aria-current="page">Changelog</a>' in page
    assert "# Changelog" in (site / "changelog.md").read_text()
    assert "/guides/changelog.md" in (site / "llms.txt").read_text()


def test_a_rebuild_of_the_same_pages_keeps_the_folder_that_a_gateway_serves(site: Path) -> None:
    folder = site.stat().st_ino
    build_site(site)
    assert site.stat().st_ino == folder


def test_a_rebuild_removes_deleted_pages(site: Path) -> None:
    neighbours = sorted(site.parent.iterdir())
    (site / "gone.html").write_text("gone")
    build_site(site)
    assert not (site / "gone.html").exists()
    assert (site / "index.html").exists()
    assert sorted(site.parent.iterdir()) == neighbours


def test_the_tool_for_programs_finds_sections_with_the_address_of_their_markdown(site: Path) -> None:
    sections = read_sections((site / "search.json").read_bytes(), "http://localhost:8080")
    listed = re.findall(r"\((http://\S+\.md)\)", (site / "llms.txt").read_text())
    assert {section.address for section in sections} == set(listed)
    for query, page in (
        ("Idempotency-Key", "contract/03-idempotency"),
        ("verify the signature of a webhook", "webhooks"),
        ("how long is an access token valid", "sessions"),
    ):
        found = search_sections(sections, query)
        assert f"http://localhost:8080/guides/{page}.md" in [section.address for section in found], query
    assert search_sections(sections, "? a xqzw") == []


def test_every_page_is_also_markdown_whose_links_lead_to_markdown(site: Path) -> None:
    pages = pages_of(read_chapters())
    line = re.compile(r"^- \[[^]]+\]\(http://localhost:8080(/guides\S*\.md)\): \S", re.MULTILINE)
    listed = line.findall((site / "llms.txt").read_text())
    assert listed == [f"{page.address}.md" for page in pages]
    for page in pages:
        targets = re.findall(r"\]\((/guides[^)#\s]*)", page.markdown)
        assert set(targets) <= set(listed), page.file
        assert not re.search(r"\]\([^)/#:\s]+\.md", page.markdown), page.file
