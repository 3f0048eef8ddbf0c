"""`make audit`: checks every invariant of the contract's sections 7 and 8 over all services, and lists offending rows.

The audit reads all service databases with a read-only account. Comparisons between services are repeated until they
agree, for at most half a minute, because a running system always has messages in flight.
"""

from operations.audit.report import audit_system, findings_of

__all__ = ["audit_system", "findings_of"]
