"""Request bodies of releases of quarantined accounts (contract section 8.2)."""

from common.web.schemas import RequestBody
from payouts.schemas.reconciliations import Reason


class PrepareBankDetailReleaseRequest(RequestBody):
    reason: Reason


class RejectBankDetailReleaseRequest(RequestBody):
    reason: Reason
