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
        charged_back_minor, balance_refunded_minor, rewards_refunded_minor
    )
ON escrows TO campus_payments_service;
CREATE POLICY escrows_visible ON escrows FOR SELECT USING (app_may('escrow:release'));
CREATE POLICY escrows_released ON escrows FOR UPDATE USING (app_may('escrow:release'));

-- One charge pays the orders of a purchase: together they hold no more than it took without its surcharge,
-- beside what the buyer's balance paid. Their charge is recorded or locked by the transaction that inserts
-- them.
CREATE FUNCTION escrows_refuse_above_charge() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
    IF (SELECT sum(held_minor - balance_minor) FROM escrows WHERE charge_id = NEW.charge_id)
        > (SELECT amount_minor - coalesce(surcharge_minor, 0) FROM charges WHERE id = NEW.charge_id) THEN
        RAISE EXCEPTION 'the escrows of charge % exceed what it took', NEW.charge_id USING ERRCODE = 'check_violation';
    END IF;
    RETURN NULL;
END $$;
REVOKE EXECUTE ON FUNCTION escrows_refuse_above_charge FROM public;
CREATE TRIGGER escrows_within_charge AFTER INSERT ON escrows
    FOR EACH ROW EXECUTE FUNCTION escrows_refuse_above_charge();

ALTER TABLE releases ENABLE ROW LEVEL SECURITY;
GRANT SELECT, INSERT ON releases TO campus_payments_api;
-- Written once.
REVOKE UPDATE, DELETE ON releases FROM campus_payments_service;
CREATE POLICY releases_visible ON releases FOR SELECT USING (app_may('escrow:release'));
CREATE POLICY releases_made ON releases FOR INSERT WITH CHECK (app_may('escrow:release'));
