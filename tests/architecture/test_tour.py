"""The tour of the code leads to definitions that exist."""

import re
from pathlib import Path

TOUR = Path(__file__).parents[2] / "docs/tour.md"


def test_every_stop_of_the_tour_names_a_definition() -> None:
    links = re.findall(r"\[`(\w+)`\]\(([^)]+\.py)\)", TOUR.read_text())
    assert len(links) > 10
    absent = [
        f"{name} in {target}"
        for name, target in links
        if not re.search(rf"^(class|def|async def|) ?{name}\b", (TOUR.parent / target).read_text(), re.MULTILINE)
    ]
    assert absent == []
