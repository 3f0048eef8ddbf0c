-- Commands act as the service; its API role has no access. Keys never change.
REVOKE UPDATE, DELETE ON idempotent_commands FROM campus_{service}_service;
