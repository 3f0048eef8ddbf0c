"""Support tickets."""

__all__ = [
    "assign_ticket",
    "attach_image",
    "change_ticket_priority",
    "check_assignee",
    "check_message_key",
    "check_own_order",
    "close_ticket",
    "erase_tickets",
    "notify_reply",
    "open_ticket",
    "read_ticket",
    "record_customer_message",
    "write_to_ticket",
]

STEPS = ("check_write_access",)
