"""Rotations of the keys that encrypt values at rest, step by step as in docs/runbooks/rotate-sealing-keys.md."""

from common.database.reencryption import COMMAND as REENCRYPT
from lab.stepped.actions import DISPATCH, VERIFY_DELIVERY, Facts, wallet, with_pin
from lab.stepped.actors import VENDOR
from lab.stepped.marketplace import Marketplace
from lab.stepped.scenarios import payouts
from lab.stepped.scenarios.steps import NET_MINOR, End, added, order_of, paid_order
from operations.secrets import new_key


async def order_with_a_pin(market: Marketplace) -> Facts:
    """Return a dispatched order. Only its PIN is still encrypted, so that every run has the same effects."""
    await market.databases["orders"].execute("UPDATE delivery_pins SET sealed = ''")
    order = await paid_order(market)
    await DISPATCH.run(market, VENDOR, order)
    return await with_pin(market, order)


async def pin_key_rotation(market: Marketplace, order: Facts) -> End:
    """Open a PIN that was encrypted with the old key with the new one alone, and confirm the delivery."""
    before = await wallet(market)
    await _rotate(market, "orders-worker", "PIN_KEY")

    async def end() -> None:
        assert await with_pin(market, order) == order
        await VERIFY_DELIVERY.run(market, VENDOR, order)
        assert (await order_of(market, order))["status"] == "paid"
        assert added(before, await wallet(market)) == {"availableMinor": NET_MINOR, "lockedMinor": -NET_MINOR}

    return end


async def account_number_key_rotation(market: Marketplace, given: Facts) -> End:
    """Pay to an account number that was encrypted with the old key with the new one alone."""
    await _rotate(market, "payouts-worker", "ACCOUNT_NUMBER_KEY")

    async def end() -> None:
        await (await payouts.success(market, given))()

    return end


async def _rotate(market: Marketplace, worker: str, variable: str) -> None:
    old, new = market.processes[worker].variable(variable) or "", new_key()
    previous = f"{variable}_PREVIOUS"
    await market.roll_out({previous: new})
    await market.roll_out({variable: new, previous: old})
    await market.run_command(worker, REENCRYPT)
    await market.roll_out({previous: ""})
