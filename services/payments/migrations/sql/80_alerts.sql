GRANT SELECT, INSERT, DELETE ON standing_alerts TO campus_payments_service;
