ALTER TABLE audits ENABLE ROW LEVEL SECURITY;
GRANT SELECT ON audits TO campus_payments_api;
REVOKE UPDATE, DELETE ON audits FROM campus_payments_service;
CREATE POLICY audits_visible ON audits FOR SELECT USING (app_may('audits:read'));

ALTER TABLE audit_findings ENABLE ROW LEVEL SECURITY;
GRANT SELECT ON audit_findings TO campus_payments_api;
REVOKE UPDATE, DELETE ON audit_findings FROM campus_payments_service;
CREATE POLICY audit_findings_visible ON audit_findings FOR SELECT USING (app_may('audits:read'));
