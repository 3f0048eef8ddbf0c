-- A caller's transaction inserts events; it never reads or changes those of others.
GRANT INSERT ON outbox TO campus_{service}_api;
GRANT SELECT, INSERT, UPDATE ON outbox_sequences TO campus_{service}_api;

-- The trail of replays and closures outlives their dead letters and never changes.
REVOKE UPDATE, DELETE ON dead_letter_closures FROM campus_{service}_service;
REVOKE UPDATE, DELETE ON dead_letter_actions FROM campus_{service}_service;
