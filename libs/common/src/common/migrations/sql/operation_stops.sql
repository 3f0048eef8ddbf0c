-- The message is public; who stopped the operation and why is read by the service for staff.
ALTER TABLE operation_stops ENABLE ROW LEVEL SECURITY;
GRANT SELECT (message, expires_at, lifted_at) ON operation_stops TO campus_{service}_api;
REVOKE ALL ON operation_stops FROM campus_{service}_service;
GRANT SELECT, INSERT, UPDATE (lifted_by, lifted_at, lift_reason) ON operation_stops TO campus_{service}_service;
CREATE POLICY operation_stops_known ON operation_stops FOR SELECT USING (true);
