ALTER TABLE webhook_endpoints ENABLE ROW LEVEL SECURITY;
GRANT SELECT, INSERT, UPDATE, DELETE ON webhook_endpoints TO campus_notifications_api;
CREATE POLICY webhook_endpoints_of_their_owner ON webhook_endpoints
    USING (app_may('webhooks:manage') OR (app_may('webhooks:own') AND vendor_id = app_vendor_id()));

ALTER TABLE webhook_events ENABLE ROW LEVEL SECURITY;
GRANT SELECT ON webhook_events TO campus_notifications_api;
CREATE POLICY webhook_events_of_their_owner ON webhook_events
    USING (app_may('webhooks:manage') OR (app_may('webhooks:own') AND vendor_id = app_vendor_id()));

ALTER TABLE webhook_deliveries ENABLE ROW LEVEL SECURITY;
GRANT SELECT, INSERT, UPDATE ON webhook_deliveries TO campus_notifications_api;
CREATE POLICY webhook_deliveries_of_their_owner ON webhook_deliveries
    USING (EXISTS (SELECT FROM webhook_endpoints WHERE webhook_endpoints.id = endpoint_id))
    WITH CHECK (
        EXISTS (
            SELECT FROM webhook_endpoints AS endpoint JOIN webhook_events AS event ON event.id = event_id
            WHERE endpoint.id = endpoint_id AND (endpoint.vendor_id IS NULL OR endpoint.vendor_id = event.vendor_id)
        )
    );
