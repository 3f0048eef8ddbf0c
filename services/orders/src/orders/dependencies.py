"""The dependencies of routes, consumers and timers, opened by the composition root."""

from dataclasses import dataclass

from common.database.unit_of_work import Database
from common.documents.rendering import DocumentRenderer
from common.media.images import ImageProcessor
from common.media.storage import MediaStore
from common.primitives.cells import Cells
from common.primitives.clock import Clock
from common.primitives.cursors import CursorSigner
from orders.domain.buyer_addresses import AddressHashes
from orders.domain.orders import Windows
from orders.domain.unpaid_limits import UnpaidLimits
from orders.settings import Settings
from orders.store.contacts import ContactEncryption
from orders.store.receipts import ReceiptStore
from orders.use_cases.delivery.issue_delivery_pin import PinIssuer


@dataclass(frozen=True, slots=True)
class Dependencies:
    """Everything that a request, a message or a timer of this service needs."""

    settings: Settings
    clock: Clock
    database: Database
    cursors: CursorSigner
    windows: Windows
    unpaid_limits: UnpaidLimits
    balance_refunds_enabled: bool
    cells: Cells | None
    address_hashes: AddressHashes
    contacts: ContactEncryption
    pins: PinIssuer
    receipts: ReceiptStore
    documents: DocumentRenderer
    image_processor: ImageProcessor
    media: MediaStore
    media_url: str
