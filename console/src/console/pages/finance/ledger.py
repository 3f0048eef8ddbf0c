"""The ledger for finance and auditors: accounts, entries, trial balance, cases, audits, sales."""

from collections.abc import Callable
from typing import Any, Final
from urllib.parse import quote

from starlette.responses import Response

from console.api import Json
from console.charts import bar_chart, column_chart
from console.families import Screens
from console.formats import naira, naira_short, reference
from console.lists import Column, Filter, ListView, csv_response, load_list, show_list
from console.money import account_words, money, posting_rows, sided
from console.parts import account_names, command
from console.sales import FIGURE_COLUMNS, sums
from console.visit import Visit

SCREENS = Screens()

LEDGER: Final = "ledger:read"
BARS_MAX: Final = 20


def _debits(transaction: Json) -> int:
    return sum(entry["amountMinor"] for entry in transaction["entries"] if entry["amountMinor"] > 0)


def _accounts(row: Json, is_chosen: Callable[[Json], bool]) -> dict[str, str | None]:
    """Return the accounts of the chosen entries, each with its order or vendor."""
    chosen = (entry["account"] for entry in row["entries"] if is_chosen(entry))
    return {account: row["accountNames"].get(account) for account in chosen}


def _entries_link(row: Json) -> str:
    return f"/ledger/entries?account={quote(row['account'], safe='')}"


# ---- Transactions ----------------------------------------------------------------------------------------------------

TRANSACTIONS = ListView(
    "/api/transactions",
    columns=(
        Column("Posted", "createdAt", "time"),
        Column("Type", "type", "words", link="/transactions/{id}"),
        Column("Amount", lambda row: _debits(row) if row["currency"] == "NGN" else None, "naira"),
        Column(
            "Foreign amount",
            lambda row: "" if row["currency"] == "NGN" else money(_debits(row), row["currency"]),
            "number",
        ),
        Column("Debit", lambda row: _accounts(row, lambda entry: entry["amountMinor"] > 0), "accounts"),
        Column("Credit", lambda row: _accounts(row, lambda entry: entry["amountMinor"] < 0), "accounts"),
    ),
    filters=(
        Filter("type", "Type"),
        Filter("account", "Account"),
        Filter("orderId", "Order", kind="order"),
        Filter("reference", "Reference", kind="search"),
        Filter("from", "From", kind="date"),
        Filter("to", "Before", kind="date"),
    ),
    empty="Nothing was posted yet.",
)


@SCREENS.page("/transactions", title="Transactions", any_of=(LEDGER,), menu="Transactions")
async def transactions_page(visit: Visit) -> Response:
    return await show_list(visit, TRANSACTIONS, "finance/transactions.html")


SETTLEMENTS: Final = ListView(
    "/api/transactions",
    columns=(
        Column("Settled", "createdAt", "time", link="/transactions/{id}"),
        Column("Reference", lambda row: row["postingKey"].removeprefix("settlement:"), "code"),
        *TRANSACTIONS.columns[2:4],
    ),
    filters=tuple(one for one in TRANSACTIONS.filters if one.name in ("reference", "from", "to")),
    fixed={"type": "settlement"},
    empty="The gateway settled nothing to the bank account yet.",
)


@SCREENS.page("/settlements", title="Settlements", any_of=(LEDGER,), menu="Settlements")
async def settlements_page(visit: Visit) -> Response:
    """Return what the gateway moved to our bank account."""
    return await show_list(visit, SETTLEMENTS)


@SCREENS.page("/transactions/export", title="Export", any_of=("ledger:export",))
async def export_page(visit: Visit) -> Response:
    """Return the API's own export: one line for each entry, of a period of any length."""
    period = {name: visit.query.get(name) or None for name in ("from", "to")}
    file = await visit.api.document("/api/transactions/export", accept="text/csv", **period)
    headers = {"Content-Disposition": 'attachment; filename="ledger-entries.csv"'}
    return Response(file.content, media_type=file.media_type, headers=headers)


@SCREENS.page("/transactions/{id:uuid}", title="Transaction", any_of=(LEDGER,))
async def transaction_page(visit: Visit) -> Response:
    transaction: Json = await visit.api.get(f"/api/transactions/{visit['id']}")
    currency = transaction["currency"]
    return visit.render(
        "finance/transaction.html",
        transaction=transaction,
        amount=money(_debits(transaction), currency),
        posting_key=reference(transaction["postingKey"]),
        rows=posting_rows(transaction["entries"], currency, await account_names(visit, [transaction])),
    )


