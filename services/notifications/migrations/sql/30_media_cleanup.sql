ALTER TABLE leaving_pictures ENABLE ROW LEVEL SECURITY;
GRANT SELECT, INSERT, UPDATE, DELETE ON leaving_pictures TO campus_notifications_api;
CREATE POLICY leaving_pictures_own ON leaving_pictures
    USING (EXISTS (SELECT FROM support_tickets AS own WHERE own.id = owner_id));
