-- Written once: the service may change only the columns named here.
REVOKE UPDATE, DELETE ON charges FROM campus_payments_service;
GRANT UPDATE (order_id, verdict) ON charges TO campus_payments_service;

ALTER TABLE escrows ENABLE ROW LEVEL SECURITY;
GRANT
    SELECT,
    UPDATE (
        locked_vendor_minor, locked_commission_minor, locked_delivery_fee_minor, released_vendor_minor,
        released_commission_minor, released_delivery_fee_minor, refunded_minor
    )
ON escrows TO campus_payments_api;
-- Written once.
REVOKE UPDATE, DELETE ON escrows FROM campus_payments_service;
GRANT
    UPDATE (
        locked_vendor_minor, locked_commission_minor, locked_delivery_fee_minor, released_vendor_minor,
        released_commission_minor, released_delivery_fee_minor, refunded_minor, disputed_at, dispute_sequence,
        charged_back_minor
    )
ON escrows TO campus_payments_service;
CREATE POLICY escrows_visible ON escrows FOR SELECT USING (app_may('escrow:release'));
CREATE POLICY escrows_released ON escrows FOR UPDATE USING (app_may('escrow:release'));

ALTER TABLE releases ENABLE ROW LEVEL SECURITY;
GRANT SELECT, INSERT ON releases TO campus_payments_api;
-- Written once.
REVOKE UPDATE, DELETE ON releases FROM campus_payments_service;
CREATE POLICY releases_visible ON releases FOR SELECT USING (app_may('escrow:release'));
CREATE POLICY releases_made ON releases FOR INSERT WITH CHECK (app_may('escrow:release'));
