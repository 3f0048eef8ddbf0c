"""Fixtures and helpers that the tests of all distributions share."""

import sys

# jsonschema compiles 38 grammars for the formats of IRIs at its import, a third of what the start of pytest costs.
sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type]
