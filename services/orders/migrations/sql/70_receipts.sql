-- A receipt is the buyer's. Vendors and staff read the order.
CREATE POLICY issued_documents_of_their_buyer ON issued_documents FOR SELECT
    USING (recipient_id = (SELECT app_user_id()));
