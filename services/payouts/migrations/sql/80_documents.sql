CREATE POLICY issued_documents_of_the_vendor ON issued_documents FOR SELECT TO campus_payouts_api
    USING (vendor_id = app_vendor_id() AND app_may('wallet:own'));
CREATE POLICY issued_documents_for_finance ON issued_documents FOR SELECT TO campus_payouts_api
    USING ((SELECT app_may('payouts:read')));
