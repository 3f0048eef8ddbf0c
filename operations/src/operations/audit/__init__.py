"""`make audit`: every invariant of the contract's sections 7 and 8 over all services, and which rows offend.

Read-only, with the audit account of all service databases. What crosses services is compared until it agrees or half a
minute has passed: a running system always has a message under way.
"""

from operations.audit.report import audit_system, findings_of

__all__ = ["audit_system", "findings_of"]
