"""The contrast of the colors of console and storefront, computed from their tokens.

Text needs 4.5:1, edges and drawings 3:1 (WCAG 2.2, 1.4.3 and 1.4.11).
"""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[3]
TEXT_MIN: Final = 4.5
EDGE_MIN: Final = 3.0
# By tokens file: the colors of a foreground, and the grounds that it is used on. A group ends with its minimum.
FILES: Final[Mapping[str, tuple[tuple[str, str, float], ...]]] = {
    "console/src/console/static/tokens.css": (
        ("text faint accent bad", "ground raised", TEXT_MIN),
        ("accent", "accent-ground", TEXT_MIN),
        ("on-accent", "accent", TEXT_MIN),
        ("on-bad", "bad", TEXT_MIN),
        ("text", "accent-ground waiting-ground line", TEXT_MIN),
        ("good", "good-ground", TEXT_MIN),
        ("bad", "bad-ground", TEXT_MIN),
        ("waiting", "waiting-ground", TEXT_MIN),
        ("edge focus", "ground raised", EDGE_MIN),
    ),
    "examples/storefront/src/tokens.css": (
        ("ink soft brand bad", "paper card", TEXT_MIN),
        ("star", "card paper", EDGE_MIN),
        ("on-ink", "ink", TEXT_MIN),
        ("on-brand", "brand brand-strong", TEXT_MIN),
        ("on-hero", "hero hero-circle", TEXT_MIN),
        ("on-accent", "accent", TEXT_MIN),
        ("brand good ink", "good-tint", TEXT_MIN),
        ("waiting ink", "waiting-tint", TEXT_MIN),
        ("bad ink", "bad-tint", TEXT_MIN),
        ("edge off live", "card", EDGE_MIN),
    ),
}
_COLOR: Final = re.compile(r"--([a-z-]+): (?:light-dark\((#[0-9a-f]{6}), (#[0-9a-f]{6})\)|(#[0-9a-f]{6}));")


def page(note: str) -> str:
    """Return the table of contrasts as Markdown. Raises ValueError where a pair is below its minimum."""
    lines = ["# Colors", "", note, "Contrast of each color on the grounds that it is used on, in light and dark."]
    for file, groups in FILES.items():
        lines += ["", f"## {file.partition('/src/')[0]}", ""]
        lines += ["| Color | Ground | Light | Dark | At least |", "|---|---|---|---|---|"]
        lines += _rows(tokens_of(ROOT / file), groups)
    return "\n".join(lines) + "\n"


def tokens_of(path: Path) -> dict[str, tuple[str, str]]:
    """Return light and dark value of each color of a tokens file, by its name; of two values the first."""
    found: dict[str, tuple[str, str]] = {}
    for name, light, dark, both in _COLOR.findall(path.read_text()):
        found.setdefault(name, (light or both, dark or both))
    return found


def contrast(one: str, other: str) -> float:
    """Return the contrast of two colors such as `#14201b`, from 1 to 21."""
    darker, lighter = sorted((_luminance(one), _luminance(other)))
    return (lighter + 0.05) / (darker + 0.05)


def _rows(tokens: Mapping[str, tuple[str, str]], groups: tuple[tuple[str, str, float], ...]) -> Iterator[str]:
    for names, grounds, minimum in groups:
        for name in names.split():
            for ground in grounds.split():
                ratios = [contrast(*pair) for pair in zip(tokens[name], tokens[ground], strict=True)]
                if min(ratios) < minimum:
                    raise ValueError(f"--{name} on --{ground} has the contrast {min(ratios):.2f}, below {minimum}")
                yield f"| `{name}` | `{ground}` | {ratios[0]:.1f} | {ratios[1]:.1f} | {minimum} |"


def _luminance(color: str) -> float:
    channels = (int(color[place : place + 2], 16) / 255 for place in (1, 3, 5))
    linear = [value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4 for value in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
