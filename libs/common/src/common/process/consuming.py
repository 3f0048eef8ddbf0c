"""The consumers of a service's process."""

from common.messaging.consumers import Consumers
from common.messaging.messages import Handlers, Subscription
from common.process.revocations import on_session_revoked
from common.process.runtime import Runtime, Service
from contracts.identity import SessionRevoked


def consumers_of(service: Service, runtime: Runtime, dependencies: object) -> Consumers:
    """Return the consumers of a service's own messages, and of revoked sessions."""
    subscriptions = [*service.subscriptions, Subscription(SessionRevoked, on_session_revoked)]
    handlers = Handlers(subscriptions, service.work_items, service.linger_seconds, service.lock_by)
    return Consumers(
        service.name,
        runtime.database,
        runtime.bus,
        dependencies,
        handlers,
        account_required=runtime.account_required,
    )
