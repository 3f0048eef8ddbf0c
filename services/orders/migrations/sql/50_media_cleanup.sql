ALTER TABLE leaving_pictures ENABLE ROW LEVEL SECURITY;
GRANT SELECT, INSERT, UPDATE, DELETE ON leaving_pictures TO campus_orders_api;
CREATE POLICY leaving_pictures_own ON leaving_pictures
    USING (EXISTS (SELECT FROM products AS own WHERE own.id = owner_id AND own.vendor_id = app_vendor_id()));
