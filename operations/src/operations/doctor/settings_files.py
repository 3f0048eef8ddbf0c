"""Files with the settings of the services, as Kubernetes, Docker Compose and `make run` have them."""

import shlex
from pathlib import Path


def read_settings(path: Path) -> dict[str, str]:
    """Read `NAME=value` lines: a value in quotes as a shell would, any other one verbatim, with its spaces and quotes.

    Raises OSError, and ValueError with the number of a malformed line; never with its value, which may be a secret.
    """
    values = {}
    for number, line in enumerate(path.read_text().splitlines(), start=1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        name, equals, text = line.partition("=")
        if not equals:
            raise ValueError(f"line {number} is not NAME=value")
        try:
            values[name.strip()] = _unquoted(text.strip())
        except ValueError as error:
            raise ValueError(f"line {number}: {error}") from None
    return values


def _unquoted(text: str) -> str:
    return "".join(shlex.split(text)) if text.startswith(("'", '"')) else text
