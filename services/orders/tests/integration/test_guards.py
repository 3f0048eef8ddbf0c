"""Every constraint, unique index, trigger and row policy of orders rejects what it exists for.

A new guard needs its line here: the test names it.
"""

from typing import Final

from testkit.fixtures import DatabaseFactory
from testkit.guarded_tables import NOW, OPERATION_STOPS, OTHERS, OURS, GuardedTable, InsertAfter, decided_by_two
from testkit.guards import Guards

from .guarded_catalog import BUYER_ERASURE, CATALOG, VENDOR_CLOSING

TABLES: Final = {
    **CATALOG,
    "operation_stops": OPERATION_STOPS,
    "buyer_addresses": GuardedTable(
        policies={
            "SELECT buyer_addresses_for_support": ("orders:read",),
            "SELECT buyer_addresses_of_the_campus_admins_campus": ("campus campus_orders:read",),
        }
    ),
    "campuses": GuardedTable(policies={"SELECT campuses_known": ("public",)}),
    "cart_items": GuardedTable(
        checks={"cart_items_quantity_1_to_99": {"quantity": 0}},
        triggers={"cart_items_refuse_leaving_buyer": (InsertAfter(BUYER_ERASURE),)},
        policies={"SELECT INSERT UPDATE DELETE cart_items_of_the_buyer": ("user",)},
    ),
    "cart_variants": GuardedTable(
        checks={"cart_variants_quantity_1_to_99": {"quantity": 0}},
        triggers={"cart_variants_refuse_leaving_buyer": (InsertAfter(BUYER_ERASURE),)},
        policies={"SELECT INSERT UPDATE DELETE cart_variants_of_the_buyer": ("user",)},
    ),
    "document_counters": GuardedTable(),
    "issued_documents": GuardedTable(
        row={"recipient_id": OURS},
        unique={"issued_documents_pkey": {"vendor_id": OTHERS}, "issued_documents_number_once": {"subject_id": OTHERS}},
        policies={"SELECT issued_documents_of_their_buyer": ("user",)},
    ),
    "delivery_pins": GuardedTable(
        checks={
            "delivery_pins_issue_1_to_10": {"issue": 0},
            "delivery_pins_wrong_tries_at_most_5": {"wrong_tries": -1},
        },
        references={"delivery_pins_order": {"order_id": OTHERS}},
        policies={"SELECT delivery_pins_of_the_buyer": ("user",)},
    ),
    "delivery_verifications": GuardedTable(references={"delivery_verifications_order": {"order_id": OTHERS}}),
    "dispute_evidence": GuardedTable(
        row={"author": "buyer"},
        checks={"dispute_evidence_author_known": {"author": "x"}},
        references={"dispute_evidence_dispute": {"order_id": OTHERS}},
        policies={
            "SELECT dispute_evidence_with_its_dispute": (
                "user",
                "vendor orders:fulfil",
                "disputes:prepare",
                "disputes:approve",
                "orders:read",
            )
        },
    ),
    "dispute_resolutions": GuardedTable(
        row={"outcome": "buyer", "status": "prepared"},
        checks={
            "dispute_resolutions_decided_by_another_person": {
                "status": "approved",
                "decided_by": OURS,
                "decided_at": NOW,
            },
            "dispute_resolutions_decided_once": {"status": "approved"},
            "dispute_resolutions_outcome_known": {"outcome": "x"},
            "dispute_resolutions_refund_fits_outcome": {"outcome": "vendor"},
            "dispute_resolutions_status_known": {"status": "x", "decided_by": OTHERS, "decided_at": NOW},
        },
        unique={
            "dispute_resolutions_pkey": {"order_id": OTHERS},
            "dispute_resolutions_one_prepared": {"id": OTHERS},
            "dispute_resolutions_one_approved": (
                {"status": "approved", "decided_by": OTHERS, "decided_at": NOW},
                {"id": OTHERS},
            ),
        },
        references={"dispute_resolutions_order": {"order_id": OTHERS}},
        policies={"SELECT dispute_resolutions_of_staff": ("disputes:prepare", "disputes:approve", "orders:read")},
    ),
    "hash_keys": GuardedTable(),
    "hubs": GuardedTable(policies={"SELECT hubs_known": ("public",)}),
    "leaving_people": GuardedTable(
        row={"standing": "stays"}, checks={"leaving_people_standing_known": {"standing": "x"}}
    ),
    "order_disputes": GuardedTable(
        row={"cause": "pin_window"},
        checks={
            "order_disputes_by_the_buyer_has_an_author": {"cause": "buyer"},
            "order_disputes_cause_known": {"cause": "x"},
            "order_disputes_charge_outcome_known": {"charge_outcome": "x"},
            "order_disputes_ended_with_an_outcome": {"outcome": "buyer"},
            "order_disputes_outcome_known": {"outcome": "x", "ended_at": NOW},
        },
        references={"order_disputes_order": {"order_id": OTHERS}},
        policies={
            "SELECT order_disputes_of_their_parties": (
                "user",
                "vendor orders:fulfil",
                "disputes:prepare",
                "disputes:approve",
                "orders:read",
            )
        },
    ),
    "order_history": GuardedTable(
        row={"id": 1},
        references={"order_history_order": {"order_id": OTHERS}},
        policies={
            "SELECT order_history_with_its_order": (
                "user",
                "vendor orders:fulfil",
                "hub orders:verify",
                "orders:read",
                "campus campus_orders:read",
                "charged_orders:read",
            )
        },
    ),
    "order_items": GuardedTable(
        checks={
            "order_items_line_total_minor_is_the_product": {"quantity": 2},
            "order_items_quantity_1_to_99": {"quantity": -1, "unit_price_minor": -1},
        },
        unique={"order_items_pkey": {"order_id": OTHERS, "position": 0}, "order_items_of_order": {"id": OTHERS}},
        references={"order_items_order": {"order_id": OTHERS}, "order_items_variant": {"variant_id": OTHERS}},
        policies={
            "SELECT order_items_of_the_campus_admins_campus": ("campus campus_orders:read",),
            "SELECT order_items_of_their_parties": ("user", "vendor orders:fulfil", "orders:read"),
            "INSERT order_items_placed_by_their_buyer": ("user",),
            "SELECT order_items_with_their_order": ("charged_orders:read", "hub orders:verify"),
        },
    ),
    "order_refunds": GuardedTable(
        row={"status": "requested"},
        checks={
            "order_refunds_amount_minor_positive": {"amount_minor": 0},
            "order_refunds_status_known": {"status": "x"},
        },
        references={"order_refunds_order": {"order_id": OTHERS}},
    ),
    "order_timers": GuardedTable(
        row={"kind": "payment_window"},
        checks={"order_timers_kind_known": {"kind": "x"}},
        references={"order_timers_order": {"order_id": OTHERS}},
        policies={"INSERT order_timers_started_by_checkout": ("public",)},
        rejected_rows={"order_timers_started_by_checkout": ({"kind": "pin_window"},)},
    ),
    "orders": GuardedTable(
        row={
            "delivered_at": NOW,
            "escrow_sequence": 1,
            "hub_id": OURS,
            "number": "CM-0000-0000",
            "purchase_id": OURS,
            "status": "Processing",
            "total_amount": 2,
        },
        checks={
            "orders_escrow_minor_within_total": {"escrow_minor": -1},
            "orders_number_in_base_32": {"number": "x"},
            "orders_refunded_minor_within_total": {"refunded_minor": -1},
            "orders_status_known": {"status": "x"},
            "orders_total_amount_is_the_sum": {"total_amount": 1},
        },
        unique={
            "orders_pkey": {"buyer_id": OTHERS, "idempotency_key": OTHERS},
            "orders_number_once": {"buyer_id": OTHERS, "id": OTHERS, "idempotency_key": OTHERS},
            "orders_idempotency_key_once_per_buyer": {"id": OTHERS, "number": "CM-0000-0001"},
        },
        references={"orders_purchase": {"purchase_id": OTHERS}},
        triggers={
            "orders_refuse_leaving_buyer": (InsertAfter(BUYER_ERASURE),),
            "orders_refuse_leaving_vendor": (InsertAfter(VENDOR_CLOSING),),
        },
        policies={
            "SELECT orders_of_the_campus_admins_campus": ("campus campus_orders:read",),
            "SELECT orders_of_their_parties": ("user", "vendor orders:fulfil", "hub orders:verify", "orders:read"),
            "INSERT orders_placed_by_their_buyer": ("user orders:place",),
            "SELECT orders_with_a_charge": ("charged_orders:read",),
        },
        restrictions={
            "orders_never_of_ones_own_vendor": ("user vendor orders:place", "user packing_vendor orders:place")
        },
        rejected_rows={"orders_placed_by_their_buyer": ({"status": "paid_escrow"},)},
    ),
    "pin_reissues": GuardedTable(
        row={"status": "prepared"},
        checks={**decided_by_two("pin_reissues"), "pin_reissues_decided_once": {"status": "approved"}},
        unique={"pin_reissues_pkey": {"order_id": OTHERS}, "pin_reissues_one_prepared": {"id": OTHERS}},
        references={"pin_reissues_order": {"order_id": OTHERS}},
        policies={"SELECT pin_reissues_of_staff": ("pin_reissues:prepare", "pin_reissues:approve", "orders:read")},
    ),
    "purchase_drafts": GuardedTable(
        row={"purchase_id": OURS},
        unique={"purchase_drafts_pkey": {"purchase_id": None}, "purchase_drafts_purchase_id_key": {"id": OTHERS}},
        references={"purchase_drafts_purchase": {"purchase_id": OTHERS}},
        triggers={"purchase_drafts_refuse_leaving_buyer": (InsertAfter(BUYER_ERASURE),)},
        policies={
            "SELECT purchase_drafts_of_the_buyer": ("user",),
            "UPDATE purchase_drafts_checked_out_by_the_buyer": ("user",),
        },
    ),
    "purchases": GuardedTable(
        row={"number": "CP-0000-0000"},
        checks={"purchases_number_in_base_32": {"number": "x"}},
        unique={
            "purchases_pkey": {"buyer_id": OTHERS, "idempotency_key": OTHERS, "number": "CP-0000-0001"},
            "purchases_number_once": {"buyer_id": OTHERS, "id": OTHERS, "idempotency_key": OTHERS},
            "purchases_idempotency_key_once_per_buyer": {"id": OTHERS, "number": "CP-0000-0001"},
        },
        policies={
            "SELECT purchases_of_their_buyer": ("user", "orders:read"),
            "INSERT purchases_placed_by_their_buyer": ("user orders:place",),
            "SELECT purchases_with_a_charge": ("charged_orders:read",),
        },
    ),
    "return_request_items": GuardedTable(
        checks={"return_request_items_quantity_positive": {"quantity": 0}},
        references={
            "return_request_items_item": {"item_id": OTHERS},
            "return_request_items_request": {"return_request_id": OTHERS},
        },
        policies={
            "SELECT return_request_items_with_their_request": (
                "user",
                "vendor orders:fulfil",
                "returns:decide",
                "orders:read",
            )
        },
    ),
    "return_requests": GuardedTable(
        row={"status": "requested"},
        checks={
            "return_requests_decided_once": {"status": "rejected"},
            "return_requests_not_decided_by_the_buyer": {"status": "rejected", "decided_by": OURS, "decided_at": NOW},
            "return_requests_refund_of_an_approval": {"refund_minor": 1},
            "return_requests_status_known": {"status": "x", "decided_by": OTHERS, "decided_at": NOW},
        },
        references={"return_requests_order": {"order_id": OTHERS}},
        triggers={"return_requests_refuse_leaving_buyer": (InsertAfter(BUYER_ERASURE),)},
        policies={
            "SELECT return_requests_of_their_parties": ("user", "vendor orders:fulfil", "returns:decide", "orders:read")
        },
    ),
    "sale_lines": GuardedTable(
        row={"gross_minor": 4, "locked_minor": 0},
        checks={"sale_lines_balanced": {"gross_minor": 1}},
        references={"sale_lines_item": {"item_id": OTHERS}},
        policies={
            "SELECT sale_lines_of_vendor_campus_and_finance": (
                "vendor orders:fulfil",
                "campus campus_orders:read",
                "ledger:read",
            )
        },
    ),
    "user_contacts": GuardedTable(
        policies={
            "SELECT user_contacts_of_orders": (
                "user",
                "orders:read",
                "vendor orders:fulfil",
                "hub orders:verify",
                "campus campus_orders:read",
            )
        }
    ),
}
GUARDS: Final = Guards(
    "orders",
    TABLES,
    {
        "flash_sales.flash_sales_mark_their_product": "test_flash_sales",
        "product_variants.product_variants_match_their_product": "test_variants",
        "products.products_match_their_variants": "test_variants",
        "products.products_record_saved_change": "test_saved_items",
        "reviews.reviews_keep_rating": "test_reviews",
    },
)


async def test_every_guard_is_listed_and_rejects_what_it_exists_for(module_database: DatabaseFactory) -> None:
    await GUARDS.hold((await module_database("orders")).admin)
