"""Every constraint, unique index, trigger and row policy of orders rejects what it exists for.

A new guard needs its line here: the test names it.
"""

from typing import Final

from testkit.fixtures import DatabaseFactory
from testkit.guarded_tables import LATER, NOW, OTHERS, OURS, GuardedTable, InsertAfter, decided_by_two
from testkit.guards import Guards

BUYER_ERASURE: Final = f"UPDATE leaving_people SET standing = 'leaves', vendor_id = '{OTHERS}'"
VENDOR_CLOSING: Final = f"UPDATE leaving_people SET standing = 'leaves', vendor_id = '{OURS}', user_id = '{OTHERS}'"
TABLES: Final = {
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
    "conversation_messages": GuardedTable(
        row={"author": "buyer"},
        checks={
            "conversation_messages_author_known": {"author": "x"},
            "conversation_messages_hidden_for_a_reason": {"hidden_at": NOW},
        },
        references={"conversation_messages_conversation": {"conversation_id": OTHERS}},
        policies={
            "SELECT conversation_messages_with_their_conversation": (
                "user",
                "vendor catalog:own",
                "disputes:prepare",
                "reports:decide",
            )
        },
    ),
    "conversation_images": GuardedTable(
        row={"message_id": OURS},
        unique={
            "conversation_images_pkey": {"message_id": OTHERS},
            "conversation_images_one_of_message": {"id": OTHERS},
        },
        references={
            "conversation_images_conversation": {"conversation_id": OTHERS},
            "conversation_images_message": {"message_id": OTHERS},
        },
        policies={
            "SELECT conversation_images_with_their_message": (
                "user",
                "vendor catalog:own",
                "disputes:prepare",
                "reports:decide",
            )
        },
    ),
    "conversation_offers": GuardedTable(
        row={"created_at": NOW, "expires_at": LATER},
        checks={
            "conversation_offers_at_most_48_hours": {"expires_at": NOW},
            "conversation_offers_ended_once": {"accepted_at": NOW},
            "conversation_offers_price_above_zero": {"unit_price_minor": 0},
            "conversation_offers_quantity_1_to_99": {"quantity": 0},
        },
        unique={
            "conversation_offers_pkey": {"message_id": OTHERS},
            "conversation_offers_one_of_message": {"id": OTHERS},
        },
        references={
            "conversation_offers_message": {"message_id": OTHERS},
            "conversation_offers_order": {"accepted_at": NOW, "order_id": OTHERS},
            "conversation_offers_product": {"product_id": OTHERS},
        },
        policies={
            "SELECT conversation_offers_with_their_message": (
                "user",
                "vendor catalog:own",
                "disputes:prepare",
                "reports:decide",
            ),
            "UPDATE conversation_offers_accepted_by_their_buyer": ("user",),
        },
    ),
    "conversation_reads": GuardedTable(),
    "conversations": GuardedTable(
        row={"product_id": OURS},
        checks={
            "conversations_about_one_thing": {"product_id": None},
            "conversations_blocked_by_a_party": {"blocked_by": "x"},
        },
        unique={
            "conversations_pkey": {"product_id": OTHERS},
            "conversations_one_of_buyer_and_product": {"id": OTHERS},
            "conversations_one_of_order": ({"product_id": None, "order_id": OURS}, {"id": OTHERS}),
        },
        references={
            "conversations_product": {"product_id": OTHERS},
            "conversations_order": {"product_id": None, "order_id": OTHERS},
        },
        triggers={
            "conversations_refuse_leaving_buyer": (InsertAfter(BUYER_ERASURE),),
            "conversations_refuse_leaving_vendor": (InsertAfter(VENDOR_CLOSING),),
        },
        policies={
            "SELECT conversations_of_their_parties": ("user", "vendor catalog:own"),
            "SELECT conversations_of_disputes_and_returns": ("disputes:prepare",),
            "SELECT conversations_of_reported_messages": ("reports:decide",),
        },
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
    "flash_sale_units": GuardedTable(
        checks={"flash_sale_units_quantity_1_to_99": {"quantity": 0}},
        references={"flash_sale_units_order": {"order_id": OTHERS}, "flash_sale_units_sale": {"sale_id": OTHERS}},
        policies={"SELECT flash_sale_units_of_the_buyer": ("user",)},
    ),
    "flash_sales": GuardedTable(
        checks={
            "flash_sales_end_after_their_start": {"starts_at": LATER},
            "flash_sales_limit_within_quantity": {"quantity": 0},
            "flash_sales_never_sold_out_twice": {"sold": -1, "approved_at": NOW},
            "flash_sales_price_minor_positive": {"price_minor": 0},
            "flash_sales_sold_with_consent": {"sold": 1},
        },
        references={"flash_sales_product": {"product_id": OTHERS}, "flash_sales_variant": {"variant_id": OTHERS}},
        policies={
            "INSERT flash_sales_begun_by_their_vendor": ("vendor catalog:own",),
            "UPDATE flash_sales_ended_by_their_keeper": ("vendor catalog:own", "campus flash_sales:propose"),
            "SELECT flash_sales_open_to_all_once_approved": ("vendor catalog:own", "campus flash_sales:propose"),
            "INSERT flash_sales_proposed_by_campus_staff": ("campus flash_sales:propose",),
        },
        rejected_rows={
            "flash_sales_begun_by_their_vendor": ({"product_id": OTHERS},),
            "flash_sales_proposed_by_campus_staff": ({"product_id": OTHERS}, {"approved_at": NOW}),
        },
    ),
    "hash_keys": GuardedTable(),
    "followed_vendors": GuardedTable(
        references={"followed_vendors_vendor": {"vendor_id": OTHERS}},
        triggers={"followed_vendors_refuse_leaving_buyer": (InsertAfter(BUYER_ERASURE),)},
        policies={"SELECT INSERT DELETE followed_vendors_of_the_buyer": ("user",)},
    ),
    "hubs": GuardedTable(policies={"SELECT hubs_known": ("public",)}),
    "operation_stops": GuardedTable(
        row={"expires_at": LATER},
        checks={
            "operation_stops_expires_later": {"expires_at": NOW},
            "operation_stops_lifted_by": {"lift_reason": "x"},
        },
        policies={"SELECT operation_stops_known": ("public",)},
    ),
    "leaving_people": GuardedTable(
        row={"standing": "stays"}, checks={"leaving_people_standing_known": {"standing": "x"}}
    ),
    "leaving_pictures": GuardedTable(policies={"SELECT INSERT UPDATE DELETE leaving_pictures_own": ("vendor",)}),
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
    "product_variants": GuardedTable(
        row={"option_values": [1], "position": 0, "sku": "x", "active": True},
        checks={
            "product_variants_active_with_a_position": {"position": None},
            "product_variants_at_most_100": {"position": 100},
            "product_variants_options_1_to_3": {"option_values": []},
            "product_variants_price_minor_positive": {"price_minor": 0},
            "product_variants_stock_never_negative": {"stock": -1},
        },
        unique={
            "product_variants_pkey": {"position": 1, "option_values": [2], "sku": "y"},
            "product_variants_of_product": {"id": OTHERS, "option_values": [2], "sku": "y"},
            "product_variants_distinct": {"id": OTHERS, "position": 1, "sku": "y"},
            "product_variants_sku_once": {"id": OTHERS, "position": 1, "option_values": [2]},
        },
        references={"product_variants_product": {"product_id": OTHERS}},
        policies={
            "SELECT product_variants_with_their_product": ("public",),
            "SELECT INSERT UPDATE DELETE product_variants_written_by_their_vendor": ("vendor catalog:own",),
        },
    ),
    "products": GuardedTable(
        checks={
            "products_condition_known": {"condition": "x"},
            "products_currency_ngn": {"currency": "x"},
            "products_hidden_for_a_reason": {"hidden_at": NOW},
            "products_images_at_most_8": {"images": [1, 1, 1, 1, 1, 1, 1, 1, 1]},
            "products_options_at_most_3": {"options": [1, 1, 1, 1]},
            "products_price_minor_positive": {"price_minor": 0},
            "products_stock_never_negative": {"stock": -1},
        },
        unique={"products_pkey": {}, "products_sku_once": ({"sku": "x"}, {"id": OTHERS})},
        triggers={"products_refuse_leaving_vendor": (InsertAfter(VENDOR_CLOSING),)},
        policies={
            "UPDATE products_changed_by_their_vendor": ("vendor catalog:own",),
            "SELECT products_listed": ("public",),
            "INSERT products_written_by_their_vendor": ("vendor catalog:own",),
        },
        rejected_rows={
            "products_listed": ({"draft": True}, {"removed_at": NOW}, {"hidden_at": NOW, "hidden_because": "x"})
        },
    ),
    "pin_reissues": GuardedTable(
        row={"status": "prepared"},
        checks={**decided_by_two("pin_reissues"), "pin_reissues_decided_once": {"status": "approved"}},
        unique={"pin_reissues_pkey": {"order_id": OTHERS}, "pin_reissues_one_prepared": {"id": OTHERS}},
        references={"pin_reissues_order": {"order_id": OTHERS}},
        policies={"SELECT pin_reissues_of_staff": ("pin_reissues:prepare", "pin_reissues:approve", "orders:read")},
    ),
    "product_takedowns": GuardedTable(
        checks={"product_takedowns_restored_once": {"restored_at": NOW}},
        unique={
            "product_takedowns_pkey": {"restored_by": OTHERS, "restored_at": NOW, "restored_because": "x"},
            "product_takedowns_one_open": {"id": OTHERS},
        },
        references={"product_takedowns_product": {"product_id": OTHERS}},
        policies={"SELECT product_takedowns_of_the_campus_and_staff": ("reports:read", "campus listings:delist")},
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
    "reports": GuardedTable(
        row={"kind": "message"},
        checks={
            "reports_decided_by_another_person": {"outcome": "hide", "decided_by": OURS, "decided_at": NOW},
            "reports_decided_once": {"outcome": "hide"},
            "reports_kind_known": {"kind": "x"},
            "reports_outcome_known": {"outcome": "x", "decided_by": OTHERS, "decided_at": NOW},
        },
        unique={"reports_pkey": {"reporter_id": OTHERS}, "reports_one_open": {"id": OTHERS}},
        policies={
            "SELECT reports_of_their_reporter_and_staff": ("user", "reports:read", "campus vendors:suspend"),
            "INSERT reports_made_by_their_reporter": ("user",),
        },
        rejected_rows={
            "reports_made_by_their_reporter": ({"outcome": "hide", "decided_by": OTHERS, "decided_at": NOW},)
        },
    ),
    "reviews": GuardedTable(
        checks={
            "reviews_hidden_by_somebody_for_a_reason": {"hidden_at": NOW},
            "reviews_rating_1_to_5": {"rating": 0},
            "reviews_reply_has_a_time": {"reply_text": "x"},
        },
        unique={
            "reviews_pkey": {"order_id": OTHERS},
            "reviews_one_of_the_vendor": {"id": OTHERS},
            "reviews_one_of_each_product": ({"product_id": OURS}, {"id": OTHERS}),
        },
        references={"reviews_order": {"order_id": OTHERS}},
        triggers={"reviews_refuse_leaving_buyer": (InsertAfter(BUYER_ERASURE),)},
        policies={
            "INSERT reviews_by_the_buyer_of_a_delivered_order": ("user orders:place",),
            "UPDATE reviews_moderated": ("reviews:moderate",),
            "UPDATE reviews_replied_to_by_their_vendor": ("vendor catalog:own",),
            "SELECT reviews_shown": ("public",),
        },
        restrictions={
            "reviews_never_of_ones_own_vendor": ("user vendor orders:place", "user packing_vendor orders:place")
        },
        rejected_rows={
            "reviews_by_the_buyer_of_a_delivered_order": ({"order_id": OTHERS}, {"product_id": OTHERS}),
            "reviews_shown": ({"hidden_at": NOW, "hidden_by": OTHERS, "hidden_because": "x"},),
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
    "saved_product_changes": GuardedTable(
        row={"id": OURS, "kind": "price_drop"},
        checks={"saved_product_changes_kind_known": {"kind": "x"}},
        references={"saved_product_changes_product": {"product_id": OTHERS}},
    ),
    "saved_products": GuardedTable(
        references={"saved_products_product": {"product_id": OTHERS}},
        triggers={"saved_products_refuse_leaving_buyer": (InsertAfter(BUYER_ERASURE),)},
        policies={"SELECT INSERT DELETE saved_products_of_the_buyer": ("user",)},
    ),
    "search_words": GuardedTable(
        policies={"SELECT search_words_known": ("public",), "INSERT search_words_of_merchants": ("catalog:own",)}
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
    "vendors": GuardedTable(row={"owner_user_id": OTHERS}, policies={"SELECT vendors_known": ("public",)}),
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
