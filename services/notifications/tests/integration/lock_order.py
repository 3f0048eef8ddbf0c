"""The order in which the transactions of this service lock rows (decision 181)."""

from typing import Final

from testkit.recorded_locks import LockOrder

LOCK_ORDER: Final = LockOrder(
    places=(
        # Identity's events share a transaction, sorted by user or vendor.
        {"contacts": "user_id", "vendors": "vendor_id", "shop_members": "user_id"},
        {"webhook_endpoints": "id"},
        {"webhook_deliveries": "id"},
        {"webhook_events": "id"},
        {"dead_letter_webhooks": "id"},
        {"processed_webhook_events": "id"},
        {"messaging_items": "id"},
        {"support_tickets": "id"},
        {"support_messages": "id"},
        {"support_notes": "id"},
        {"support_attachments": "id"},
        # Events of orders share a transaction, sorted by order.
        {"order_summaries": "order_id", "pin_watches": "order_id"},
        {"feeds": "user_id"},
        {"notification_deliveries": "id"},
        {"notification_delivery_logs": "id"},
        {"user_devices": "id"},
        {"notifications": "id"},
        {"notification_preferences": "user_id"},
        {"provider_pauses": "provider"},
        {"alerts": "dedup_key"},
        {"drills": "id"},
        {"notification_resends": "id"},
        {"conversations": "id"},
        {"conversation_messages": "id"},
        {"conversation_turns": "conversation_id"},
        {"leaving_pictures": "picture_id"},
        {"dead_letters": "id"},
        {"hash_keys": "name"},
        {"session_revocations": "session_id"},
        {"outbox_sequences": "subject"},
        {"outbox": "position"},
    ),
    guarded={
        "notification_delivery_logs": "notification_deliveries",
        "support_messages": "support_tickets",
        "support_notes": "support_tickets",
        "support_attachments": "support_tickets",
        "webhook_deliveries": "webhook_endpoints",
    },
)
