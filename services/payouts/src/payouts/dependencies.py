"""The dependencies of routes, consumers and timers, opened by the composition root."""

from dataclasses import dataclass
from datetime import timedelta

from common.database.unit_of_work import Database
from common.documents.rendering import DocumentRenderer
from common.primitives.clock import Clock
from common.primitives.cursors import CursorSigner
from common.primitives.encryption import Encryptor
from payouts.clients.gateway import Gateway, Gateways
from payouts.domain.arrivals import ArrivalTerms, BankCalendar
from payouts.domain.failure_rate import FailureRatePolicy
from payouts.settings import Settings
from payouts.store.account_numbers import AccountNumbers


@dataclass(frozen=True, slots=True)
class Dependencies:
    settings: Settings
    clock: Clock
    database: Database
    cursors: CursorSigner
    gateways: Gateways
    account_numbers: AccountNumbers
    hash_key_encryptor: Encryptor
    documents: DocumentRenderer

    @property
    def gateway(self) -> Gateway:
        """The gateway of new transfers."""
        return self.gateways.of(self.gateways.for_new_transfers)

    @property
    def failure_rate_policy(self) -> FailureRatePolicy:
        """The limits of the failure rate's alert."""
        settings = self.settings
        calm_for = timedelta(seconds=settings.payout_observation_calm_seconds)
        return FailureRatePolicy(settings.observation_window, settings.payout_observation_attempts_min, calm_for)

    @property
    def payout_minimum_minor(self) -> int:
        """The smallest payout, in kobo: ours, and never less than the gateway sends."""
        return max(self.settings.payout_minimum_minor, self.transfer_minimum_minor)

    @property
    def transfer_minimum_minor(self) -> int:
        """The smallest transfer that the gateway of new transfers sends, in kobo."""
        return self.gateway.transfer_minimum_minor

    @property
    def arrival_terms(self) -> ArrivalTerms:
        """The bank days of a payout and of its transfer."""
        settings, calendar = self.settings, BankCalendar(frozenset(self.settings.payout_bank_holidays))
        return ArrivalTerms(settings.payout_send_bank_days, settings.payout_transfer_bank_days, calendar)

    @property
    def cooling(self) -> timedelta:
        """The waiting time of payouts to changed bank details."""
        return timedelta(seconds=self.settings.bank_details_cooling_seconds)
