ALTER TABLE purchase_drafts ENABLE ROW LEVEL SECURITY;
GRANT SELECT, UPDATE (purchase_id) ON purchase_drafts TO campus_orders_api;
CREATE POLICY purchase_drafts_of_the_buyer ON purchase_drafts FOR SELECT
    USING (buyer_id = app_user_id());
CREATE POLICY purchase_drafts_checked_out_by_the_buyer ON purchase_drafts FOR UPDATE
    USING (buyer_id = app_user_id())
    WITH CHECK (buyer_id = app_user_id());
CREATE TRIGGER purchase_drafts_refuse_leaving_buyer AFTER INSERT ON purchase_drafts
    FOR EACH ROW EXECUTE FUNCTION refuse_leaving_buyer();
