"""Each code block of each guide is run against the running system, as a reader enters it."""

import json
import os
import subprocess
from pathlib import Path

import pytest

from campus_tools.guides.site import DOCS, GUIDES
from campus_tools.launcher.system import System
from tests.guides.blocks import Session, blocks_of, check_programs, difference_of, set_up
from tests.storefront.site import NODE_MISSING, has_node

LANGUAGES = {"bash", "js", "json", "python", "ts"}
# Run in a browser by test_pages.py.
IN_A_BROWSER = {"push-page.js", "push-worker.js"}
# Its readers are at a shell of the system.
WITHOUT_CLIENTS = {"operating"}


def environment_of(system: System) -> dict[str, str]:
    return {
        "API": system.base_url,
        "SANDBOX": system.sandbox_url,
        "STATE_DIR": str(system.state_dir),
        "no_proxy": "*",
        "PYTHONPATH": str(DOCS.parent / "clients/python/src"),
    }


@pytest.mark.usefixtures("unused_codes")
@pytest.mark.parametrize("guide", [name for name in GUIDES if blocks_of(name)])
def test_every_block_of_a_guide_runs(system: System, guide: str, tmp_path: Path) -> None:
    blocks = blocks_of(guide)
    check_programs(blocks)
    first = [] if guide == "quickstart" else [set_up()]
    (tmp_path / "docs").symlink_to(DOCS)
    Session(tmp_path, environment_of(system)).play([*first, *blocks])


def test_the_typescript_of_the_guides_compiles_against_the_client(tmp_path: Path) -> None:
    assert has_node(), NODE_MISSING
    client = DOCS.parent / "clients/typescript"
    subprocess.run([DOCS.parent / "tools/storefront", "install"], check=True)
    for guide in GUIDES:
        if code := "\n".join(block.code for block in blocks_of(guide) if block.language == "ts"):
            (tmp_path / f"{guide}.mts").write_text(code)
    assert list(tmp_path.iterdir())
    options = {"noEmit": True, "types": ["node"], "typeRoots": [f"{client}/node_modules/@types"]}
    # Each guide is a program of its own, whatever it imports.
    options["moduleDetection"] = "force"
    paths = {"campus-client": [f"{client}/dist/esm/index.d.ts"]}
    settings = {"extends": f"{client}/tsconfig.json", "include": ["*.mts"]}
    settings["compilerOptions"] = {**options, "rootDir": "/", "paths": paths, "lib": ["ES2022", "DOM", "DOM.Iterable"]}
    (tmp_path / "tsconfig.json").write_text(json.dumps(settings))
    compiler = client / "node_modules/.bin/tsc"
    done = subprocess.run([compiler, "-p", tmp_path], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("guide", GUIDES)
def test_a_block_names_a_language_that_is_run(guide: str) -> None:
    blocks = blocks_of(guide)
    assert [block.place for block in blocks if block.language not in LANGUAGES] == []
    for number, block in enumerate(blocks):
        if block.language == "json":
            assert number > 0, block.place
            assert blocks[number - 1].language != "json", block.place
        elif block.name and block.name not in IN_A_BROWSER:
            # A file is run by a later block, which names it.
            assert any(block.name in later.code for later in blocks[number + 1 :]), block.place


@pytest.mark.parametrize("guide", [name for name in GUIDES if name not in WITHOUT_CLIENTS])
def test_a_guide_with_a_call_shows_it_in_three_languages(guide: str) -> None:
    blocks = blocks_of(guide)
    if any("curl" in block.code and "$API" in block.code for block in blocks):
        assert {"bash", "python", "ts"} <= {block.language for block in blocks}


@pytest.mark.parametrize(
    ("expected", "actual", "difference"),
    [
        ({"id": "a"}, {"id": "b", "more": 1}, None),
        ({"id": "a"}, {}, ".id is missing"),
        ({"amountMinor": 1}, {"amountMinor": "1"}, ".amountMinor is '1', not like 1"),
        ({"status": "paid"}, {"status": "failed"}, ".status is 'failed', not 'paid'"),
        ({"data": [{"id": "a"}]}, {"data": []}, ".data has 0 items, not 1"),
        ({"data": [{"id": "a"}]}, {"data": [{"id": None}]}, ".data[0].id is None, not like 'a'"),
    ],
)
def test_a_response_in_a_guide_is_compared_by_its_form(expected, actual, difference) -> None:
    assert difference_of(expected, actual, "") == difference


def test_a_failing_block_is_named(tmp_path: Path) -> None:
    block = set_up()
    failing = type(block)("quickstart", 7, "bash", "", "echo shown\nfalse\necho never")
    with pytest.raises(AssertionError, match=r"quickstart\.md:7 failed\nshown"):
        Session(tmp_path, {"API": "", "SANDBOX": "", "STATE_DIR": os.devnull}).play([failing])
