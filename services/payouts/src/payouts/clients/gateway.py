"""The port to a payment gateway's outgoing side. Each adapter is a module next to it.

No raw response of a provider passes it: an adapter returns the records of the domain.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from payouts.domain.bank_accounts import Bank
from payouts.domain.errors import GatewayUnavailable
from payouts.domain.found_transfers import TransferPage
from payouts.domain.gateway_results import Recipient, Refused, SubmitResult, Unclear, VerifyResult
from payouts.domain.transfer_fees import FeeSchedule
from providers.gateways import GatewayName


class Gateway(Protocol):
    """Calls of one gateway account. Every call ends within its time limit. Amounts in kobo.

    GatewayUnavailable is GatewayKeyRejected when the gateway does not accept our key. A call that returns `Unclear`
    reports that fault by the hook of its adapter.
    """

    @property
    def name(self) -> GatewayName:
        """The gateway's name in rows and alerts."""

    @property
    def transfer_minimum_minor(self) -> int:
        """The smallest transfer that the gateway sends."""

    @property
    def fees(self) -> FeeSchedule:
        """The fees that the gateway charges for transfers."""

    async def balance_minor(self) -> int:
        """Return the NGN balance, which may be negative. Raises GatewayUnavailable."""

    async def banks(self) -> list[Bank]:
        """Return the banks that accept transfers in naira. Raises GatewayUnavailable."""

    async def account_name(self, account_number: str, bank_code: str) -> str | None:
        """Return the account holder's name; None when the bank has no such account. Raises GatewayUnavailable."""

    async def create_recipient(self, recipient: Recipient) -> str | Refused | Unclear:
        """Return the gateway's code for the account. The same account always has the same code."""

    async def transfer(self, reference: str, recipient_code: str, amount_minor: int) -> SubmitResult:
        """Request the transfer under a reference that the gateway accepts once."""

    async def verify(self, reference: str) -> VerifyResult:
        """Return the gateway's present report of this reference."""

    async def page_of_transfers(self, since: datetime, page: int) -> TransferPage:
        """Return one page of transfers accepted since then, newest first, from page 1. Raises GatewayUnavailable."""


class Gateways:
    """The active gateways: new transfers go to one, and everything else to the gateway of the attempt."""

    def __init__(self, adapters: Sequence[Gateway], for_new_transfers: GatewayName) -> None:
        self._adapters: dict[GatewayName, Gateway] = {adapter.name: adapter for adapter in adapters}
        self.for_new_transfers: GatewayName = for_new_transfers

    def of(self, name: GatewayName) -> Gateway:
        """Return the gateway of this name. Raises GatewayUnavailable when its key is not set."""
        adapter = self._adapters.get(name)
        if adapter is None:
            raise GatewayUnavailable
        return adapter

    def all(self) -> Sequence[Gateway]:
        return list(self._adapters.values())
