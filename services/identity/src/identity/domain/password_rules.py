"""Length of a password (NIST SP 800-63B: length, no composition rules)."""

from typing import Final

CHARACTERS_MIN: Final = 10
# Longer than anyone types, and a bound on the work of a request.
CHARACTERS_MAX: Final = 128
