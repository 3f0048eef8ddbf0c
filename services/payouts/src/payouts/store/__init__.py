"""SQL for writes. Every function runs in the unit of work of its caller; nothing here decides."""

from payouts.store.bank_details import BankDetails, lock_bank_details, save_bank_details
from payouts.store.exceptions import (
    ClosedException,
    OpeningException,
    close_exception,
    count_company,
    open_exception_once,
)
from payouts.store.payouts import (
    Batch,
    find_batch,
    finish_batch,
    list_candidates,
    lock_payout,
    save_batch_once,
    save_payout,
    save_plan,
    save_transfer,
    settle_line,
)
from payouts.store.projections import save_order_share, save_vendor
from payouts.store.transfers import (
    Submission,
    begin_submission,
    find_transfer,
    leave_unknown,
    lock_transfer,
    mark_processed,
    plan_ask,
    record_observation,
    save_recipient_code,
    save_transfer_status,
    take_due_transfers,
)
from payouts.store.wallets import append_lines, find_line_net, lock_wallet

__all__ = [
    "BankDetails",
    "Batch",
    "ClosedException",
    "OpeningException",
    "Submission",
    "append_lines",
    "begin_submission",
    "close_exception",
    "count_company",
    "find_batch",
    "find_line_net",
    "find_transfer",
    "finish_batch",
    "leave_unknown",
    "list_candidates",
    "lock_bank_details",
    "lock_payout",
    "lock_transfer",
    "lock_wallet",
    "mark_processed",
    "open_exception_once",
    "plan_ask",
    "record_observation",
    "save_bank_details",
    "save_batch_once",
    "save_order_share",
    "save_payout",
    "save_plan",
    "save_recipient_code",
    "save_transfer",
    "save_transfer_status",
    "save_vendor",
    "settle_line",
    "take_due_transfers",
]
