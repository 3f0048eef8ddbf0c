"""A process that sends one refund, for the tests that kill it. Its arguments are the addresses and the refund's id."""

import asyncio
import sys
from datetime import datetime
from uuid import UUID

from common.database.unit_of_work import Database
from common.primitives.clock import ManualClock
from payments.clients.gateway import Gateways
from payments.clients.paystack import PaystackGateway
from payments.use_cases.refunds.submit_refund import submit_refund


async def main(api_url: str, service_url: str, gateway_url: str, secret: str, now: str, refund_id: str) -> None:
    gateway = PaystackGateway(gateway_url, secret, seconds_max=60)
    async with Database.connect(api_url=api_url, service_url=service_url, name="refund process") as database:
        await submit_refund(
            database, Gateways([gateway], gateway.name), ManualClock(datetime.fromisoformat(now)), UUID(refund_id)
        )


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
