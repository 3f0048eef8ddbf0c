"""How long a password must and may be (NIST SP 800-63B: length, no composition rules)."""

from typing import Final

CHARACTERS_MIN: Final = 10
# More than anybody types, and a bound on the work that a request may ask for.
CHARACTERS_MAX: Final = 128
