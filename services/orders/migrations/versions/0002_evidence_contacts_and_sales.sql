-- Images about a dispute by its buyer or its vendor. The service inserts and deletes; a row's content never changes.
CREATE TABLE dispute_evidence (
    id uuid PRIMARY KEY,
    order_id uuid NOT NULL,
    author text NOT NULL,
    byte_count integer NOT NULL,
    created_at timestamptz NOT NULL,
    CONSTRAINT dispute_evidence_dispute FOREIGN KEY (order_id) REFERENCES order_disputes (order_id),
    CONSTRAINT dispute_evidence_author_known CHECK (author IN ('buyer', 'vendor'))
);
CREATE INDEX dispute_evidence_of_order ON dispute_evidence (order_id, created_at, id);
ALTER TABLE dispute_evidence ENABLE ROW LEVEL SECURITY;
GRANT SELECT ON dispute_evidence TO campus_orders_api;
REVOKE UPDATE ON dispute_evidence FROM campus_orders_service;
-- Visible with their dispute, whose own policy holds.
CREATE POLICY dispute_evidence_with_its_dispute ON dispute_evidence FOR SELECT
    USING (EXISTS (SELECT FROM order_disputes AS dispute WHERE dispute.order_id = dispute_evidence.order_id));

CREATE INDEX IF NOT EXISTS return_requests_newest ON return_requests (created_at, id);
CREATE INDEX IF NOT EXISTS return_requests_newest_of_status ON return_requests (status, created_at, id);
CREATE INDEX IF NOT EXISTS return_requests_newest_of_buyer ON return_requests (buyer_id, created_at, id);
CREATE INDEX IF NOT EXISTS return_requests_newest_of_vendor ON return_requests (vendor_id, created_at, id);

-- The names and proven numbers of users, as identity's events report them. `contact_encrypted` is name and number under
-- PIN_KEY, empty without either. The row of an erased user stays empty and rejects older events.
CREATE TABLE user_contacts (
    user_id uuid PRIMARY KEY,
    short_name text,
    contact_encrypted text NOT NULL,
    sequence bigint NOT NULL
);
ALTER TABLE user_contacts ENABLE ROW LEVEL SECURITY;
GRANT SELECT (user_id, short_name, contact_encrypted) ON user_contacts TO campus_orders_api;
-- One's own, the buyers of the orders that the caller sees under the policies of `orders`, and the owners of the vendors
-- that the caller bought from.
CREATE POLICY user_contacts_of_orders ON user_contacts FOR SELECT
    USING (
        user_id = (SELECT app_user_id())
        OR (SELECT app_may('orders:read'))
        OR EXISTS (SELECT FROM orders AS bought WHERE bought.buyer_id = user_contacts.user_id)
        OR EXISTS (
            SELECT FROM orders AS own JOIN vendors AS vendor ON vendor.id = own.vendor_id
            WHERE own.buyer_id = (SELECT app_user_id()) AND vendor.owner_user_id = user_contacts.user_id
        )
    );
