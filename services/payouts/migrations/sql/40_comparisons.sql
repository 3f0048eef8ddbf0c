-- Written once: the service may change only the columns named here.
REVOKE UPDATE, DELETE ON found_transfers FROM campus_payouts_service;
GRANT UPDATE (status, outcome, payout_id, evidence) ON found_transfers TO campus_payouts_service;

INSERT INTO transfer_comparison (place, compared_until)
SELECT system_identifier || '/' || left(pg_walfile_name(pg_current_wal_lsn()), 8), now()
FROM pg_control_system();
