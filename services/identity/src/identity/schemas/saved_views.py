"""Request models of saved views."""

from typing import Annotated, Final

from pydantic import Field, StringConstraints

from common.web.schemas import A_NAME, RequestBody

PATH: Final = r"^(/[a-z0-9-]+)+$"
PATH_CHARACTERS_MAX: Final = 200
QUERY_CHARACTERS_MAX: Final = 1_000
# The characters of an encoded query, and none that a browser would change.
_QUERY: Final = r"^[A-Za-z0-9%&=+*._~-]*$"

ViewName = Annotated[
    str,
    StringConstraints(strip_whitespace=True, min_length=1, max_length=60),
    A_NAME,
    Field(description="Unique for the list.", examples=["Failed this week"]),
]


class SaveViewRequest(RequestBody):
    path: Annotated[
        str,
        StringConstraints(pattern=PATH, max_length=PATH_CHARACTERS_MAX),
        Field(description="The path of the list in the console.", examples=["/payouts"]),
    ]
    name: ViewName
    query: Annotated[
        str,
        StringConstraints(pattern=_QUERY, max_length=QUERY_CHARACTERS_MAX),
        Field(description="The query of the list's address, encoded, without `?`.", examples=["status=failed"]),
    ]


class RenameViewRequest(RequestBody):
    name: ViewName
