REVOKE DELETE ON document_counters FROM campus_{service}_service;
ALTER TABLE issued_documents ENABLE ROW LEVEL SECURITY;
GRANT SELECT ON issued_documents TO campus_{service}_api;
-- Written once. An erasure removes the names of a user; a rotation of keys encrypts a name again.
REVOKE UPDATE, DELETE ON issued_documents FROM campus_{service}_service;
GRANT UPDATE (content, recipient_encrypted) ON issued_documents TO campus_{service}_service;
