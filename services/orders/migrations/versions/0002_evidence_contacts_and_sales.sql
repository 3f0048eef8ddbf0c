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
