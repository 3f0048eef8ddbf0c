"""`make demo`: one purchase from two vendors on the running system, step by step with amounts, and the audit at the
end.
"""

import argparse
import asyncio
import os
import re
import secrets
import sys
from pathlib import Path

import httpx
from rich._export_format import CONSOLE_SVG_FORMAT
from rich.console import Console

from contracts.demo import ADA, BOLA
from operations.audit import audit_system
from operations.journey import Marketplace, StepFailed
from operations.ports import port_base_of
from operations.secrets import read_secrets

console = Console(highlight=False, record=True)
IMAGE_COLUMNS = 120


def main() -> None:
    """Run the demo. Exit status 1: a step failed, or the audit has findings."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--state-dir", default=os.environ.get("STATE_DIR", ".state"), type=Path)
    arguments.add_argument("--port-base", default=os.environ.get("PORT_BASE", ""), type=port_base_of)
    arguments.add_argument("--image", type=Path, metavar="FILE", help="write the story to an SVG file")
    options = arguments.parse_args()
    if options.image is not None:
        console.width = IMAGE_COLUMNS
    try:
        clean = asyncio.run(play(options.state_dir, options.port_base, options.image))
    except (StepFailed, TimeoutError, OSError, httpx.TransportError) as error:
        console.print(f"\n[bold red]The demo stopped:[/] {error or type(error).__name__}", soft_wrap=True)
        console.print(
            f"Is the system running? `make run` starts it; its logs are in {options.state_dir}/logs.", soft_wrap=True
        )
        sys.exit(1)
    sys.exit(0 if clean else 1)


async def play(state_dir: Path, port_base: int, image: Path | None = None) -> bool:
    """Run one purchase from sign-up to the payout, with an image of it on request.

    Return whether the audit is clean.
    """
    known = read_secrets(state_dir / "secrets.env")
    # In containers the two have host names instead of ports of one machine.
    base_url = os.environ.get("BASE_URL") or f"http://127.0.0.1:{port_base}"
    sandbox_url = os.environ.get("SANDBOX_URL") or f"http://127.0.0.1:{port_base + 90}"
    async with Marketplace.at(base_url, sandbox_url, known, patient=True) as market:
        await play_story(market)
        if image is not None:
            # Without the web font: the image is readable offline.
            form = re.sub(r"@font-face {{.*?}}", "", CONSOLE_SVG_FORMAT, flags=re.DOTALL)
            console.save_svg(str(image), title="make demo", code_format=form)
        return await audit_system(known, market.sandbox, console)


async def play_story(market: Marketplace) -> None:
    """Run and print the steps. Amounts are printed in naira."""
    chapter("A new student signs up, brought by a friend")
    friend = await market.sign_in("buyer@unilag.edu.ng")
    referral = await market.get("/api/referrals/current", friend)
    email, phone = new_address()
    buyer = await market.sign_up(email, "Tobi Alabi", phone, referral_token=referral["token"])
    await market.prove_number(buyer, phone)
    profile = await market.get("/api/profiles/current", buyer)
    campus = await market.get(f"/api/campuses/{profile['campusId']}")
    step(f"{email}, whose phone number is proven, is a {profile['role']} of the {campus['name']}")

    async def credited() -> int | None:
        balance = await market.get("/api/rewards/balance", buyer)
        return balance["balanceMinor"] or None

    reward_minor = await market.until("the reward is credited", credited, 30)
    step("the reward for coming with a friend's token, in the balance", reward_minor)

    chapter("The student browses")
    chosen = []
    for shop in (ADA, BOLA):
        products = await market.products(vendorId=str(shop.id), inStock="true", minPriceMinor=100_000, limit=100)
        product = next(product for product in products if not product["options"])
        chosen.append(product)
        step(f"{product['name']} from {product['vendorName']}", product["priceMinor"])

    chapter("One checkout of two vendors: stock is reserved, prices are frozen")
    purchase = await market.purchase(buyer, *(product["id"] for product in chosen))
    step(f"purchase {purchase['number']} is {purchase['status']}", purchase["totalMinor"])
    for order in purchase["orders"]:
        step(f"order {order['number']} with {order['vendorName']} is {order['status']}", order["totalMinor"])

    chapter("The buyer pays once: a part from the balance, the rest at the payment gateway")
    intent = await market.pay_purchase_intent(buyer, purchase["id"], balance_minor=reward_minor)
    step("the balance pays", intent["balanceMinor"])
    step(f"the gateway is to collect the rest, reference {intent['reference']}", intent["gatewayMinor"])
    await market.pay(intent)
    for placed in purchase["orders"]:
        order = await market.order_reaches(buyer, placed["id"], "paid_escrow")
        step(f"order {order['number']} is {order['status']}, its money waits in its own escrow", order["totalMinor"])
    balance = await market.get("/api/balance", buyer)
    step("what is left of the balance", balance["availableMinor"] + balance["heldMinor"])
    order = purchase["orders"][0]

    chapter("The vendor hands the goods over")
    vendor = await market.sign_in("vendor@unilag.edu.ng")
    before = await market.wallet(vendor)
    step("the vendor's wallet: locked in escrow", before["lockedMinor"])
    order = await market.dispatch(vendor, order["id"])
    step(f"order is {order['status']}")

    chapter("The delivery PIN proves it")
    pin = await market.delivery_pin(buyer, order["id"])
    text = await market.until("the PIN arrives by SMS", lambda: pin_on_the_phone(market, phone, pin), 30)
    step(f"the student's phone says: “{text}”")
    delivered = await market.verify_delivery(vendor, order["id"], pin)
    step(f"order is {delivered['status']}")
    order = await market.order_reaches(buyer, order["id"], "paid")
    wallet = await market.wallet_reaches(vendor, before["availableMinor"] + 1)
    step(f"escrow is released: order is {order['status']}; the vendor may spend", wallet["availableMinor"])

    chapter("The vendor is paid out")
    payout = await market.request_payout(vendor, wallet["availableMinor"])
    step(f"payout {payout['number']} is {payout['status']}", payout["amountMinor"])
    maker = await market.sign_in_with_two_factors("maker@campus.example", "MAKER")
    batch = await market.dispatch_payouts(maker, [payout["id"]])
    step(f"staff dispatch batch {batch['batchId']}: {batch['submitted']} transfer", batch["totalMinor"])
    payout = await market.payout_reaches(vendor, payout["id"], "processed")
    wallet = await market.wallet(vendor)
    step(f"the bank confirms: payout is [bold green]{payout['status']}[/]; wallet now", wallet["availableMinor"])


def new_address() -> tuple[str, str]:
    """Return an unused student mail address of the University of Lagos and an unused mobile number."""
    number = secrets.randbelow(10**7)
    return f"tobi.{number:07d}@student.unilag.edu.ng", f"+234806{number:07d}"


async def pin_on_the_phone(market: Marketplace, phone: str, pin: str) -> str | None:
    for message in await market.messages(phone, "sms"):
        if pin in message["text"]:
            return str(message["text"])
    return None


def chapter(title: str) -> None:
    console.print(f"\n[bold cyan]{title}[/]")


def step(text: str, amount_minor: int | None = None) -> None:
    amount = "" if amount_minor is None else f"  [bold]₦{amount_minor / 100:,.2f}[/]"
    console.print(f"  • {text}{amount}", soft_wrap=True)


if __name__ == "__main__":
    main()
