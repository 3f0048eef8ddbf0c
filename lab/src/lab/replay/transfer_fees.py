"""The fees of transfers that the gateway keeps, posted and returned. Kobo."""

from collections.abc import Iterable

from lab.replay.gateway import GatewayRecord
from lab.replay.postings import DerivedPosting, NoInput, derived, found


class TransferFees:
    """Derives the fees of one ledger's transfers, and compares what is posted with what the gateway has kept."""

    def __init__(self, gateway: GatewayRecord) -> None:
        self._gateway = gateway
        self._posted_minor: dict[str, int] = {}

    def post(self, subject: str, reference: str) -> DerivedPosting:
        """Return a fee that the gateway deducted with a transfer, or returned with its money; then the two follow each
        other. Raises NoInput.
        """
        correction = subject.partition(":")[2]
        charged_minor = int(found(self._gateway.succeeded, reference, "successful transfer")["fee_charged"])
        posted_minor = self._posted_minor.get(reference, 0)
        if bool(correction) != (reference in self._posted_minor):
            raise NoInput(f"the fee of transfer {reference} is posted once, and each later posting corrects it")
        if correction and reference not in self._gateway.returned:
            raise NoInput(f"the gateway did not return the fee of transfer {reference}")
        self._posted_minor[reference] = charged_minor - posted_minor
        added_minor, source = charged_minor - 2 * posted_minor, f"the fee of transfer {reference}"
        key = f"transfer_fee:{subject}"
        return derived(key, "transfer_fee", {"transfer_fees": added_minor}, {"gateway_cash": added_minor}, source)

    def unposted(self, references: Iterable[str]) -> list[str]:
        """Return the transfers whose posted fee is not the one that the gateway has kept."""
        unposted = []
        for reference in references:
            row = self._gateway.transfers.get(reference)
            kept_minor = int(row["fee_charged"]) if row is not None and row["status"] == "success" else 0
            posted_minor = self._posted_minor.get(reference, 0)
            if kept_minor != posted_minor:
                unposted.append(f"the fee of transfer {reference} is {kept_minor} kobo, and {posted_minor} are posted")
        return unposted
