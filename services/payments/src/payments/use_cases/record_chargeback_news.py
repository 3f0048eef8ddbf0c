"""Record what the gateway says about a dispute of a charge: opened, reminded of, or decided (contract sections 6 and 7)."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from common.database import UnitOfWork
from common.telemetry import STALE_NEWS
from payments import store
from payments.domain.chargebacks import disputed_minor, read_chargeback
from payments.domain.errors import ChargebackContradiction, SubjectUnknown
from payments.store import chargebacks
from payments.use_cases.alert_chargeback import alert_chargeback
from payments.use_cases.lose_chargeback import lose_chargeback
from payments.use_cases.open_chargeback import open_chargeback
from payments.use_cases.win_chargeback import win_chargeback


async def record_chargeback_news(uow: UnitOfWork, event_type: str, told: Mapping[str, Any], now: datetime) -> bool:
    """Whether it moved anything. A decision that comes first opens the chargeback too; an opening that comes after it is stale.

    Raises SubjectUnknown for a charge that is not known yet, ChargebackContradiction and NewsUnreadable.
    """
    news = read_chargeback(event_type, told)
    charge = await chargebacks.lock_disputed_charge(uow, news.reference, news.gateway_id)
    if charge is None:
        raise SubjectUnknown("a dispute of a charge that is not known yet")
    amount_minor = disputed_minor(news, charge)
    held = await store.lock_escrow(uow, charge.order_id) if charge.order_id is not None else None
    standing = await chargebacks.lock_chargeback(uow, news.identity)
    if news.outcome is None:
        if standing is None:
            await open_chargeback(uow, charge, held, news.identity, amount_minor, news.reason, now)
        elif standing.status == "opened":
            alert_chargeback(uow, standing.id, "opened", charge, amount_minor)
        else:
            STALE_NEWS.labels(event_type).inc()
            return False
        return True
    if standing is None:
        standing = await open_chargeback(uow, charge, held, news.identity, amount_minor, news.reason, now)
    if standing.status == news.outcome:
        return False
    if (standing.status, news.outcome) == ("won", "lost"):
        # What a bank gives up it does not take later under the same dispute: people must look before money is written off.
        raise ChargebackContradiction(f"dispute {news.identity} was won, and is now said to be lost")
    if news.outcome == "lost":
        await lose_chargeback(uow, standing.id, charge, held, amount_minor, now)
    else:
        await win_chargeback(uow, standing, charge, held, now)
    return True
