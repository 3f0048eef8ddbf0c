"""Help articles of the assistant: how the marketplace works, for buyers and vendors."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

FOUND_MAX: Final = 2
_WORD: Final = re.compile(r"[a-z0-9]+")


@dataclass(frozen=True, slots=True)
class Article:
    """`about` lists keywords, or their stems, of the article's questions."""

    id: str
    title: str
    about: tuple[str, ...]
    text: str


ARTICLES: Final = (
    Article(
        "delivery-pin",
        "The delivery PIN",
        ("pin", "handover", "confirm", "receive"),
        "When your payment is held, you get a delivery PIN by text message, and you can read it on the order's page. "
        "Give it to the vendor or hub agent only when the goods are in your hands: the PIN releases your money. "
        "After five wrong tries it is locked; request a new one on the order's page (at most three times). Nobody on "
        "our team will ever ask for your PIN, and the assistant cannot see it.",
    ),
    Article(
        "paying",
        "Paying, and how your money is protected",
        ("pay", "escrow", "card", "transfer", "charge", "safe", "protect", "money", "held", "scam"),
        "You pay at the checkout within 15 minutes, or the order expires and nothing is charged. Your money is held "
        "in escrow: the vendor gets it only after the delivery is confirmed with your PIN. Prices are those at the "
        "moment you placed the order.",
    ),
    Article(
        "refunds",
        "Refunds",
        ("refund", "cancel", "cancell", "reimburse", "back"),
        "Cancel an order on its page before it is dispatched: a paid order is refunded in full. If the vendor does "
        "not dispatch within 72 hours, we cancel the order and refund you. The order shows refund_pending while the "
        "money is on its way, and refunded when it has arrived.",
    ),
    Article(
        "returns",
        "Returning goods",
        ("return", "exchange", "damaged", "broken", "wrong"),
        "Within 7 days of delivery you can ask on the order's page to return some or all of its items. The vendor "
        "or our support decides; after approval the money for these items comes back to you.",
    ),
    Article(
        "disputes",
        "When something is wrong with an order",
        ("dispute", "problem", "complain", "never", "arrive", "arrived", "missing", "fraud", "late"),
        "If goods do not arrive or are not what you bought, open a dispute on the order's page, before you give the "
        "PIN. The money is frozen until our staff have decided.",
    ),
    Article(
        "delivery",
        "Delivery and pick-up",
        ("deliver", "delivery", "shipping", "ship", "hub", "pickup", "pick", "dispatch", "fee"),
        "A vendor hands an order over after it is paid; you then see it as dispatched. Choose a hub at the checkout "
        "to pick it up there: the fee of the hub is shown before you pay. At the handover you give the delivery PIN.",
    ),
    Article(
        "selling",
        "Selling on the marketplace",
        ("sell", "vendor", "merchant", "shop", "store", "commission", "apply", "application"),
        "Apply to sell with your business name and campus; the staff of your campus decide. Vendors list products, "
        "dispatch paid orders and ask for the delivery PIN. A commission is taken from each order, as agreed with "
        "the vendor.",
    ),
    Article(
        "payouts",
        "Payouts to vendors",
        ("payout", "withdraw", "withdrawal", "bank", "wallet", "earning", "earnings"),
        "A vendor's earnings are in the wallet after each delivery, and are paid out to the verified bank account. "
        "The first payout to a new bank account waits for a while, which keeps thieves from emptying a wallet.",
    ),
    Article(
        "account",
        "Your account and signing in",
        ("account", "password", "login", "log", "sign", "otp", "profile", "phone", "email", "delete", "factor"),
        "Sign in with your password or with a one-time code. Forgot the password? Ask for a reset by mail. Change "
        "your name and phone number in your profile. You can delete your account there too; orders still in progress "
        "are ended first. Never tell anybody your password or a code.",
    ),
    Article(
        "support",
        "Talking to a person",
        ("support", "contact", "human", "person", "agent", "ticket", "call", "talk", "staff", "speak"),
        "Open a support ticket in the app and say what happened; name the order if it is about one. Our support team "
        "replies there. You can also write to us in the messaging app from the phone number of your profile.",
    ),
    Article(
        "reviews",
        "Reviews",
        ("review", "rating", "rate", "star", "stars", "feedback"),
        (
            "After a delivery you can review the products and the vendor of the order. Reviews that insult or "
            "advertise are hidden."
        ),
    ),
)


def search_articles(query: str) -> Sequence[Article]:
    """Return at most two articles, best match first; none without a matching keyword."""
    words = set(_WORD.findall(query.lower()))
    scored = [(_score(article, words), -index) for index, article in enumerate(ARTICLES)]
    best = sorted((pair for pair in scored if pair[0] > 0), reverse=True)[:FOUND_MAX]
    return [ARTICLES[-index] for _, index in best]


def _score(article: Article, words: set[str]) -> int:
    return sum(1 for word in words if any(_fits(word, known) for known in article.about))


def _fits(word: str, known: str) -> bool:
    """Match the keyword or one of its usual forms: refund, refunds, refunded, refunding."""
    return word == known or (word.startswith(known) and word[len(known) :] in ("s", "ed", "d", "ing", "er", "es"))
