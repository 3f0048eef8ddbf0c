"""The banks that the payment gateway sends money to."""

from console.visit import Visit


async def names_of_banks(visit: Visit) -> dict[str, str]:
    """Return the name of each bank by its code, in the order of the names."""
    return {bank["code"]: bank["name"] for bank in await visit.api.get("/api/banks")}
