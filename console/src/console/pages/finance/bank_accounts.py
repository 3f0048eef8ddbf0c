"""Bank accounts of vendors for finance: the quarantine of an account, and its release by two people."""

import asyncio
from typing import Final

from starlette.responses import Response

from console.api import Json
from console.families import Screens
from console.formats import FORMER
from console.lists import Column, Filter, ListView, account, name_rows, show_list, vendor_name
from console.pages.finance.decisions import approved, is_outdated
from console.pages.vendor.money import CHANGE_COLUMNS
from console.parts import command, names_of, part
from console.visit import Visit

SCREENS = Screens()

READERS: Final = ("payouts:read",)
MAKERS: Final = ("bank_details:quarantine",)
CHECKERS: Final = ("bank_details:release",)
RELEASES = ListView(
    "/api/bank-detail-releases",
    columns=(
        Column(
            "Account",
            account,
            link="/bank-detail-releases/{id}",
        ),
        Column("Status", "status", "badge"),
        Column("Vendor", vendor_name, link="/vendors/{vendorId}/bank-details"),
        Column("Prepared by", "preparedBy", "staff"),
        Column("Reason", "reason"),
        Column("Prepared", "preparedAt", "time"),
        Column("Decided", "decidedAt", "time"),
    ),
    filters=(
        Filter("status", "Status"),
        Filter("awaiting", "Awaiting"),
        Filter("vendorId", "Vendor", kind="hidden"),
    ),
    empty="No release is here. A finance maker prepares one on the page of the vendor's bank account.",
)
_QUARANTINES: Final = (
    Column("Quarantined", "quarantinedAt", "time"),
    Column("By", "quarantinedBy", "staff"),
    Column("Vendor", vendor_name, link="/vendors/{vendorId}/bank-details"),
    Column("Payout", "payoutNumber", link="/payouts/{payoutId}"),
    Column("Reason", "reason"),
)


@SCREENS.page("/bank-detail-releases", title="Releases of accounts", any_of=READERS, menu="Releases of accounts")
async def releases_page(visit: Visit) -> Response:
    return await show_list(visit, RELEASES)


@SCREENS.page("/bank-detail-releases/{id:uuid}", title="Release of an account", any_of=READERS)
async def release_page(visit: Visit) -> Response:
    """Return the quarantines that the release ends, and its decision with the hash."""
    release: Json = await visit.api.get(f"/api/bank-detail-releases/{visit['id']}")
    quarantines = release["quarantines"]
    names = await names_of(
        visit, release["preparedBy"], release["decidedBy"], *(one["quarantinedBy"] for one in quarantines)
    )
    return visit.render(
        "finance/release.html",
        release=release,
        quarantines=[{**one, "quarantinedBy": _name(visit, names, one["quarantinedBy"])} for one in quarantines],
        columns=_QUARANTINES,
        outdated=is_outdated(visit, release["hash"]),
        names=names,
    )


def _name(visit: Visit, names: dict[str, str], user_id: str) -> str:
    return "you" if user_id == visit.user.id else names.get(user_id) or FORMER


@SCREENS.action("/bank-detail-releases/{id:uuid}/approve", any_of=CHECKERS, page=release_page)
async def approve_release(visit: Visit) -> Response:
    path = f"/bank-detail-releases/{visit['id']}"
    decided: Json = await visit.api.post(f"/api{path}/approve", {"hash": visit.form["hash"]})
    return visit.go(path, approved(visit, decided, "The account is released, for every vendor that has it."))


@SCREENS.action("/bank-detail-releases/{id:uuid}/reject", any_of=CHECKERS, page=release_page)
async def reject_release(visit: Visit) -> Response:
    return await command(
        visit, {"reason": visit.form["reason"]}, "The release is rejected; the account stays quarantined."
    )


@SCREENS.page("/vendors/{id:uuid}/bank-details", title="Bank account of a vendor", any_of=READERS)
async def account_page(visit: Visit) -> Response:
    """Return the account by its history, with the forms of quarantine and release."""
    vendor_id = visit["id"]
    history, releases = await asyncio.gather(
        part(visit, f"/api/vendors/{vendor_id}/bank-details/history", limit=100),
        visit.api.page("/api/bank-detail-releases", vendorId=vendor_id),
    )
    changes = history or []
    await name_rows(visit, RELEASES.columns, releases.items)
    return visit.render(
        "finance/bank_account.html",
        vendor_id=vendor_id,
        changes=changes,
        columns=CHANGE_COLUMNS,
        releases=releases.items,
        release_columns=[column for column in RELEASES.columns if column.label != "Vendor"],
        is_quarantined=_newest(changes, "set", "quarantined", "released") == "quarantined",
        # The vendor may have set another account since.
        is_releasable=_newest(changes, "quarantined", "released") == "quarantined",
        is_prepared=any(one["status"] == "prepared" for one in releases.items),
    )


def _newest(changes: list[Json], *kinds: str) -> str | None:
    return next((change["change"] for change in changes if change["change"] in kinds), None)


@SCREENS.action("/vendors/{id:uuid}/bank-details/quarantine", any_of=MAKERS, page=account_page)
async def quarantine_account(visit: Visit) -> Response:
    body = {"reason": visit.form["reason"], **visit.form.given("payoutId")}
    return await command(visit, body, "The account is quarantined. No payout is sent to it, of any vendor.")


@SCREENS.action("/vendors/{id:uuid}/bank-details/release", any_of=MAKERS, page=account_page)
async def prepare_release(visit: Visit) -> Response:
    prepared: Json = await visit.api.post(f"/api{visit.path}", {"reason": visit.form["reason"]})
    return visit.go(f"/bank-detail-releases/{prepared['id']}", "The release is prepared. Another person approves it.")
