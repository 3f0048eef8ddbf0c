"""Rotations of the keys that encrypt values at rest, step by step as in docs/runbooks/rotate-sealing-keys.md."""

from common.database.reencryption import COMMAND as REENCRYPT
from lab.crash_points.marketplace import Marketplace
from lab.crash_points.scenarios import payouts
from lab.crash_points.scenarios.orders import confirm_delivery, paid_order
from lab.crash_points.scenarios.steps import NET_MINOR, End, Given, added, order_of, wallet
from lab.crash_points.users import BUYER, VENDOR
from operations.secrets import new_key


async def order_with_a_pin(market: Marketplace) -> Given:
    """Return a dispatched order. Its PIN is the only one that is still encrypted, so that every run has the same
    effects.
    """
    await market.databases["orders"].execute("UPDATE delivery_pins SET sealed = ''")
    order = await paid_order(market)
    await market.post(f"/api/orders/{order['id']}/dispatch", VENDOR)
    await market.run_until_idle()
    return {**order, "pin": (await market.get(f"/api/orders/{order['id']}/delivery-pin", BUYER))["pin"]}


async def pin_key_rotation(market: Marketplace, order: Given) -> End:
    """Return a PIN that was encrypted with the old key opens with the new one alone, and confirms the delivery."""
    before = await wallet(market)
    await _rotate(market, "orders-worker", "PIN_KEY")

    async def end() -> None:
        assert (await market.get(f"/api/orders/{order['id']}/delivery-pin", BUYER))["pin"] == order["pin"]
        await confirm_delivery(market, order, order["pin"])
        assert (await order_of(market, order))["status"] == "paid"
        assert added(before, await wallet(market)) == {"availableMinor": NET_MINOR, "lockedMinor": -NET_MINOR}

    return end


async def account_number_key_rotation(market: Marketplace, given: Given) -> End:
    """Return an account number that was encrypted with the old key is paid with the new one alone."""
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
