"""The revision that a change is based on (contract section 1)."""

import re
from typing import Annotated, Final

from fastapi import Header

from common.primitives.problems import ValidationFailed

IfMatch = Annotated[str | None, Header(alias="If-Match", max_length=120)]

# A revision in quotes, or one of our ETags, which start with a revision. A missing last quote is accepted.
_TAG: Final = re.compile(r'(?:W/)?"([0-9]{1,9})(?:-[^"]*)?"?', re.ASCII)


def revision_meant(if_match: str | None, revision: int | None) -> int | None:
    """Return the revision of the header, else of the body, else None: any revision matches.

    Raises ValidationFailed (422) for a header without a revision, or with another revision than the body.
    """
    if if_match is None or if_match.strip() == "*":
        return revision
    tag = _TAG.fullmatch(if_match.strip())
    if tag is None:
        raise ValidationFailed.of("If-Match", 'must be the revision that was read, in quotes, such as "3"')
    if revision is not None and revision != int(tag[1]):
        raise ValidationFailed.of("If-Match", "names another revision than the body")
    return int(tag[1])


def etag(revision: int) -> dict[str, str]:
    """Return the ETag header that a client repeats in `If-Match`."""
    return {"ETag": f'"{revision}"'}
