"""Money held, payable and unexplained."""

from typing import Final

from campus_tools.observability.dashboards.panels import NAIRA, Dashboard, Panel, minor

MONEY: Final = Dashboard(
    "campus-money",
    "Campus: money",
    (
        Panel(
            "Held in escrow",
            {"naira": minor("max(payments_escrow_liability_minor)")},
            NAIRA,
            single=True,
            width=6,
        ),
        Panel(
            "At the payment gateway",
            {"naira": minor("sum(max by (gateway) (payouts_gateway_balance_minor))")},
            NAIRA,
            single=True,
            width=6,
        ),
        Panel(
            "Unexplained",
            {"naira": minor("max(payments_unexplained_minor)")},
            NAIRA,
            single=True,
            threshold=1,
            width=6,
        ),
        Panel(
            "Broken hash chains",
            {"payments": "max(payments_book_broken)", "payouts": "max(payouts_book_broken)"},
            single=True,
            threshold=1,
            width=6,
        ),
        Panel(
            "Escrow and its cover",
            {
                "held": minor("max(payments_escrow_liability_minor)"),
                "at the gateway": minor("sum(max by (gateway) (payouts_gateway_balance_minor))"),
            },
            NAIRA,
            width=12,
        ),
        Panel("Open differences", {"cases": "max(payments_unexplained_cases)"}, threshold=1, width=12),
        Panel(
            "Postings not yet chained",
            {"payments": "max(payments_book_unsealed)", "payouts": "max(payouts_book_unsealed)"},
        ),
        Panel(
            "Length of the hash chains",
            {"payments": "max(payments_book_length)", "payouts": "max(payouts_book_length)"},
        ),
        Panel("Latest audit broken", {"audit": "max(payments_audit_broken)"}, single=True, threshold=1, width=6),
        Panel(
            "Age of the latest complete audit",
            {"age": "time() - max(payments_audit_timestamp_seconds != 0)"},
            "s",
            single=True,
            threshold=26 * 3600,
            width=6,
        ),
        Panel("Stale events ignored", {"{{type}}": "sum by (type) (rate(stale_news_total[5m]))"}, "ops"),
    ),
)
