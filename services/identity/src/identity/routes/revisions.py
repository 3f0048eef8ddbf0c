"""The revision that a change is based on (contract section 1)."""

import re
from collections.abc import Mapping
from typing import Annotated, Any

from fastapi import Header

from common.problems import ValidationFailed

IfMatch = Annotated[str | None, Header(max_length=40)]


def revision_meant(if_match: str | None, revision: int | None) -> int | None:
    """The header's revision, else the body's, else None: whatever stands. Raises ValidationFailed for another header."""
    if if_match is None:
        return revision
    quoted = re.fullmatch(r'"([0-9]{1,9})"', if_match, re.ASCII)
    if quoted is None:
        raise ValidationFailed.of("If-Match", 'must be a revision in quotes, such as "3"')
    return int(quoted[1])


def etag(shown: Mapping[str, Any]) -> dict[str, str]:
    """The header that `If-Match` answers to."""
    return {"ETag": f'"{shown["revision"]}"'}
