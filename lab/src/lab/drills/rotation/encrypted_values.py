"""Use values of before a rotation in each of its phases, and prove that the old key decrypts nothing."""

import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from lab.drills.rotation.environment import DrillEnvironment, expect
from lab.systems import value_of
from lab.trade import hand_over, purchase
from operations.journey import SignedInUser
from operations.secrets import write_secrets

# The phases: the new key is readable, it encrypts, the old one is dropped.
PHASES: Final = 3
# An order of the drill is about 1,000 kobo, less the commission.
PAYOUT_MINOR: Final = 500

_FAILED_DELIVERIES: Final = "SELECT count(*) FROM notification_deliveries WHERE sealed <> '{}' AND status = 'failed'"
_DEAD_LETTERS: Final = "SELECT count(*) FROM dead_letters"


@dataclass
class EarlierValues:
    """Delivery PINs, a bank account number and TOTP secrets from before the rotation."""

    drill: DrillEnvironment
    buyer: SignedInUser
    vendor: SignedInUser
    pins: list[tuple[str, str]] = field(default_factory=list)

    @classmethod
    async def made(cls, drill: DrillEnvironment) -> "EarlierValues":
        market = drill.load.market
        buyer = await market.sign_in("buyer2@unilag.edu.ng")
        values = cls(drill, buyer, await market.sign_in("vendor@unilag.edu.ng"))
        for _ in range(PHASES):
            order_id = await purchase(market, buyer, drill.load.product_ids[2])
            values.pins.append((order_id, await market.delivery_pin(buyer, order_id)))
        return values

    async def use(self) -> None:
        """Verify a delivery with its PIN, and pay out to the bank account, dispatched by staff with a TOTP code."""
        market = self.drill.load.market
        order_id, pin = self.pins.pop()
        expect(await market.delivery_pin(self.buyer, order_id) == pin, "the PIN of an order changed")
        await hand_over(market, self.vendor, self.buyer, order_id)
        await market.order_reaches(self.buyer, order_id, "delivered", "paid", within=60)
        await market.wallet_reaches(self.vendor, PAYOUT_MINOR, within=60)
        payout = await market.request_payout(self.vendor, PAYOUT_MINOR)
        maker = await market.sign_in_with_two_factors("maker@campus.example", "MAKER")
        batch = await market.dispatch_payouts(maker, [payout["id"]])
        expect(batch["skipped"] == [], f"a payout was skipped: {batch['skipped']}")
        await market.payout_reaches(self.vendor, payout["id"], "processed", within=60)


async def undelivered(drill: DrillEnvironment) -> int:
    """Return the number of failed messages with a PIN or a code, and of dead letters of their services."""
    counted = {
        "notifications": (_FAILED_DELIVERIES, _DEAD_LETTERS),
        "identity": (_DEAD_LETTERS,),
        "orders": (_DEAD_LETTERS,),
    }
    return sum(
        [
            await value_of(drill.system, service, statement)
            for service, statements in counted.items()
            for statement in statements
        ]
    )


async def starts_with_the_old_key(
    drill: DrillEnvironment, before: dict[str, str], services: tuple[str, ...]
) -> list[str]:
    """Return the services whose programs still start with only the earlier secrets."""
    old = {name: text for name, text in {**drill.secrets, **before}.items() if not name.endswith("_PREVIOUS")}
    with tempfile.TemporaryDirectory(prefix="campus-old-key-") as folder:
        write_secrets(Path(folder) / "secrets.env", old)
        ran: dict[str, Any] = {
            service: await drill.ctl("service", service, "re-encrypt", "--count", may_fail=True, state_dir=folder)
            for service in services
        }
    return [
        service
        for service, result in ran.items()
        if "DecryptionFailed" not in str(result) and "UnknownKey" not in str(result)
    ]
