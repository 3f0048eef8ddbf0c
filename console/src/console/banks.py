"""The banks that the payment gateway sends money to."""

from http import HTTPStatus

from console.api import ApiProblem
from console.visit import Visit


async def names_of_banks(visit: Visit) -> dict[str, str]:
    """Return the name of each bank by its code, in the order of the names.

    None while payouts does not respond: pages go on, show codes, and say that no bank can be chosen.
    """
    try:
        return {bank["code"]: bank["name"] for bank in await visit.api.get("/api/banks")}
    except ApiProblem as problem:
        if problem.status < HTTPStatus.INTERNAL_SERVER_ERROR:
            raise
        return {}