# ---- Accounts --------------------------------------------------------------------------------------------------------

ACCOUNTS = ListView(
    "/api/ledger/accounts",
    columns=(
        Column(
            "Account",
            lambda row: {row["account"]: row["accountNames"].get(row["account"])},
            "accounts",
            link=_entries_link,
        ),
        Column("Balance", lambda row: row["balanceMinor"] if row["currency"] == "NGN" else None, "naira"),
        Column(
            "Foreign balance",
            lambda row: "" if row["currency"] == "NGN" else money(row["balanceMinor"], row["currency"]),
            "number",
        ),
        Column("Stands", lambda row: "" if not row["balanceMinor"] else "Dr" if row["balanceMinor"] > 0 else "Cr"),
        Column("Normally", lambda row: "Dr" if row["side"] == "debit" else "Cr"),
    ),
    filters=(Filter("account", "Name begins with", kind="search"), Filter("at", "At the start of", kind="date")),
    empty="No account was opened yet.",
)


@SCREENS.page("/ledger/accounts", title="Accounts", any_of=(LEDGER,), menu="Accounts")
async def accounts_page(visit: Visit) -> Response:
    return await show_list(visit, ACCOUNTS, "finance/accounts.html")


@SCREENS.page("/ledger/entries", title="Account", any_of=(LEDGER,))
async def entries_page(visit: Visit) -> Response:
    """Return the entries of one account, newest first, with its balance."""
    account = visit.query.get("account", "")
    view = ListView(
        "/api/transactions",
        columns=tuple(_entry_columns(account)),
        filters=(
            Filter("account", "Account"),
            Filter("from", "From", kind="date"),
            Filter("to", "Before", kind="date"),
        ),
        empty="The account has no entry.",
    )
    if visit.query.get("format") == "csv":
        return await csv_response(visit, view)
    shown = await load_list(visit, view)
    found = await visit.api.page("/api/ledger/accounts", account=account, limit=100)
    row = next((one for one in found.items if one["account"] == account), None)
    names = await account_names(visit, [row] if row else [])
    return visit.render(
        "finance/entries.html",
        title=account_words(account, names.get(account)) or "Account",
        shown=shown,
        row=row,
        balance=sided(row["balanceMinor"], row["currency"]) if row else "",
    )


def _entry_columns(account: str) -> list[Column]:
    def amount(row: Json) -> int:
        return sum(one["amountMinor"] for one in row["entries"] if one["account"] == account)

    def others(row: Json) -> dict[str, str | None]:
        return _accounts(row, lambda entry: entry["account"] != account)

    return [
        Column("Posted", "createdAt", "time"),
        Column("Type", "type", "words", link="/transactions/{id}"),
        Column("Debit", lambda row: money(amount(row), row["currency"]) if amount(row) > 0 else "", "number"),
        Column("Credit", lambda row: money(-amount(row), row["currency"]) if amount(row) < 0 else "", "number"),
        Column("Other accounts", others, "accounts"),
    ]


@SCREENS.page("/ledger/trial-balance", title="Trial balance", any_of=(LEDGER,), menu="Trial balance")
async def trial_balance_page(visit: Visit) -> Response:
    """Return the sums of all entries by kind of account: each currency sums to zero, or the ledger is broken."""
    lines: list[Json] = await visit.api.get("/api/ledger/trial-balance", at=visit.query.get("at") or None)
    currencies = list(dict.fromkeys(line["currency"] for line in lines))
    groups = [_group([line for line in lines if line["currency"] == currency], currency) for currency in currencies]
    return visit.render("finance/trial_balance.html", groups=groups, at=visit.query.get("at", ""))


def _group(lines: list[Json], currency: str) -> dict[str, Any]:
    rows = [
        {
            "kind": line["kind"],
            "accounts": line["accounts"],
            "debit": money(line["debitMinor"], currency),
            "credit": money(line["creditMinor"], currency),
            "balance": sided(line["balanceMinor"], currency),
            "is_odd": line["balanceMinor"] != 0 and (line["balanceMinor"] > 0) != (line["side"] == "debit"),
        }
        for line in lines
    ]
    total = sum(line["balanceMinor"] for line in lines)
    return {
        "currency": currency,
        "rows": rows,
        "debit": money(sum(line["debitMinor"] for line in lines), currency),
        "credit": money(sum(line["creditMinor"] for line in lines), currency),
        "difference": sided(total, currency),
        "is_balanced": total == 0,
    }


