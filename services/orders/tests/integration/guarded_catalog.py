"""The guarded tables of the catalog: products, flash sales, reviews, reports, saved products and conversations."""

from typing import Final

from testkit.guarded_tables import LATER, NOW, OTHERS, OURS, GuardedTable, InsertAfter

BUYER_ERASURE: Final = f"UPDATE leaving_people SET standing = 'leaves', vendor_id = '{OTHERS}'"
VENDOR_CLOSING: Final = f"UPDATE leaving_people SET standing = 'leaves', vendor_id = '{OURS}', user_id = '{OTHERS}'"
CATALOG: Final = {
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
    "followed_vendors": GuardedTable(
        references={"followed_vendors_vendor": {"vendor_id": OTHERS}},
        triggers={"followed_vendors_refuse_leaving_buyer": (InsertAfter(BUYER_ERASURE),)},
        policies={"SELECT INSERT DELETE followed_vendors_of_the_buyer": ("user",)},
    ),
    "leaving_pictures": GuardedTable(policies={"SELECT INSERT UPDATE DELETE leaving_pictures_own": ("vendor",)}),
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
    "product_takedowns": GuardedTable(
        checks={"product_takedowns_restored_once": {"restored_at": NOW}},
        unique={
            "product_takedowns_pkey": {"restored_by": OTHERS, "restored_at": NOW, "restored_because": "x"},
            "product_takedowns_one_open": {"id": OTHERS},
        },
        references={"product_takedowns_product": {"product_id": OTHERS}},
        policies={"SELECT product_takedowns_of_the_campus_and_staff": ("reports:read", "campus listings:delist")},
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
    "vendors": GuardedTable(row={"owner_user_id": OTHERS}, policies={"SELECT vendors_known": ("public",)}),
}