# ---- Cases -----------------------------------------------------------------------------------------------------------

CASE_READERS: Final = (LEDGER, "exceptions:read")
CASES = ListView(
    "/api/reconciliation-cases",
    columns=(
        Column("Case", lambda row: row["kind"].replace("_", " "), link="/reconciliation-cases/{id}"),
        Column("Status", "status", "badge"),
        Column("Unexplained", lambda row: money(row["unexplainedMinor"], row["currency"]), "number"),
        Column("Subject", "subject"),
        Column("Reference", "reference"),
        Column("Opened", "createdAt", "time"),
        Column("Last seen", "lastSeenAt", "ago"),
    ),
    filters=(Filter("status", "Status"),),
    empty="No difference between our ledgers and the gateway is known.",
)


@SCREENS.page("/reconciliation-cases", title="Reconciliation cases", any_of=CASE_READERS, menu="Reconciliation cases")
async def cases_page(visit: Visit) -> Response:
    return await show_list(visit, CASES)


@SCREENS.page("/reconciliation-cases/{id:uuid}", title="Reconciliation case", any_of=CASE_READERS)
async def case_page(visit: Visit) -> Response:
    case: Json = await visit.api.get(f"/api/reconciliation-cases/{visit['id']}")
    amounts = {name: money(case[f"{name}Minor"], case["currency"]) for name in ("ours", "theirs", "unexplained")}
    return visit.render("finance/case.html", case=case, amounts=amounts)


@SCREENS.action("/reconciliation-cases/{id:uuid}/close", any_of=("exceptions:classify",), page=case_page)
async def close_case(visit: Visit) -> Response:
    return await command(visit, {"evidence": visit.form["evidence"]}, "The case is closed.")


# ---- Audits ----------------------------------------------------------------------------------------------------------

AUDITS = ListView(
    "/api/audits",
    columns=(
        Column("Finished", "finishedAt", "time", link="/audits/{id}"),
        Column("Verdict", "verdict", "badge"),
        Column("Findings", lambda row: len(row["findings"]), "number"),
        Column("Gateway compared", lambda row: "yes" if row["gatewayCompared"] else "no"),
    ),
    filters=(Filter("verdict", "Verdict"),),
    empty="No audit has run yet. The nightly job runs one, and so does make audit.",
)


@SCREENS.page("/audits", title="Audits", any_of=("audits:read",), menu="Audits")
async def audits_page(visit: Visit) -> Response:
    return await show_list(visit, AUDITS)


FINDINGS: Final = (
    Column("Kind", "kind", "badge"),
    Column("Rule", "check"),
    Column("Subject", "subject"),
    Column("Expected", "expected"),
    Column("Actual", "actual"),
)


@SCREENS.page("/audits/{id:uuid}", title="Audit", any_of=("audits:read",))
async def audit_page(visit: Visit) -> Response:
    audit: Json = await visit.api.get(f"/api/audits/{visit['id']}")
    order = ("broken", "open", "waiting")
    findings = sorted(audit["findings"], key=lambda finding: order.index(finding["kind"]))
    return visit.render("finance/audit.html", audit=audit, findings=findings, columns=FINDINGS)


# ---- Sales -----------------------------------------------------------------------------------------------------------

SALES = ListView(
    "/api/sales",
    columns=(
        Column("Group", "label"),
        *FIGURE_COLUMNS,
    ),
    filters=(
        Filter("groupBy", "By", blank="day"),
        Filter("from", "From", kind="date"),
        Filter("to", "Before", kind="date"),
    ),
    empty="Nothing was sold in this period.",
)


@SCREENS.page("/sales", title="Sales", any_of=(LEDGER,), menu="Sales")
async def sales_page(visit: Visit) -> Response:
    """Sales by day, campus, vendor or category, with a chart of the first groups."""
    if visit.query.get("format") == "csv":
        return await csv_response(visit, SALES)
    shown = await load_list(visit, SALES)
    points = [(row["label"], row["grossMinor"]) for row in shown.rows.items]
    if visit.query.get("groupBy", "day") == "day":
        chart = column_chart(sorted(points), "Gross sales by day", naira, naira_short)
    else:
        chart = bar_chart(points[:BARS_MAX], "Gross sales", naira)
    return visit.render("finance/sales.html", shown=shown, chart=chart, sums=sums(shown.rows.items))
