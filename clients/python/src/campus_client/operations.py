"""One method for each operation. Generated from openapi.json by `make documents`; do not edit."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from campus_client import models as m
from campus_client.answers import Page, read, read_page
from campus_client.connection import Connection
from campus_client.events import ServerSentEvent


class Operations(Connection):
    """The whole interface, one method for each operation; the names are the operation ids."""

    async def get_well_known_jwks_json(self) -> Any:
        """Jwks."""
        return (await self.send("GET", "/.well-known/jwks.json", signed=False)).json()

    async def get_alerts(
        self,
        *,
        status: Literal["open", "closed"] | None = None,
        page: int | None = None,
        limit: int | None = None,
        sort: Literal["created_at", "severity"] | None = None,
        order: Literal["asc", "desc"] | None = None,
    ) -> Page[m.NotificationsAlertShape, m.OffsetMeta]:
        """List alerts.

        Alerts of all services, newest first. `sort=severity` has the worst first, ascending the mildest.

        Needs the permission `alerts:read`.
        """
        return read_page(
            await self.send(
                "GET",
                "/api/alerts",
                query={"status": status, "page": page, "limit": limit, "sort": sort, "order": order},
            ),
            m.NotificationsAlertShape,
            m.OffsetMeta,
        )

    async def post_assistant_chat(self, body: m.NotificationsAskRequest) -> m.NotificationsReplyShape:
        """Chat.

        Asks the assistant and waits for the whole reply.
        """
        return read(await self.send("POST", "/api/assistant/chat", body=body), m.NotificationsReplyShape)

    async def get_assistant_conversations(
        self, *, limit: int | None = None, cursor: str | None = None, sort: Literal["created_at"] | None = None
    ) -> Page[m.NotificationsConversationShape, m.CursorMeta]:
        """List conversations.

        The caller's conversations, the youngest first.
        """
        return read_page(
            await self.send(
                "GET", "/api/assistant/conversations", query={"limit": limit, "cursor": cursor, "sort": sort}
            ),
            m.NotificationsConversationShape,
            m.CursorMeta,
        )

    async def delete_assistant_conversations_by_id(self, conversation_id: UUID) -> None:
        """Delete conversation.

        Removes one of the caller's conversations with everything said in it.
        """
        await self.send(
            "DELETE", self.path("/api/assistant/conversations/{conversation_id}", conversation_id=conversation_id)
        )

    async def get_assistant_conversations_by_id_messages(
        self,
        conversation_id: UUID,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        sort: Literal["created_at"] | None = None,
    ) -> Page[m.NotificationsMessageShape, m.CursorMeta]:
        """List messages.

        What was said in one of the caller's conversations, in order.
        """
        return read_page(
            await self.send(
                "GET",
                self.path("/api/assistant/conversations/{conversation_id}/messages", conversation_id=conversation_id),
                query={"limit": limit, "cursor": cursor, "sort": sort},
            ),
            m.NotificationsMessageShape,
            m.CursorMeta,
        )

    def post_assistant_stream(self, body: m.NotificationsAskRequest) -> AsyncIterator[ServerSentEvent]:
        """Stream.

        Asks the assistant and gets the reply as it is written. A client that leaves ends the work; the turn is then not kept.
        """
        return self.follow("POST", "/api/assistant/stream", body=body)

    async def post_auth_login(self, body: m.IdentityLogInRequest) -> m.IdentityTokens:
        """Log in."""
        return read(await self.send("POST", "/api/auth/login", body=body, signed=False), m.IdentityTokens)

    async def post_auth_logout(self, body: m.IdentityLogOutRequest | None = None) -> m.IdentitySessionEnd:
        """Log out."""
        return read(await self.send("POST", "/api/auth/logout", body=body), m.IdentitySessionEnd)

    async def post_auth_logout_all(self, body: m.IdentityLogOutRequest | None = None) -> m.IdentitySessionsEnd:
        """Log out everywhere."""
        return read(await self.send("POST", "/api/auth/logout-all", body=body), m.IdentitySessionsEnd)

    async def post_auth_mfa_enroll(self, body: m.IdentityEnrollRequest | None = None) -> m.IdentityEnrolledFactor:
        """Enroll."""
        return read(await self.send("POST", "/api/auth/mfa/enroll", body=body), m.IdentityEnrolledFactor)

    async def get_auth_mfa_factors(self) -> list[m.IdentityFactorShape]:
        """List factors."""
        return read(await self.send("GET", "/api/auth/mfa/factors"), list[m.IdentityFactorShape])

    async def delete_auth_mfa_factors_by_id(self, factor_id: UUID) -> m.IdentityRemovedFactor:
        """Remove factor.

        Needs a second factor shown within the last 15 minutes (AAL2).
        """
        return read(
            await self.send("DELETE", self.path("/api/auth/mfa/factors/{factor_id}", factor_id=factor_id)),
            m.IdentityRemovedFactor,
        )

    async def post_auth_mfa_passkeys(self, body: m.IdentityRegisterPasskeyRequest) -> m.IdentityFactorShape:
        """Register passkey."""
        return read(await self.send("POST", "/api/auth/mfa/passkeys", body=body), m.IdentityFactorShape)

    async def post_auth_mfa_passkeys_assertion_options(
        self, body: m.IdentityOptionsRequest | None = None
    ) -> m.IdentityChallengeShape:
        """Start passkey assertion."""
        return read(
            await self.send("POST", "/api/auth/mfa/passkeys/assertion-options", body=body), m.IdentityChallengeShape
        )

    async def post_auth_mfa_passkeys_options(
        self, body: m.IdentityOptionsRequest | None = None
    ) -> m.IdentityChallengeShape:
        """Start passkey registration."""
        return read(await self.send("POST", "/api/auth/mfa/passkeys/options", body=body), m.IdentityChallengeShape)

    async def post_auth_mfa_passkeys_verify(self, body: m.IdentityVerifyPasskeyRequest) -> m.IdentityTokens:
        """Verify passkey."""
        return read(await self.send("POST", "/api/auth/mfa/passkeys/verify", body=body), m.IdentityTokens)

    async def get_auth_mfa_recovery_codes(self) -> m.IdentityRecoveryCodesLeft:
        """Count recovery codes."""
        return read(await self.send("GET", "/api/auth/mfa/recovery-codes"), m.IdentityRecoveryCodesLeft)

    async def post_auth_mfa_recovery_codes(
        self, body: m.IdentityOptionsRequest | None = None
    ) -> m.IdentityNewRecoveryCodes:
        """Renew recovery codes.

        Needs a second factor shown within the last 15 minutes (AAL2).
        """
        return read(await self.send("POST", "/api/auth/mfa/recovery-codes", body=body), m.IdentityNewRecoveryCodes)

    async def post_auth_mfa_verify(self, body: m.IdentityVerifyRequest) -> m.IdentityTokens:
        """Verify."""
        return read(await self.send("POST", "/api/auth/mfa/verify", body=body), m.IdentityTokens)

    async def post_auth_otp(self, body: m.IdentityCodeRequest) -> m.IdentityCodeAnswer:
        """Request code."""
        return read(await self.send("POST", "/api/auth/otp", body=body, signed=False), m.IdentityCodeAnswer)

    async def post_auth_otp_verify(self, body: m.IdentityCodeVerification) -> m.IdentityTokens:
        """Verify code."""
        return read(await self.send("POST", "/api/auth/otp/verify", body=body, signed=False), m.IdentityTokens)

    async def post_auth_password_change(self, body: m.IdentityChangePasswordRequest) -> m.IdentityPasswordChanged:
        """Change password."""
        return read(await self.send("POST", "/api/auth/password/change", body=body), m.IdentityPasswordChanged)

    async def post_auth_password_forgot(self, body: m.IdentityForgotPasswordRequest) -> m.IdentityCodeAnswer:
        """Forgot password."""
        return read(await self.send("POST", "/api/auth/password/forgot", body=body, signed=False), m.IdentityCodeAnswer)

    async def post_auth_password_reset(self, body: m.IdentityResetPasswordRequest) -> m.IdentityPasswordReset:
        """Reset password."""
        return read(
            await self.send("POST", "/api/auth/password/reset", body=body, signed=False), m.IdentityPasswordReset
        )

    async def post_auth_refresh(self, body: m.IdentityRefreshRequest) -> m.IdentityTokens:
        """Refresh."""
        return read(await self.send("POST", "/api/auth/refresh", body=body, signed=False), m.IdentityTokens)

    async def get_auth_sessions(
        self, *, limit: int | None = None, cursor: str | None = None, sort: Literal["created_at"] | None = None
    ) -> Page[m.IdentitySession, m.CursorMeta]:
        """List sessions."""
        return read_page(
            await self.send("GET", "/api/auth/sessions", query={"limit": limit, "cursor": cursor, "sort": sort}),
            m.IdentitySession,
            m.CursorMeta,
        )

    async def delete_auth_sessions_by_id(self, session_id: UUID) -> m.IdentitySessionEnd:
        """End session."""
        return read(
            await self.send("DELETE", self.path("/api/auth/sessions/{session_id}", session_id=session_id)),
            m.IdentitySessionEnd,
        )

    async def post_auth_signup(self, body: m.IdentitySignUpRequest) -> m.IdentitySignedUp:
        """Sign up."""
        return read(await self.send("POST", "/api/auth/signup", body=body, signed=False), m.IdentitySignedUp)

    async def get_campus_orders(
        self,
        *,
        page: int | None = None,
        limit: int | None = None,
        sort: Literal["created_at", "total"] | None = None,
        order: Literal["asc", "desc"] | None = None,
        campus_id: UUID | None = None,
        vendor_id: UUID | None = None,
        buyer_id: UUID | None = None,
        status: Literal[
            "Processing",
            "expired",
            "cancelled",
            "paid_escrow",
            "dispatched",
            "delivered",
            "paid",
            "disputed",
            "refund_pending",
            "refunded",
        ]
        | None = None,
        from_: datetime | None = None,
        to: datetime | None = None,
        q: str | None = None,
    ) -> Page[m.OrdersOrderShape, m.OrdersOffsetMeta]:
        """List orders of campuses.

        All orders for support and auditors; those of the own campus for a campus admin.

        Needs the permission `campus_orders:read` or `orders:read`.
        """
        return read_page(
            await self.send(
                "GET",
                "/api/campus-orders",
                query={
                    "page": page,
                    "limit": limit,
                    "sort": sort,
                    "order": order,
                    "campusId": campus_id,
                    "vendorId": vendor_id,
                    "buyerId": buyer_id,
                    "status": status,
                    "from": from_,
                    "to": to,
                    "q": q,
                },
            ),
            m.OrdersOrderShape,
            m.OrdersOffsetMeta,
        )

    async def get_campus_orders_export(
        self,
        *,
        campus_id: UUID | None = None,
        vendor_id: UUID | None = None,
        buyer_id: UUID | None = None,
        status: Literal[
            "Processing",
            "expired",
            "cancelled",
            "paid_escrow",
            "dispatched",
            "delivered",
            "paid",
            "disputed",
            "refund_pending",
            "refunded",
        ]
        | None = None,
        from_: datetime | None = None,
        to: datetime | None = None,
        q: str | None = None,
    ) -> str:
        """Export orders of campuses.

        The same orders as a CSV file, at most 10,000 of them; more are refused with 422.

        Needs the permission `campus_orders:read` or `orders:read`.
        """
        return (
            await self.send(
                "GET",
                "/api/campus-orders/export",
                query={
                    "campusId": campus_id,
                    "vendorId": vendor_id,
                    "buyerId": buyer_id,
                    "status": status,
                    "from": from_,
                    "to": to,
                    "q": q,
                },
            )
        ).text

    async def get_campuses(
        self, *, limit: int | None = None, cursor: str | None = None, sort: Literal["created_at"] | None = None
    ) -> Page[m.IdentityCampus, m.CursorMeta]:
        """List campuses."""
        return read_page(
            await self.send("GET", "/api/campuses", query={"limit": limit, "cursor": cursor, "sort": sort}),
            m.IdentityCampus,
            m.CursorMeta,
        )

    async def post_campuses(
        self, body: m.IdentityCampusRequest, *, idempotency_key: UUID | None = None
    ) -> m.IdentityCampus:
        """Open campus.

        Needs the permission `campuses:manage_all`.
        """
        return read(
            await self.send("POST", "/api/campuses", keyed=True, key=idempotency_key, body=body), m.IdentityCampus
        )

    async def get_campuses_by_id(self, campus_id: UUID) -> m.IdentityCampus:
        """Read campus."""
        return read(
            await self.send("GET", self.path("/api/campuses/{campus_id}", campus_id=campus_id)), m.IdentityCampus
        )

    async def patch_campuses_by_id(
        self, campus_id: UUID, body: m.IdentityCampusChangeRequest, *, if_match: str | None = None
    ) -> m.IdentityCampus:
        """Change campus.

        Needs the permission `campuses:manage` or `campuses:manage_all`.
        """
        return read(
            await self.send(
                "PATCH",
                self.path("/api/campuses/{campus_id}", campus_id=campus_id),
                headers={"If-Match": if_match},
                body=body,
            ),
            m.IdentityCampus,
        )

    async def get_campuses_by_id_hubs(
        self,
        campus_id: UUID,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        sort: Literal["created_at"] | None = None,
    ) -> Page[m.IdentityHub, m.CursorMeta]:
        """List hubs."""
        return read_page(
            await self.send(
                "GET",
                self.path("/api/campuses/{campus_id}/hubs", campus_id=campus_id),
                query={"limit": limit, "cursor": cursor, "sort": sort},
            ),
            m.IdentityHub,
            m.CursorMeta,
        )

    async def post_campuses_by_id_hubs(
        self, campus_id: UUID, body: m.IdentityHubRequest, *, idempotency_key: UUID | None = None
    ) -> m.IdentityHub:
        """Open hub.

        Needs the permission `campuses:manage` or `campuses:manage_all`.
        """
        return read(
            await self.send(
                "POST",
                self.path("/api/campuses/{campus_id}/hubs", campus_id=campus_id),
                keyed=True,
                key=idempotency_key,
                body=body,
            ),
            m.IdentityHub,
        )

    async def get_carts_current(self) -> m.OrdersCartShape:
        """Show cart.

        The caller's cart, each line as its product is sold now. Nothing is reserved before checkout.

        Needs the permission `orders:place`.
        """
        return read(await self.send("GET", "/api/carts/current"), m.OrdersCartShape)

    async def delete_carts_current(self) -> m.OrdersCartShape:
        """Empty cart.

        Needs the permission `orders:place`.
        """
        return read(await self.send("DELETE", "/api/carts/current"), m.OrdersCartShape)

    async def put_carts_current_items_by_id(self, product_id: UUID, body: m.OrdersCartItemRequest) -> m.OrdersCartShape:
        """Put item.

        Puts so many of a product in the cart, or changes how many. `priceChanged` is false again: the price was seen.

        Needs the permission `orders:place`.
        """
        return read(
            await self.send(
                "PUT", self.path("/api/carts/current/items/{product_id}", product_id=product_id), body=body
            ),
            m.OrdersCartShape,
        )

    async def delete_carts_current_items_by_id(self, product_id: UUID) -> m.OrdersCartShape:
        """Remove item.

        Takes a product out of the cart; one that is not in it changes nothing.

        Needs the permission `orders:place`.
        """
        return read(
            await self.send("DELETE", self.path("/api/carts/current/items/{product_id}", product_id=product_id)),
            m.OrdersCartShape,
        )

    async def get_categories(self) -> list[m.OrdersCategoryShape]:
        """Browse categories.

        The hundred largest categories and how many products of each are on the shelf.
        """
        return read(await self.send("GET", "/api/categories"), list[m.OrdersCategoryShape])

    async def get_chargebacks(
        self,
        *,
        status: Literal["opened", "won", "lost"] | None = None,
        order_id: UUID | None = None,
        page: int | None = None,
        limit: int | None = None,
        sort: Literal["created_at", "amount"] | None = None,
        order: Literal["asc", "desc"] | None = None,
    ) -> Page[m.PaymentsChargeback, m.OffsetMeta]:
        """List chargebacks.

        Needs the permission `ledger:read`.
        """
        return read_page(
            await self.send(
                "GET",
                "/api/chargebacks",
                query={
                    "status": status,
                    "orderId": order_id,
                    "page": page,
                    "limit": limit,
                    "sort": sort,
                    "order": order,
                },
            ),
            m.PaymentsChargeback,
            m.OffsetMeta,
        )

    async def get_commission_changes(
        self,
        *,
        status: Literal["prepared", "approved", "rejected", "expired"] | None = None,
        vendor_id: UUID | None = None,
        page: int | None = None,
        limit: int | None = None,
        sort: Literal["created_at"] | None = None,
        order: Literal["asc", "desc"] | None = None,
    ) -> Page[m.IdentityCommissionChange, m.OffsetMeta]:
        """List commission changes.

        Needs the permission `vendors:commission` or `vendors:read`.
        """
        return read_page(
            await self.send(
                "GET",
                "/api/commission-changes",
                query={
                    "status": status,
                    "vendorId": vendor_id,
                    "page": page,
                    "limit": limit,
                    "sort": sort,
                    "order": order,
                },
            ),
            m.IdentityCommissionChange,
            m.OffsetMeta,
        )

    async def get_commission_changes_by_id(self, change_id: UUID) -> m.IdentityCommissionChange:
        """Read commission change.

        Needs the permission `vendors:commission` or `vendors:read`.
        """
        return read(
            await self.send("GET", self.path("/api/commission-changes/{change_id}", change_id=change_id)),
            m.IdentityCommissionChange,
        )

    async def post_commission_changes_by_id_approve(
        self, change_id: UUID, body: m.IdentityDecisionApproval, *, idempotency_key: UUID | None = None
    ) -> m.IdentityCommissionChange:
        """Approve commission change.

        The vendor's new orders have this commission from now on. Its maker is refused.

        Needs the permission `vendors:commission`.

        Needs a second factor shown within the last 15 minutes (AAL2).
        """
        return read(
            await self.send(
                "POST",
                self.path("/api/commission-changes/{change_id}/approve", change_id=change_id),
                keyed=True,
                key=idempotency_key,
                body=body,
            ),
            m.IdentityCommissionChange,
        )

    async def post_commission_changes_by_id_reject(
        self,
        change_id: UUID,
        body: m.IdentityCommissionRejectionRequest | None = None,
        *,
        idempotency_key: UUID | None = None,
    ) -> m.IdentityCommissionChange:
        """Reject commission change.

        The commission stays as it is.

        Needs the permission `vendors:commission`.

        Needs a second factor shown within the last 15 minutes (AAL2).
        """
        return read(
            await self.send(
                "POST",
                self.path("/api/commission-changes/{change_id}/reject", change_id=change_id),
                keyed=True,
                key=idempotency_key,
                body=body,
            ),
            m.IdentityCommissionChange,
        )

    async def get_dead_letter_webhooks(
        self,
        *,
        event_type: str | None = None,
        outcome: Literal["queued", "done", "ignored", "dead"] | None = None,
        event_id: str | None = None,
        page: int | None = None,
        limit: int | None = None,
        sort: Literal["created_at"] | None = None,
        order: Literal["asc", "desc"] | None = None,
    ) -> Page[m.PaymentsDeadWebhook, m.OffsetMeta]:
        """List dead webhooks.

        Needs the permission `dead_letters:read`.
        """
        return read_page(
            await self.send(
                "GET",
                "/api/dead-letter-webhooks",
                query={
                    "eventType": event_type,
                    "outcome": outcome,
                    "eventId": event_id,
                    "page": page,
                    "limit": limit,
                    "sort": sort,
                    "order": order,
                },
            ),
            m.PaymentsDeadWebhook,
            m.OffsetMeta,
        )

    async def post_dead_letter_webhooks_by_id_replay(
        self, dead_letter_id: UUID, *, idempotency_key: UUID | None = None
    ) -> m.PaymentsReplayed:
        """Replay.

        Needs the permission `webhooks:replay`.

        Needs a second factor shown within the last 15 minutes (AAL2).
        """
        return read(
            await self.send(
                "POST",
                self.path("/api/dead-letter-webhooks/{dead_letter_id}/replay", dead_letter_id=dead_letter_id),
                keyed=True,
                key=idempotency_key,
            ),
            m.PaymentsReplayed,
        )

    async def get_dead_letters_identity(
        self,
        *,
        page: int | None = None,
        limit: int | None = None,
        sort: Literal["created_at"] | None = None,
        order: Literal["asc", "desc"] | None = None,
    ) -> Page[m.IdentityDeadLetter, m.OffsetMeta]:
        """List dead letters.

        The messages that this service gave up, by the time of their failure.

        Needs the permission `dead_letters:read`.
        """
        return read_page(
            await self.send(
                "GET", "/api/dead-letters/identity", query={"page": page, "limit": limit, "sort": sort, "order": order}
            ),
            m.IdentityDeadLetter,
            m.OffsetMeta,
        )

    async def post_dead_letters_identity_by_id_replay(
        self, letter_id: UUID, *, idempotency_key: UUID | None = None
    ) -> m.IdentityDeadLetterReplay:
        """Replay.

        Puts the message back on its queue as a first attempt; what took effect already takes none again.

        Needs the permission `webhooks:replay`.

        Needs a second factor shown within the last 15 minutes (AAL2).
        """
        return read(
            await self.send(
                "POST",
                self.path("/api/dead-letters/identity/{letter_id}/replay", letter_id=letter_id),
                keyed=True,
                key=idempotency_key,
            ),
            m.IdentityDeadLetterReplay,
        )

    async def get_dead_letters_notifications(
        self,
        *,
        page: int | None = None,
        limit: int | None = None,
        sort: Literal["created_at"] | None = None,
        order: Literal["asc", "desc"] | None = None,
    ) -> Page[m.NotificationsDeadLetter, m.OffsetMeta]:
        """List dead letters.

        The messages that this service gave up, by the time of their failure.

        Needs the permission `dead_letters:read`.
        """
        return read_page(
            await self.send(
                "GET",
                "/api/dead-letters/notifications",
                query={"page": page, "limit": limit, "sort": sort, "order": order},
            ),
            m.NotificationsDeadLetter,
            m.OffsetMeta,
        )

    async def post_dead_letters_notifications_by_id_replay(
        self, letter_id: UUID, *, idempotency_key: UUID | None = None
    ) -> m.NotificationsDeadLetterReplay:
        """Replay.

        Puts the message back on its queue as a first attempt; what took effect already takes none again.

        Needs the permission `webhooks:replay`.

        Needs a second factor shown within the last 15 minutes (AAL2).
        """
        return read(
            await self.send(
                "POST",
                self.path("/api/dead-letters/notifications/{letter_id}/replay", letter_id=letter_id),
                keyed=True,
                key=idempotency_key,
            ),
            m.NotificationsDeadLetterReplay,
        )

    async def get_dead_letters_orders(
        self,
        *,
        page: int | None = None,
        limit: int | None = None,
        sort: Literal["created_at"] | None = None,
        order: Literal["asc", "desc"] | None = None,
    ) -> Page[m.OrdersDeadLetter, m.OffsetMeta]:
        """List dead letters.

        The messages that this service gave up, by the time of their failure.

        Needs the permission `dead_letters:read`.
        """
        return read_page(
            await self.send(
                "GET", "/api/dead-letters/orders", query={"page": page, "limit": limit, "sort": sort, "order": order}
            ),
            m.OrdersDeadLetter,
            m.OffsetMeta,
        )

    async def post_dead_letters_orders_by_id_replay(
        self, letter_id: UUID, *, idempotency_key: UUID | None = None
    ) -> m.OrdersDeadLetterReplay:
        """Replay.

        Puts the message back on its queue as a first attempt; what took effect already takes none again.

        Needs the permission `webhooks:replay`.

        Needs a second factor shown within the last 15 minutes (AAL2).
        """
        return read(
            await self.send(
                "POST",
                self.path("/api/dead-letters/orders/{letter_id}/replay", letter_id=letter_id),
                keyed=True,
                key=idempotency_key,
            ),
            m.OrdersDeadLetterReplay,
        )

    async def get_dead_letters_payments(
        self,
        *,
        page: int | None = None,
        limit: int | None = None,
        sort: Literal["created_at"] | None = None,
        order: Literal["asc", "desc"] | None = None,
    ) -> Page[m.PaymentsDeadLetter, m.OffsetMeta]:
        """List dead letters.

        The messages that this service gave up, by the time of their failure.

        Needs the permission `dead_letters:read`.
        """
        return read_page(
            await self.send(
                "GET", "/api/dead-letters/payments", query={"page": page, "limit": limit, "sort": sort, "order": order}
            ),
            m.PaymentsDeadLetter,
            m.OffsetMeta,
        )

    async def post_dead_letters_payments_by_id_replay(
        self, letter_id: UUID, *, idempotency_key: UUID | None = None
    ) -> m.PaymentsDeadLetterReplay:
        """Replay.

        Puts the message back on its queue as a first attempt; what took effect already takes none again.

        Needs the permission `webhooks:replay`.

        Needs a second factor shown within the last 15 minutes (AAL2).
        """
        return read(
            await self.send(
                "POST",
                self.path("/api/dead-letters/payments/{letter_id}/replay", letter_id=letter_id),
                keyed=True,
                key=idempotency_key,
            ),
            m.PaymentsDeadLetterReplay,
        )

    async def get_dead_letters_payouts(
        self,
        *,
        page: int | None = None,
        limit: int | None = None,
        sort: Literal["created_at"] | None = None,
        order: Literal["asc", "desc"] | None = None,
    ) -> Page[m.PayoutsDeadLetter, m.OffsetMeta]:
        """List dead letters.

        The messages that this service gave up, by the time of their failure.

        Needs the permission `dead_letters:read`.
        """
        return read_page(
            await self.send(
                "GET", "/api/dead-letters/payouts", query={"page": page, "limit": limit, "sort": sort, "order": order}
            ),
            m.PayoutsDeadLetter,
            m.OffsetMeta,
        )

    async def post_dead_letters_payouts_by_id_replay(
        self, letter_id: UUID, *, idempotency_key: UUID | None = None
    ) -> m.PayoutsDeadLetterReplay:
        """Replay.

        Puts the message back on its queue as a first attempt; what took effect already takes none again.

        Needs the permission `webhooks:replay`.

        Needs a second factor shown within the last 15 minutes (AAL2).
        """
        return read(
            await self.send(
                "POST",
                self.path("/api/dead-letters/payouts/{letter_id}/replay", letter_id=letter_id),
                keyed=True,
                key=idempotency_key,
            ),
            m.PayoutsDeadLetterReplay,
        )

    async def get_devices(self) -> list[m.NotificationsDeviceShape]:
        """List devices.

        The caller's devices, newest first. There are few: the list has no pages.
        """
        return read(await self.send("GET", "/api/devices"), list[m.NotificationsDeviceShape])

    async def post_devices(
        self, body: m.NotificationsRegisterDeviceRequest, *, idempotency_key: UUID | None = None
    ) -> m.NotificationsDeviceShape:
        """Add device.

        Registers a device for push; the same token or subscription again is the same device. It leaves whom it had before.
        """
        return read(
            await self.send("POST", "/api/devices", keyed=True, key=idempotency_key, body=body),
            m.NotificationsDeviceShape,
        )

    async def get_devices_vapid_key(self) -> m.NotificationsVapidKeyShape:
        """Show vapid key.

        The public key that a browser subscribes with; 404 where there is no push to browsers.
        """
        return read(await self.send("GET", "/api/devices/vapid-key"), m.NotificationsVapidKeyShape)

    async def delete_devices_by_id(self, device_id: UUID) -> None:
        """Delete device.

        Removes one of the caller's devices.
        """
        await self.send("DELETE", self.path("/api/devices/{device_id}", device_id=device_id))

    async def get_dispute_resolutions(
        self,
        *,
        order_id: UUID | None = None,
        status: Literal["prepared", "approved", "rejected"] | None = None,
        page: int | None = None,
        limit: int | None = None,
        sort: Literal["created_at"] | None = None,
        order: Literal["asc", "desc"] | None = None,
    ) -> Page[m.OrdersResolutionShape, m.OrdersOffsetMeta]:
        """List resolutions.

        Needs the permission `disputes:prepare` or `disputes:approve` or `orders:read`.
        """
        return read_page(
            await self.send(
                "GET",
                "/api/dispute-resolutions",
                query={
                    "orderId": order_id,
                    "status": status,
                    "page": page,
                    "limit": limit,
                    "sort": sort,
                    "order": order,
                },
            ),
            m.OrdersResolutionShape,
            m.OrdersOffsetMeta,
        )

    async def get_dispute_resolutions_by_id(self, resolution_id: UUID) -> m.OrdersResolutionShape:
        """Show resolution.

        Needs the permission `disputes:prepare` or `disputes:approve` or `orders:read`.
        """
        return read(
            await self.send("GET", self.path("/api/dispute-resolutions/{resolution_id}", resolution_id=resolution_id)),
            m.OrdersResolutionShape,
        )

    async def post_dispute_resolutions_by_id_approve(
        self, resolution_id: UUID, body: m.OrdersDecisionApproval, *, idempotency_key: UUID | None = None
    ) -> m.OrdersOrderShape:
        """Approve.

        Makes the resolution with this hash true: refund and release are published together. Its maker is refused, under any role.

        Needs the permission `disputes:approve`.

        Needs a second factor shown within the last 15 minutes (AAL2).
        """
        return read(
            await self.send(
                "POST",
                self.path("/api/dispute-resolutions/{resolution_id}/approve", resolution_id=resolution_id),
                keyed=True,
                key=idempotency_key,
                body=body,
            ),
            m.OrdersOrderShape,
        )

    async def post_dispute_resolutions_by_id_reject(
        self, resolution_id: UUID, body: m.OrdersEmptyRequest | None = None, *, idempotency_key: UUID | None = None
    ) -> m.OrdersOrderShape:
        """Reject.

        The order stays disputed, and another resolution may be prepared.

        Needs the permission `disputes:approve`.

        Needs a second factor shown within the last 15 minutes (AAL2).
        """
        return read(
            await self.send(
                "POST",
                self.path("/api/dispute-resolutions/{resolution_id}/reject", resolution_id=resolution_id),
                keyed=True,
                key=idempotency_key,
                body=body,
            ),
            m.OrdersOrderShape,
        )

    async def get_flash_sales(
        self,
        *,
        status: Literal["upcoming", "running", "ended", "prepared"] | None = None,
        product_id: UUID | None = None,
        vendor_id: UUID | None = None,
        campus_id: UUID | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        sort: Literal["created_at"] | None = None,
    ) -> Page[m.OrdersFlashSaleShape, m.OrdersPageMeta]:
        """List flash sales.

        Sales that run or are to come, newest first; `status=ended` shows those of the past.
        """
        return read_page(
            await self.send(
                "GET",
                "/api/flash-sales",
                query={
                    "status": status,
                    "productId": product_id,
                    "vendorId": vendor_id,
                    "campusId": campus_id,
                    "limit": limit,
                    "cursor": cursor,
                    "sort": sort,
                },
            ),
            m.OrdersFlashSaleShape,
            m.OrdersPageMeta,
        )

    async def post_flash_sales(
        self, body: m.OrdersFlashSaleRequest, *, idempotency_key: UUID | None = None
    ) -> m.OrdersFlashSaleShape:
        """Begin.

        For the vendor of the product. While it runs, the product is sold under its terms only. The staff of the campus propose one
        with AAL2: it is `prepared` and holds nothing until the vendor approves it.

        Needs the permission `flash_sales:keep` or `flash_sales:propose`.

        Who holds `flash_sales:propose` needs a second factor shown within the last 15 minutes (AAL2).
        """
        return read(
            await self.send("POST", "/api/flash-sales", keyed=True, key=idempotency_key, body=body),
            m.OrdersFlashSaleShape,
        )

    async def get_flash_sales_by_id(self, sale_id: UUID) -> m.OrdersFlashSaleShape:
        """Show flash sale.

        A sale that waits for the vendor's consent is shown to the vendor and to the staff of the campus only.
        """
        return read(
            await self.send("GET", self.path("/api/flash-sales/{sale_id}", sale_id=sale_id)), m.OrdersFlashSaleShape
        )

    async def post_flash_sales_by_id_approve(
        self, sale_id: UUID, body: m.OrdersFlashSaleApproval | None = None, *, idempotency_key: UUID | None = None
    ) -> m.OrdersFlashSaleShape:
        """Approve.

        The vendor's consent to a sale that staff proposed. `end` declines it.

        Needs the permission `flash_sales:keep`.
        """
        return read(
            await self.send(
                "POST",
                self.path("/api/flash-sales/{sale_id}/approve", sale_id=sale_id),
                keyed=True,
                key=idempotency_key,
                body=body,
            ),
            m.OrdersFlashSaleShape,
        )

    async def post_flash_sales_by_id_end(
        self, sale_id: UUID, body: m.OrdersEmptyRequest | None = None, *, idempotency_key: UUID | None = None
    ) -> m.OrdersFlashSaleShape:
        """End.

        Ends the sale now, or declines a proposed one; what was ordered under its terms keeps its price.

        Needs the permission `flash_sales:keep` or `flash_sales:propose`.

        Who holds `flash_sales:propose` needs a second factor shown within the last 15 minutes (AAL2).
        """
        return read(
            await self.send(
                "POST",
                self.path("/api/flash-sales/{sale_id}/end", sale_id=sale_id),
                keyed=True,
                key=idempotency_key,
                body=body,
            ),
            m.OrdersFlashSaleShape,
        )

    async def get_hubs_by_id(self, hub_id: UUID) -> m.IdentityHub:
        """Read hub."""
        return read(await self.send("GET", self.path("/api/hubs/{hub_id}", hub_id=hub_id)), m.IdentityHub)

    async def patch_hubs_by_id(
        self, hub_id: UUID, body: m.IdentityHubChangeRequest, *, if_match: str | None = None
    ) -> m.IdentityHub:
        """Change hub.

        Needs the permission `campuses:manage` or `campuses:manage_all`.
        """
        return read(
            await self.send(
                "PATCH", self.path("/api/hubs/{hub_id}", hub_id=hub_id), headers={"If-Match": if_match}, body=body
            ),
            m.IdentityHub,
        )

    async def get_ledger_accounts(
        self,
        *,
        account: str | None = None,
        at: datetime | None = None,
        page: int | None = None,
        limit: int | None = None,
        sort: Literal["created_at"] | None = None,
        order: Literal["asc", "desc"] | None = None,
    ) -> Page[m.PaymentsLedgerAccount, m.OffsetMeta]:
        """List accounts.

        Accounts whose name begins with `account`, with their balance, now or at a past instant.

        Needs the permission `ledger:read`.
        """
        return read_page(
            await self.send(
                "GET",
                "/api/ledger/accounts",
                query={"account": account, "at": at, "page": page, "limit": limit, "sort": sort, "order": order},
            ),
            m.PaymentsLedgerAccount,
            m.OffsetMeta,
        )

    async def get_notification_delivery_logs(
        self,
        *,
        notification_id: UUID | None = None,
        channel: Literal["push", "messaging", "sms", "email"] | None = None,
        status: Literal["sending", "unknown", "sent", "delivered", "read", "failed", "bounced"] | None = None,
        page: int | None = None,
        limit: int | None = None,
        sort: Literal["created_at"] | None = None,
        order: Literal["asc", "desc"] | None = None,
    ) -> Page[m.NotificationsDeliveryLogShape, m.OffsetMeta]:
        """List delivery logs.

        One row for each attempt, newest first: for auditors, and whoever may send again.

        Needs the permission `delivery_logs:read` or `notifications:resend`.
        """
        return read_page(
            await self.send(
                "GET",
                "/api/notification-delivery-logs",
                query={
                    "notificationId": notification_id,
                    "channel": channel,
                    "status": status,
                    "page": page,
                    "limit": limit,
                    "sort": sort,
                    "order": order,
                },
            ),
            m.NotificationsDeliveryLogShape,
            m.OffsetMeta,
        )

    async def post_notification_delivery_logs_by_id_resend(
        self, log_id: UUID, *, idempotency_key: UUID | None = None
    ) -> m.NotificationsDeliveryAnswer:
        """Resend.

        Sends the message of an attempt again, as a new attempt of the same delivery. The same Idempotency-Key again changes nothing.

        Needs the permission `notifications:resend`.
        """
        return read(
            await self.send(
                "POST",
                self.path("/api/notification-delivery-logs/{log_id}/resend", log_id=log_id),
                keyed=True,
                key=idempotency_key,
            ),
            m.NotificationsDeliveryAnswer,
        )

    async def get_notification_preferences(self) -> m.NotificationsPreferencesShape:
        """Show preferences.

        What is in force for the caller.
        """
        return read(await self.send("GET", "/api/notification-preferences"), m.NotificationsPreferencesShape)

    async def put_notification_preferences(
        self, body: m.NotificationsPreferencesRequest, *, if_match: str | None = None
    ) -> m.NotificationsPreferencesShape:
        """Put preferences.

        Replaces the caller's preferences. PINs, codes and news of the bank account by mail go out all the same.
        """
        return read(
            await self.send("PUT", "/api/notification-preferences", headers={"If-Match": if_match}, body=body),
            m.NotificationsPreferencesShape,
        )

    async def get_notifications(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        unread: bool | None = None,
        sort: Literal["created_at"] | None = None,
    ) -> Page[m.NotificationsNotificationShape, m.CursorMeta]:
        """List notifications.

        The caller's notifications, newest first; `unread=true`: only what is not read.
        """
        return read_page(
            await self.send(
                "GET", "/api/notifications", query={"limit": limit, "cursor": cursor, "unread": unread, "sort": sort}
            ),
            m.NotificationsNotificationShape,
            m.CursorMeta,
        )

    async def post_notifications_read_all(
        self, body: m.NotificationsReadAllRequest | None = None, *, idempotency_key: UUID | None = None
    ) -> m.NotificationsReadAllShape:
        """Mark all notifications read.

        Marks what is not read as read: all of it, or what came up to and with `before`.
        """
        return read(
            await self.send("POST", "/api/notifications/read-all", keyed=True, key=idempotency_key, body=body),
            m.NotificationsReadAllShape,
        )

    def get_notifications_stream(self, *, last_event_id: str | None = None) -> AsyncIterator[ServerSentEvent]:
        """Stream notifications.

        The caller's new notifications as they come: events `notification`, each with its own id.

        With `Last-Event-ID` from after that one, else from now on. 422 for an id that is not in the caller's feed; 429 for one
        stream too many.
        """
        return self.follow("GET", "/api/notifications/stream", headers={"last-event-id": last_event_id})

    async def get_notifications_unread_count(self) -> m.NotificationsUnreadCountShape:
        """Count unread notifications.

        How many of the caller's notifications are not read.
        """
        return read(await self.send("GET", "/api/notifications/unread-count"), m.NotificationsUnreadCountShape)

    async def post_notifications_by_id_read(
        self, notification_id: UUID, *, idempotency_key: UUID | None = None
    ) -> m.NotificationsNotificationShape:
        """Mark notification read.

        Marks one of the caller's notifications as read; a repetition changes nothing.
        """
        return read(
            await self.send(
                "POST",
                self.path("/api/notifications/{notification_id}/read", notification_id=notification_id),
                keyed=True,
                key=idempotency_key,
            ),
            m.NotificationsNotificationShape,
        )

    async def get_orders(
        self,
        *,
        as_: Literal["buyer", "vendor", "hub"] | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        status: Literal[
            "Processing",
            "expired",
            "cancelled",
            "paid_escrow",
            "dispatched",
            "delivered",
            "paid",
            "disputed",
            "refund_pending",
            "refunded",
        ]
        | None = None,
        from_: datetime | None = None,
        to: datetime | None = None,
        q: str | None = None,
        sort: Literal["created_at"] | None = None,
    ) -> Page[m.OrdersOrderShape, m.OrdersPageMeta]:
        """List orders.

        The caller's orders, newest first: bought, sold, of the hub's campus, or all of them for staff who may read orders.
        """
        return read_page(
            await self.send(
                "GET",
                "/api/orders",
                query={
                    "as": as_,
                    "limit": limit,
                    "cursor": cursor,
                    "status": status,
                    "from": from_,
                    "to": to,
                    "q": q,
                    "sort": sort,
                },
            ),
            m.OrdersOrderShape,
            m.OrdersPageMeta,
        )

    async def post_orders_checkout(
        self, body: m.OrdersCheckoutRequest, *, idempotency_key: UUID | None = None
    ) -> m.OrdersOrderShape:
        """Checkout.

        Needs the permission `orders:place`.
        """
        return read(
            await self.send("POST", "/api/orders/checkout", keyed=True, key=idempotency_key, body=body),
            m.OrdersOrderShape,
        )

    async def get_orders_by_id(self, order_id: UUID) -> m.OrdersOrderShape:
        """Show order."""
        return read(await self.send("GET", self.path("/api/orders/{order_id}", order_id=order_id)), m.OrdersOrderShape)

    async def post_orders_by_id_cancel(
        self, order_id: UUID, body: m.OrdersCancelRequest, *, idempotency_key: UUID | None = None
    ) -> m.OrdersOrderShape:
        """Cancel.

        Before payment the order is `cancelled`; while the money is held it is `refund_pending`, and all of it goes back.
        """
        return read(
            await self.send(
                "POST",
                self.path("/api/orders/{order_id}/cancel", order_id=order_id),
                keyed=True,
                key=idempotency_key,
                body=body,
            ),
            m.OrdersOrderShape,
        )

    async def get_orders_by_id_delivery_pin(self, order_id: UUID) -> m.OrdersDeliveryPinShape:
        """Show delivery pin.

        For the buyer alone, while it opens the order: before the payment and after its use 409. For everybody else there is none.
        """
        return read(
            await self.send("GET", self.path("/api/orders/{order_id}/delivery-pin", order_id=order_id)),
            m.OrdersDeliveryPinShape,
        )

    async def post_orders_by_id_delivery_pin_reissue(
        self, order_id: UUID, body: m.OrdersEmptyRequest | None = None
    ) -> m.OrdersReissuedPinShape:
        """Reissue.

        A new PIN for the buyer, sent again; at most three times. The old one opens nothing any more.
        """
        return read(
            await self.send(
                "POST", self.path("/api/orders/{order_id}/delivery-pin/reissue", order_id=order_id), body=body
            ),
            m.OrdersReissuedPinShape,
        )

    async def post_orders_by_id_dispatch(
        self, order_id: UUID, body: m.OrdersEmptyRequest | None = None, *, idempotency_key: UUID | None = None
    ) -> m.OrdersOrderShape:
        """Dispatch.

        Needs the permission `orders:fulfil`.
        """
        return read(
            await self.send(
                "POST",
                self.path("/api/orders/{order_id}/dispatch", order_id=order_id),
                keyed=True,
                key=idempotency_key,
                body=body,
            ),
            m.OrdersOrderShape,
        )

    async def post_orders_by_id_dispute(
        self, order_id: UUID, body: m.OrdersDisputeRequest, *, idempotency_key: UUID | None = None
    ) -> m.OrdersOrderShape:
        """Dispute.

        For the buyer of a paid order that was not delivered: its money is frozen until staff decide.
        """
        return read(
            await self.send(
                "POST",
                self.path("/api/orders/{order_id}/dispute", order_id=order_id),
                keyed=True,
                key=idempotency_key,
                body=body,
            ),
            m.OrdersOrderShape,
        )

    async def get_orders_by_id_dispute(self, order_id: UUID) -> m.OrdersDisputeShape:
        """Show dispute.

        Why the order was disputed: for its buyer, its vendor and staff.
        """
        return read(
            await self.send("GET", self.path("/api/orders/{order_id}/dispute", order_id=order_id)), m.OrdersDisputeShape
        )

    async def get_orders_by_id_items(
        self,
        order_id: UUID,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        sort: Literal["created_at"] | None = None,
    ) -> Page[m.OrdersOrderItemShape, m.OrdersPageMeta]:
        """List order items.

        The items of the order, as they stood in its checkout, which holds 50 at most: one read serves every page.
        """
        return read_page(
            await self.send(
                "GET",
                self.path("/api/orders/{order_id}/items", order_id=order_id),
                query={"limit": limit, "cursor": cursor, "sort": sort},
            ),
            m.OrdersOrderItemShape,
            m.OrdersPageMeta,
        )

    async def post_orders_by_id_release(
        self, order_id: UUID, body: m.PaymentsReleaseRequest, *, idempotency_key: UUID | None = None
    ) -> m.PaymentsReleased:
        """Release.

        Needs the permission `escrow:release`.

        Needs a second factor shown within the last 15 minutes (AAL2).
        """
        return read(
            await self.send(
                "POST",
                self.path("/api/orders/{order_id}/release", order_id=order_id),
                keyed=True,
                key=idempotency_key,
                body=body,
            ),
            m.PaymentsReleased,
        )

    async def post_orders_by_id_resolve(
        self, order_id: UUID, body: m.OrdersResolveRequest, *, idempotency_key: UUID | None = None
    ) -> m.OrdersPreparedShape:
        """Resolve.

        Prepares how the dispute ends; another person decides on it. One resolution of an order waits at a time.

        Needs the permission `disputes:prepare`.
        """
        return read(
            await self.send(
                "POST",
                self.path("/api/orders/{order_id}/resolve", order_id=order_id),
                keyed=True,
                key=idempotency_key,
                body=body,
            ),
            m.OrdersPreparedShape,
        )

    async def post_orders_by_id_return_requests(
        self, order_id: UUID, body: m.OrdersReturnRequestBody, *, idempotency_key: UUID | None = None
    ) -> m.OrdersReturnRequestShape:
        """Ask.

        For the buyer, within the return window (`returnDueAt` of the order).
        """
        return read(
            await self.send(
                "POST",
                self.path("/api/orders/{order_id}/return-requests", order_id=order_id),
                keyed=True,
                key=idempotency_key,
                body=body,
            ),
            m.OrdersReturnRequestShape,
        )

    async def get_orders_by_id_return_requests(
        self,
        order_id: UUID,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        sort: Literal["created_at"] | None = None,
    ) -> Page[m.OrdersReturnRequestShape, m.OrdersPageMeta]:
        """List of order.

        The return requests of the order, newest first, for its parties and for staff.
        """
        return read_page(
            await self.send(
                "GET",
                self.path("/api/orders/{order_id}/return-requests", order_id=order_id),
                query={"limit": limit, "cursor": cursor, "sort": sort},
            ),
            m.OrdersReturnRequestShape,
            m.OrdersPageMeta,
        )

    async def post_orders_by_id_verify_delivery(
        self, order_id: UUID, body: m.OrdersVerifyDeliveryRequest, *, idempotency_key: UUID | None = None
    ) -> m.OrdersDeliveryShape:
        """Verify.

        For the vendor, a hub agent of the order's campus, or the buyer. Five wrong tries lock the PIN, whoever made them.
        """
        return read(
            await self.send(
                "POST",
                self.path("/api/orders/{order_id}/verify-delivery", order_id=order_id),
                keyed=True,
                key=idempotency_key,
                body=body,
            ),
            m.OrdersDeliveryShape,
        )

    async def get_payments(
        self,
        *,
        status: Literal["opening", "pending", "failed", "paid", "quarantined", "overpaid", "closed"] | None = None,
        order_id: UUID | None = None,
        from_: datetime | None = None,
        to: datetime | None = None,
        page: int | None = None,
        limit: int | None = None,
        sort: Literal["created_at"] | None = None,
        order: Literal["asc", "desc"] | None = None,
    ) -> Page[m.PaymentsPayment, m.OffsetMeta]:
        """List payments.

        The caller's own payments; everybody's for staff.
        """
        return read_page(
            await self.send(
                "GET",
                "/api/payments",
                query={
                    "status": status,
                    "orderId": order_id,
                    "from": from_,
                    "to": to,
                    "page": page,
                    "limit": limit,
                    "sort": sort,
                    "order": order,
                },
            ),
            m.PaymentsPayment,
            m.OffsetMeta,
        )

    async def post_payments_intent(
        self, body: m.PaymentsIntentRequest, *, idempotency_key: UUID | None = None
    ) -> m.PaymentsIntent:
        """Start.

        Needs the permission `orders:place`.
        """
        return read(
            await self.send("POST", "/api/payments/intent", keyed=True, key=idempotency_key, body=body),
            m.PaymentsIntent,
        )

    async def get_payments_by_id(self, payment_id: UUID) -> m.PaymentsPayment:
        """Show payment."""
        return read(
            await self.send("GET", self.path("/api/payments/{payment_id}", payment_id=payment_id)), m.PaymentsPayment
        )

    async def get_payout_exceptions(
        self,
        *,
        status: Literal["open", "closed"] | None = None,
        severity: Literal["SEV-1", "SEV-2", "SEV-3"] | None = None,
        cause: Literal[
            "balance_insufficient",
            "bank_switch_error",
            "timeout",
            "account_number_invalid",
            "name_mismatch",
            "bank_details_changed",
            "reversed",
            "credit_not_released",
            "release_statement_late",
            "unclassified",
        ]
        | None = None,
        vendor_id: UUID | None = None,
        payout_id: UUID | None = None,
        page: int | None = None,
        limit: int | None = None,
        sort: Literal["created_at", "severity", "respond_by"] | None = None,
        order: Literal["asc", "desc"] | None = None,
    ) -> Page[m.PayoutsPayoutException, m.OffsetMeta]:
        """List exceptions.

        Exceptions with cause, severity and the time by which somebody must respond.

        Needs the permission `exceptions:read`.
        """
        return read_page(
            await self.send(
                "GET",
                "/api/payout-exceptions",
                query={
                    "status": status,
                    "severity": severity,
                    "cause": cause,
                    "vendorId": vendor_id,
                    "payoutId": payout_id,
                    "page": page,
                    "limit": limit,
                    "sort": sort,
                    "order": order,
                },
            ),
            m.PayoutsPayoutException,
            m.OffsetMeta,
        )

    async def get_payout_exceptions_observations(self) -> m.PayoutsObservations:
        """Read observations.

        How many attempts and batches of the last while opened an exception, and all exceptions of it by severity and cause.

        Needs the permission `exceptions:read`.
        """
        return read(await self.send("GET", "/api/payout-exceptions/observations"), m.PayoutsObservations)

    async def get_payout_exceptions_by_id(self, id: UUID) -> m.PayoutsPayoutExceptionInFull:
        """Read exception.

        One exception with the attempt that it is about, and everything that was done about it.

        Needs the permission `exceptions:read`.
        """
        return read(
            await self.send("GET", self.path("/api/payout-exceptions/{id}", id=id)), m.PayoutsPayoutExceptionInFull
        )

    async def post_payout_exceptions_by_id_classify(
        self, id: UUID, body: m.PayoutsClassifyRequest, *, idempotency_key: UUID | None = None
    ) -> m.PayoutsPayoutExceptionInFull:
        """Classify.

        Says what is the matter and how bad it is. 409 when the exception is closed; the same again has no effect.

        Needs the permission `exceptions:classify`.
        """
        return read(
            await self.send(
                "POST",
                self.path("/api/payout-exceptions/{id}/classify", id=id),
                keyed=True,
                key=idempotency_key,
                body=body,
            ),
            m.PayoutsPayoutExceptionInFull,
        )

    async def post_payout_exceptions_by_id_close(
        self, id: UUID, body: m.PayoutsCloseRequest, *, idempotency_key: UUID | None = None
    ) -> m.PayoutsPayoutExceptionInFull:
        """Close.

        Closes with evidence. 409 while the payout's money is unsettled; a closed one stays as it is.

        Needs the permission `exceptions:classify`.
        """
        return read(
            await self.send(
                "POST",
                self.path("/api/payout-exceptions/{id}/close", id=id),
                keyed=True,
                key=idempotency_key,
                body=body,
            ),
            m.PayoutsPayoutExceptionInFull,
        )

    async def post_payouts(
        self, body: m.PayoutsPayoutRequest, *, idempotency_key: UUID | None = None
    ) -> m.PayoutsPayout:
        """Create payout.

        Moves the amount from the wallet into transit. 423 when part of it is still in escrow, 422 above both.

        Needs the permission `wallet:own`.
        """
        return read(
            await self.send("POST", "/api/payouts", keyed=True, key=idempotency_key, body=body), m.PayoutsPayout
        )

    async def get_payouts(
        self,
        *,
        status: Literal["pending", "processed", "failed"] | None = None,
        vendor_id: UUID | None = None,
        page: int | None = None,
        limit: int | None = None,
        sort: Literal["created_at", "amount"] | None = None,
        order: Literal["asc", "desc"] | None = None,
    ) -> Page[m.PayoutsPayout, m.OffsetMeta]:
        """List payouts.

        The merchant's own payouts; finance and auditors see all.

        Needs the permission `wallet:own` or `payouts:read`.
        """
        return read_page(
            await self.send(
                "GET",
                "/api/payouts",
                query={
                    "status": status,
                    "vendorId": vendor_id,
                    "page": page,
                    "limit": limit,
                    "sort": sort,
                    "order": order,
                },
            ),
            m.PayoutsPayout,
            m.OffsetMeta,
        )

    async def post_payouts_dispatch(
        self, body: m.PayoutsDispatchRequest, *, idempotency_key: UUID | None = None
    ) -> m.PayoutsDispatch:
        """Dispatch.

        Sends waiting payouts to the gateway, each once. A dry run shows what would be sent.

        Needs the permission `payouts:dispatch`.

        Needs a second factor shown within the last 15 minutes (AAL2).
        """
        return read(
            await self.send("POST", "/api/payouts/dispatch", keyed=True, key=idempotency_key, body=body),
            m.PayoutsDispatch,
        )

    async def get_payouts_by_id(self, id: UUID) -> m.PayoutsPayout:
        """Read payout.

        One payout with its latest transfer and the exception that holds it.

        Needs the permission `wallet:own` or `payouts:read`.
        """
        return read(await self.send("GET", self.path("/api/payouts/{id}", id=id)), m.PayoutsPayout)

    async def post_payouts_by_id_cancel(
        self, id: UUID, body: m.PayoutsPayoutCancellation | None = None, *, idempotency_key: UUID | None = None
    ) -> m.PayoutsPayout:
        """Cancel.

        Returns the amount of a payout that was never sent to the wallet, at once. 409 for one that was sent or is not pending.

        Needs the permission `wallet:own`.
        """
        return read(
            await self.send(
                "POST", self.path("/api/payouts/{id}/cancel", id=id), keyed=True, key=idempotency_key, body=body
            ),
            m.PayoutsPayout,
        )

    async def post_payouts_by_id_reconciliations(
        self, id: UUID, body: m.PayoutsReconciliationRequest, *, idempotency_key: UUID | None = None
    ) -> m.PayoutsReconciliation:
        """Prepare.

        Says exactly what would be posted so that the books agree with the gateway; another person decides on it. No money moves yet.

        Needs the permission `reconciliations:prepare`.

        Needs a second factor shown within the last 15 minutes (AAL2).
        """
        return read(
            await self.send(
                "POST",
                self.path("/api/payouts/{id}/reconciliations", id=id),
                keyed=True,
                key=idempotency_key,
                body=body,
            ),
            m.PayoutsReconciliation,
        )

    async def post_payouts_by_id_reset(
        self, id: UUID, body: m.PayoutsResetRequest, *, idempotency_key: UUID | None = None
    ) -> m.PayoutsPayout:
        """Reset.

        A new attempt under a new reference, sent by itself after a back-off. Only after the gateway confirmed that the last one failed.

        Needs the permission `payouts:reset`.

        Needs a second factor shown within the last 15 minutes (AAL2).
        """
        return read(
            await self.send(
                "POST", self.path("/api/payouts/{id}/reset", id=id), keyed=True, key=idempotency_key, body=body
            ),
            m.PayoutsPayout,
        )

    async def get_personal_records_identity(
        self, *, limit: int | None = None, cursor: str | None = None, sort: Literal["created_at"] | None = None
    ) -> Page[m.IdentityPersonalRecord, m.IdentityPageMeta]:
        """List personal records.

        Everything that this service keeps of the caller, section by section. Ids of other people and secrets are left out.
        """
        return read_page(
            await self.send(
                "GET", "/api/personal-records/identity", query={"limit": limit, "cursor": cursor, "sort": sort}
            ),
            m.IdentityPersonalRecord,
            m.IdentityPageMeta,
        )

    async def get_personal_records_notifications(
        self, *, limit: int | None = None, cursor: str | None = None, sort: Literal["created_at"] | None = None
    ) -> Page[m.NotificationsPersonalRecord, m.NotificationsPageMeta]:
        """List personal records.

        Everything that this service keeps of the caller, section by section. Ids of other people and secrets are left out.
        """
        return read_page(
            await self.send(
                "GET", "/api/personal-records/notifications", query={"limit": limit, "cursor": cursor, "sort": sort}
            ),
            m.NotificationsPersonalRecord,
            m.NotificationsPageMeta,
        )

    async def get_personal_records_orders(
        self, *, limit: int | None = None, cursor: str | None = None, sort: Literal["created_at"] | None = None
    ) -> Page[m.OrdersPersonalRecord, m.OrdersPageMeta]:
        """List personal records.

        Everything that this service keeps of the caller, section by section. Ids of other people and secrets are left out.
        """
        return read_page(
            await self.send(
                "GET", "/api/personal-records/orders", query={"limit": limit, "cursor": cursor, "sort": sort}
            ),
            m.OrdersPersonalRecord,
            m.OrdersPageMeta,
        )

    async def get_personal_records_payments(
        self, *, limit: int | None = None, cursor: str | None = None, sort: Literal["created_at"] | None = None
    ) -> Page[m.PaymentsPersonalRecord, m.PaymentsPageMeta]:
        """List personal records.

        Everything that this service keeps of the caller, section by section. Ids of other people and secrets are left out.
        """
        return read_page(
            await self.send(
                "GET", "/api/personal-records/payments", query={"limit": limit, "cursor": cursor, "sort": sort}
            ),
            m.PaymentsPersonalRecord,
            m.PaymentsPageMeta,
        )

    async def get_personal_records_payouts(
        self, *, limit: int | None = None, cursor: str | None = None, sort: Literal["created_at"] | None = None
    ) -> Page[m.PayoutsPersonalRecord, m.PayoutsPageMeta]:
        """List personal records.

        Everything that this service keeps of the caller, section by section. Ids of other people and secrets are left out.
        """
        return read_page(
            await self.send(
                "GET", "/api/personal-records/payouts", query={"limit": limit, "cursor": cursor, "sort": sort}
            ),
            m.PayoutsPersonalRecord,
            m.PayoutsPageMeta,
        )

    async def get_products(
        self,
        *,
        q: str | None = None,
        vendor_id: UUID | None = None,
        campus_id: UUID | None = None,
        category: str | None = None,
        min_price_minor: int | None = None,
        max_price_minor: int | None = None,
        in_stock: bool | None = None,
        sort: Literal["newest", "created_at", "price_asc", "price_desc", "relevance"] | None = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> Page[m.OrdersProductShape, m.OrdersPageMeta]:
        """Browse products.

        Products on the shelf. `q` finds products that have every word, or words that begin with it.
        """
        return read_page(
            await self.send(
                "GET",
                "/api/products",
                query={
                    "q": q,
                    "vendorId": vendor_id,
                    "campusId": campus_id,
                    "category": category,
                    "minPriceMinor": min_price_minor,
                    "maxPriceMinor": max_price_minor,
                    "inStock": in_stock,
                    "sort": sort,
                    "limit": limit,
                    "cursor": cursor,
                },
            ),
            m.OrdersProductShape,
            m.OrdersPageMeta,
        )

    async def post_products(
        self, body: m.OrdersNewProductRequest, *, idempotency_key: UUID | None = None
    ) -> m.OrdersOwnProductShape:
        """Offer product.

        Puts a product on the shelf, or keeps it as a draft that only its merchant sees.

        Needs the permission `catalog:own`.
        """
        return read(
            await self.send("POST", "/api/products", keyed=True, key=idempotency_key, body=body),
            m.OrdersOwnProductShape,
        )

    async def get_products_mine(
        self,
        *,
        status: Literal["published", "draft", "removed"] | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        sort: Literal["created_at"] | None = None,
    ) -> Page[m.OrdersOwnProductShape, m.OrdersPageMeta]:
        """List own products.

        All that the merchant has, newest first, with drafts and what was removed.

        Needs the permission `catalog:own`.
        """
        return read_page(
            await self.send(
                "GET", "/api/products/mine", query={"status": status, "limit": limit, "cursor": cursor, "sort": sort}
            ),
            m.OrdersOwnProductShape,
            m.OrdersPageMeta,
        )

    async def get_products_by_id(self, product_id: UUID) -> m.OrdersProductShape:
        """Show product.

        A product on the shelf; its own merchant sees a draft as well.
        """
        return read(
            await self.send("GET", self.path("/api/products/{product_id}", product_id=product_id)), m.OrdersProductShape
        )

    async def put_products_by_id(
        self, product_id: UUID, body: m.OrdersReplaceProductRequest, *, if_match: str | None = None
    ) -> m.OrdersOwnProductShape:
        """Replace product.

        All of a product but its images. A stale revision is 409.

        Needs the permission `catalog:own`.
        """
        return read(
            await self.send(
                "PUT",
                self.path("/api/products/{product_id}", product_id=product_id),
                headers={"If-Match": if_match},
                body=body,
            ),
            m.OrdersOwnProductShape,
        )

    async def patch_products_by_id(
        self, product_id: UUID, body: m.OrdersChangeProductRequest, *, if_match: str | None = None
    ) -> m.OrdersOwnProductShape:
        """Update product.

        What is named changes, the rest stays; `{stock, revision}` counts the inventory. A stale revision is 409.

        Needs the permission `catalog:own`.
        """
        return read(
            await self.send(
                "PATCH",
                self.path("/api/products/{product_id}", product_id=product_id),
                headers={"If-Match": if_match},
                body=body,
            ),
            m.OrdersOwnProductShape,
        )

    async def delete_products_by_id(self, product_id: UUID, *, if_match: str | None = None) -> None:
        """Withdraw product.

        Sold no more; orders that hold it go on. Withdrawing it again is a success without effect.

        Needs the permission `catalog:own`.
        """
        await self.send(
            "DELETE", self.path("/api/products/{product_id}", product_id=product_id), headers={"If-Match": if_match}
        )

    async def post_products_by_id_images(
        self, product_id: UUID, file: bytes, media_type: str, *, idempotency_key: UUID | None = None
    ) -> m.OrdersImageShape:
        """Add image.

        A JPEG, PNG or WebP of at most 5 MiB and 25 million pixels, drawn anew without what else the file holds.

        Needs the permission `catalog:own`.
        """
        return read(
            await self.send(
                "POST",
                self.path("/api/products/{product_id}/images", product_id=product_id),
                keyed=True,
                key=idempotency_key,
                file=(file, media_type),
            ),
            m.OrdersImageShape,
        )

    async def delete_products_by_id_images_by_id(self, product_id: UUID, image_id: UUID) -> None:
        """Remove image.

        Not shown any more. Removing it again is a success without effect.

        Needs the permission `catalog:own`.
        """
        await self.send(
            "DELETE",
            self.path("/api/products/{product_id}/images/{image_id}", product_id=product_id, image_id=image_id),
        )

    async def get_products_by_id_reviews(
        self,
        product_id: UUID,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        sort: Literal["created_at"] | None = None,
    ) -> Page[m.OrdersReviewShape, m.OrdersReviewPageMeta]:
        """List reviews of product.

        What buyers say of the product, newest first; `meta` tells the mean rating.
        """
        return read_page(
            await self.send(
                "GET",
                self.path("/api/products/{product_id}/reviews", product_id=product_id),
                query={"limit": limit, "cursor": cursor, "sort": sort},
            ),
            m.OrdersReviewShape,
            m.OrdersReviewPageMeta,
        )

    async def post_products_by_id_reviews(
        self, product_id: UUID, body: m.OrdersReviewRequest, *, idempotency_key: UUID | None = None
    ) -> m.OrdersOwnReviewShape:
        """Review product.

        For the buyer of a delivered order that holds this product, once for each order.

        Needs the permission `orders:place`.
        """
        return read(
            await self.send(
                "POST",
                self.path("/api/products/{product_id}/reviews", product_id=product_id),
                keyed=True,
                key=idempotency_key,
                body=body,
            ),
            m.OrdersOwnReviewShape,
        )

    async def get_profiles_current(self) -> m.IdentityProfile:
        """Read profile."""
        return read(await self.send("GET", "/api/profiles/current"), m.IdentityProfile)

    async def patch_profiles_current(
        self, body: m.IdentityProfileChangeRequest, *, if_match: str | None = None
    ) -> m.IdentityProfile:
        """Change profile."""
        return read(
            await self.send("PATCH", "/api/profiles/current", headers={"If-Match": if_match}, body=body),
            m.IdentityProfile,
        )

    async def delete_profiles_current(self, body: m.IdentityErasureRequest | None = None) -> m.IdentityErasure:
        """Request erasure.

        The person goes as soon as orders, payments and payouts have said that nothing of theirs is under way; else they stay.
        """
        return read(await self.send("DELETE", "/api/profiles/current", body=body), m.IdentityErasure)

    async def get_profiles_current_erasure(self) -> m.IdentityErasure:
        """Read erasure.

        What became of one's wish. `openMatters` says what keeps a person whose request was refused.
        """
        return read(await self.send("GET", "/api/profiles/current/erasure"), m.IdentityErasure)

    async def get_quarantined_charges(
        self,
        *,
        status: Literal["quarantined", "prepared", "accepted", "returned"] | None = None,
        page: int | None = None,
        limit: int | None = None,
        sort: Literal["created_at"] | None = None,
        order: Literal["asc", "desc"] | None = None,
    ) -> Page[m.PaymentsQuarantinedChargeShape, m.PaymentsOffsetMeta]:
        """List quarantined charges.

        Needs the permission `ledger:read` or `quarantine:read`.
        """
        return read_page(
            await self.send(
                "GET",
                "/api/quarantined-charges",
                query={"status": status, "page": page, "limit": limit, "sort": sort, "order": order},
            ),
            m.PaymentsQuarantinedChargeShape,
            m.PaymentsOffsetMeta,
        )

    async def get_quarantined_charges_by_id(self, charge_id: UUID) -> m.PaymentsQuarantinedChargeShape:
        """Show quarantined charge.

        Needs the permission `ledger:read` or `quarantine:read`.
        """
        return read(
            await self.send("GET", self.path("/api/quarantined-charges/{charge_id}", charge_id=charge_id)),
            m.PaymentsQuarantinedChargeShape,
        )

    async def post_quarantined_charges_by_id_approve(
        self, charge_id: UUID, body: m.PaymentsDecisionApproval, *, idempotency_key: UUID | None = None
    ) -> m.PaymentsQuarantinedChargeShape:
        """Approve.

        The charge leaves quarantine as the decision with this hash says. Its maker is refused, under any role.

        Needs the permission `quarantine:approve`.

        Needs a second factor shown within the last 15 minutes (AAL2).
        """
        return read(
            await self.send(
                "POST",
                self.path("/api/quarantined-charges/{charge_id}/approve", charge_id=charge_id),
                keyed=True,
                key=idempotency_key,
                body=body,
            ),
            m.PaymentsQuarantinedChargeShape,
        )

    async def post_quarantined_charges_by_id_prepare(
        self, charge_id: UUID, body: m.PaymentsQuarantinePrepareRequest, *, idempotency_key: UUID | None = None
    ) -> m.PaymentsQuarantinedChargeShape:
        """Prepare.

        Says whether the charge pays its order or goes back; another person decides on it. No money moves yet.

        Needs the permission `quarantine:prepare`.

        Needs a second factor shown within the last 15 minutes (AAL2).
        """
        return read(
            await self.send(
                "POST",
                self.path("/api/quarantined-charges/{charge_id}/prepare", charge_id=charge_id),
                keyed=True,
                key=idempotency_key,
                body=body,
            ),
            m.PaymentsQuarantinedChargeShape,
        )

    async def post_quarantined_charges_by_id_reject(
        self, charge_id: UUID, body: m.PaymentsRejectRequest, *, idempotency_key: UUID | None = None
    ) -> m.PaymentsQuarantinedChargeShape:
        """Reject.

        The charge stays in quarantine, and may be prepared anew.

        Needs the permission `quarantine:approve`.

        Needs a second factor shown within the last 15 minutes (AAL2).
        """
        return read(
            await self.send(
                "POST",
                self.path("/api/quarantined-charges/{charge_id}/reject", charge_id=charge_id),
                keyed=True,
                key=idempotency_key,
                body=body,
            ),
            m.PaymentsQuarantinedChargeShape,
        )

    async def get_reconciliation_cases(
        self,
        *,
        status: Literal["open", "explained", "closed"] | None = None,
        kind: Literal[
            "charge_not_in_book",
            "charge_not_at_gateway",
            "charge_differs",
            "charge_without_escrow",
            "refund_not_in_book",
            "refund_not_at_gateway",
            "refund_differs",
            "order_held_without_charge",
        ]
        | None = None,
        page: int | None = None,
        limit: int | None = None,
        sort: Literal["created_at", "amount"] | None = None,
        order: Literal["asc", "desc"] | None = None,
    ) -> Page[m.PaymentsReconciliationCase, m.OffsetMeta]:
        """List cases.

        Needs the permission `ledger:read` or `exceptions:read`.
        """
        return read_page(
            await self.send(
                "GET",
                "/api/reconciliation-cases",
                query={"status": status, "kind": kind, "page": page, "limit": limit, "sort": sort, "order": order},
            ),
            m.PaymentsReconciliationCase,
            m.OffsetMeta,
        )

    async def get_reconciliation_cases_by_id(self, case_id: UUID) -> m.PaymentsReconciliationCase:
        """Show case.

        Needs the permission `ledger:read` or `exceptions:read`.
        """
        return read(
            await self.send("GET", self.path("/api/reconciliation-cases/{case_id}", case_id=case_id)),
            m.PaymentsReconciliationCase,
        )

    async def post_reconciliation_cases_by_id_close(
        self, case_id: UUID, body: m.PaymentsCloseCaseRequest, *, idempotency_key: UUID | None = None
    ) -> m.PaymentsReconciliationCase:
        """Close.

        Closes a case by hand, with the evidence that explains it.

        Needs the permission `exceptions:classify`.
        """
        return read(
            await self.send(
                "POST",
                self.path("/api/reconciliation-cases/{case_id}/close", case_id=case_id),
                keyed=True,
                key=idempotency_key,
                body=body,
            ),
            m.PaymentsReconciliationCase,
        )

    async def get_reconciliations(
        self,
        *,
        status: Literal["prepared", "approved", "rejected"] | None = None,
        payout_id: UUID | None = None,
        page: int | None = None,
        limit: int | None = None,
        sort: Literal["created_at"] | None = None,
        order: Literal["asc", "desc"] | None = None,
    ) -> Page[m.PayoutsReconciliation, m.PayoutsOffsetMeta]:
        """List reconciliations.

        What was prepared, by whom, and who decided on it.

        Needs the permission `payouts:read`.
        """
        return read_page(
            await self.send(
                "GET",
                "/api/reconciliations",
                query={
                    "status": status,
                    "payoutId": payout_id,
                    "page": page,
                    "limit": limit,
                    "sort": sort,
                    "order": order,
                },
            ),
            m.PayoutsReconciliation,
            m.PayoutsOffsetMeta,
        )

    async def get_reconciliations_by_id(self, id: UUID) -> m.PayoutsReconciliation:
        """Read reconciliation.

        Needs the permission `payouts:read`.
        """
        return read(await self.send("GET", self.path("/api/reconciliations/{id}", id=id)), m.PayoutsReconciliation)

    async def post_reconciliations_by_id_approve(
        self, id: UUID, body: m.PayoutsDecisionApproval, *, idempotency_key: UUID | None = None
    ) -> m.PayoutsReconciliation:
        """Approve.

        Posts exactly what has this hash, once, and credits the wallet. Its maker is refused, under any role.

        Needs the permission `reconciliations:approve`.

        Needs a second factor shown within the last 15 minutes (AAL2).
        """
        return read(
            await self.send(
                "POST",
                self.path("/api/reconciliations/{id}/approve", id=id),
                keyed=True,
                key=idempotency_key,
                body=body,
            ),
            m.PayoutsReconciliation,
        )

    async def post_reconciliations_by_id_reject(
        self, id: UUID, body: m.PayoutsReconciliationRejection, *, idempotency_key: UUID | None = None
    ) -> m.PayoutsReconciliation:
        """Reject.

        Nothing is posted; the payout may be prepared anew.

        Needs the permission `reconciliations:approve`.

        Needs a second factor shown within the last 15 minutes (AAL2).
        """
        return read(
            await self.send(
                "POST", self.path("/api/reconciliations/{id}/reject", id=id), keyed=True, key=idempotency_key, body=body
            ),
            m.PayoutsReconciliation,
        )

    async def get_referrals_current(self) -> m.IdentityReferral:
        """Read referral."""
        return read(await self.send("GET", "/api/referrals/current"), m.IdentityReferral)

    async def get_refunds(
        self,
        *,
        status: Literal["pending", "submitting", "submitted", "settled", "failed", "prepared"] | None = None,
        kind: Literal["order", "overpayment", "quarantine"] | None = None,
        order_id: UUID | None = None,
        page: int | None = None,
        limit: int | None = None,
        sort: Literal["created_at", "amount"] | None = None,
        order: Literal["asc", "desc"] | None = None,
    ) -> Page[m.PaymentsRefundShape, m.PaymentsOffsetMeta]:
        """List refunds."""
        return read_page(
            await self.send(
                "GET",
                "/api/refunds",
                query={
                    "status": status,
                    "kind": kind,
                    "orderId": order_id,
                    "page": page,
                    "limit": limit,
                    "sort": sort,
                    "order": order,
                },
            ),
            m.PaymentsRefundShape,
            m.PaymentsOffsetMeta,
        )

    async def get_refunds_by_id(self, refund_id: UUID) -> m.PaymentsRefundShape:
        """Show refund."""
        return read(
            await self.send("GET", self.path("/api/refunds/{refund_id}", refund_id=refund_id)), m.PaymentsRefundShape
        )

    async def post_refunds_by_id_approve(
        self, refund_id: UUID, body: m.PaymentsDecisionApproval, *, idempotency_key: UUID | None = None
    ) -> m.PaymentsRefundShape:
        """Approve.

        Sends the refund again as the decision with this hash says. Its maker is refused, under any role.

        Needs the permission `refunds:approve`.

        Needs a second factor shown within the last 15 minutes (AAL2).
        """
        return read(
            await self.send(
                "POST",
                self.path("/api/refunds/{refund_id}/approve", refund_id=refund_id),
                keyed=True,
                key=idempotency_key,
                body=body,
            ),
            m.PaymentsRefundShape,
        )

    async def post_refunds_by_id_prepare(
        self, refund_id: UUID, body: m.PaymentsRefundPrepareRequest, *, idempotency_key: UUID | None = None
    ) -> m.PaymentsRefundShape:
        """Prepare.

        For a failed refund: the same way again under a new reference, or to a bank account. Another person decides on it.

        Needs the permission `refunds:prepare`.

        Needs a second factor shown within the last 15 minutes (AAL2).
        """
        return read(
            await self.send(
                "POST",
                self.path("/api/refunds/{refund_id}/prepare", refund_id=refund_id),
                keyed=True,
                key=idempotency_key,
                body=body,
            ),
            m.PaymentsRefundShape,
        )

    async def post_refunds_by_id_reject(
        self, refund_id: UUID, body: m.PaymentsRejectRequest, *, idempotency_key: UUID | None = None
    ) -> m.PaymentsRefundShape:
        """Reject.

        The refund stays failed, and may be prepared anew.

        Needs the permission `refunds:approve`.

        Needs a second factor shown within the last 15 minutes (AAL2).
        """
        return read(
            await self.send(
                "POST",
                self.path("/api/refunds/{refund_id}/reject", refund_id=refund_id),
                keyed=True,
                key=idempotency_key,
                body=body,
            ),
            m.PaymentsRefundShape,
        )

    async def get_return_requests_by_id(self, request_id: UUID) -> m.OrdersReturnRequestShape:
        """Show."""
        return read(
            await self.send("GET", self.path("/api/return-requests/{request_id}", request_id=request_id)),
            m.OrdersReturnRequestShape,
        )

    async def post_return_requests_by_id_approve(
        self,
        request_id: UUID,
        body: m.OrdersReturnDecisionRequest | None = None,
        *,
        idempotency_key: UUID | None = None,
    ) -> m.OrdersReturnRequestShape:
        """Approve.

        For the order's vendor or support: the goods are taken back, and what they are worth is refunded.

        Needs the permission `orders:fulfil` or `returns:decide`.
        """
        return read(
            await self.send(
                "POST",
                self.path("/api/return-requests/{request_id}/approve", request_id=request_id),
                keyed=True,
                key=idempotency_key,
                body=body,
            ),
            m.OrdersReturnRequestShape,
        )

    async def post_return_requests_by_id_reject(
        self,
        request_id: UUID,
        body: m.OrdersReturnDecisionRequest | None = None,
        *,
        idempotency_key: UUID | None = None,
    ) -> m.OrdersReturnRequestShape:
        """Reject.

        For the order's vendor or support: the goods are not taken back.

        Needs the permission `orders:fulfil` or `returns:decide`.
        """
        return read(
            await self.send(
                "POST",
                self.path("/api/return-requests/{request_id}/reject", request_id=request_id),
                keyed=True,
                key=idempotency_key,
                body=body,
            ),
            m.OrdersReturnRequestShape,
        )

    async def get_reviews(
        self,
        *,
        vendor_id: UUID | None = None,
        product_id: UUID | None = None,
        hidden: bool | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        sort: Literal["created_at"] | None = None,
    ) -> Page[m.OrdersOwnReviewShape, m.OrdersPageMeta]:
        """List reviews to moderate.

        All reviews for staff, the hidden ones among them, newest first.

        Needs the permission `reviews:read`.
        """
        return read_page(
            await self.send(
                "GET",
                "/api/reviews",
                query={
                    "vendorId": vendor_id,
                    "productId": product_id,
                    "hidden": hidden,
                    "limit": limit,
                    "cursor": cursor,
                    "sort": sort,
                },
            ),
            m.OrdersOwnReviewShape,
            m.OrdersPageMeta,
        )

    async def post_reviews_by_id_hide(
        self, review_id: UUID, body: m.OrdersHideReviewRequest, *, idempotency_key: UUID | None = None
    ) -> m.OrdersOwnReviewShape:
        """Hide.

        Takes the review from public view; its author still sees it and the reason.

        Needs the permission `reviews:moderate`.
        """
        return read(
            await self.send(
                "POST",
                self.path("/api/reviews/{review_id}/hide", review_id=review_id),
                keyed=True,
                key=idempotency_key,
                body=body,
            ),
            m.OrdersOwnReviewShape,
        )

    async def post_reviews_by_id_restore(
        self, review_id: UUID, body: m.OrdersEmptyRequest | None = None, *, idempotency_key: UUID | None = None
    ) -> m.OrdersOwnReviewShape:
        """Restore.

        Needs the permission `reviews:moderate`.
        """
        return read(
            await self.send(
                "POST",
                self.path("/api/reviews/{review_id}/restore", review_id=review_id),
                keyed=True,
                key=idempotency_key,
                body=body,
            ),
            m.OrdersOwnReviewShape,
        )

    async def get_rewards_balance(self) -> m.PaymentsRewardBalance:
        """Show reward balance."""
        return read(await self.send("GET", "/api/rewards/balance"), m.PaymentsRewardBalance)

    async def get_staff(
        self,
        *,
        role: Literal[
            "hub_agent",
            "support_agent",
            "campus_admin",
            "finance_maker",
            "finance_checker",
            "ops_oncall",
            "auditor",
            "platform_admin",
        ]
        | None = None,
        campus_id: UUID | None = None,
        suspended: bool | None = None,
        page: int | None = None,
        limit: int | None = None,
        sort: Literal["created_at"] | None = None,
        order: Literal["asc", "desc"] | None = None,
    ) -> Page[m.IdentityStaffMember, m.OffsetMeta]:
        """List staff.

        Needs the permission `staff:read`.
        """
        return read_page(
            await self.send(
                "GET",
                "/api/staff",
                query={
                    "role": role,
                    "campusId": campus_id,
                    "suspended": suspended,
                    "page": page,
                    "limit": limit,
                    "sort": sort,
                    "order": order,
                },
            ),
            m.IdentityStaffMember,
            m.OffsetMeta,
        )

    async def get_staff_acts(
        self,
        *,
        actor_id: UUID | None = None,
        subject_id: UUID | None = None,
        act: str | None = None,
        page: int | None = None,
        limit: int | None = None,
        sort: Literal["created_at"] | None = None,
        order: Literal["asc", "desc"] | None = None,
    ) -> Page[m.IdentityStaffAct, m.OffsetMeta]:
        """List acts.

        What staff did, newest first; nothing of it is ever changed.

        Needs the permission `staff:read`.
        """
        return read_page(
            await self.send(
                "GET",
                "/api/staff-acts",
                query={
                    "actorId": actor_id,
                    "subjectId": subject_id,
                    "act": act,
                    "page": page,
                    "limit": limit,
                    "sort": sort,
                    "order": order,
                },
            ),
            m.IdentityStaffAct,
            m.OffsetMeta,
        )

    async def get_staff_grants(
        self,
        *,
        status: Literal["prepared", "approved", "rejected", "expired"] | None = None,
        user_id: UUID | None = None,
        page: int | None = None,
        limit: int | None = None,
        sort: Literal["created_at"] | None = None,
        order: Literal["asc", "desc"] | None = None,
    ) -> Page[m.IdentityStaffGrant, m.OffsetMeta]:
        """List grants.

        The grants that needed a second platform_admin.

        Needs the permission `staff:read`.
        """
        return read_page(
            await self.send(
                "GET",
                "/api/staff-grants",
                query={"status": status, "userId": user_id, "page": page, "limit": limit, "sort": sort, "order": order},
            ),
            m.IdentityStaffGrant,
            m.OffsetMeta,
        )

    async def get_staff_grants_by_id(self, grant_id: UUID) -> m.IdentityStaffGrant:
        """Read grant.

        Needs the permission `staff:read`.
        """
        return read(
            await self.send("GET", self.path("/api/staff-grants/{grant_id}", grant_id=grant_id)), m.IdentityStaffGrant
        )

    async def post_staff_grants_by_id_approve(
        self, grant_id: UUID, body: m.IdentityDecisionApproval, *, idempotency_key: UUID | None = None
    ) -> m.IdentityStaffGrant:
        """Approve grant.

        The person holds the role from their next token on. The maker of the grant is refused.

        Needs the permission `staff:manage`.

        Needs a second factor shown within the last 15 minutes (AAL2).
        """
        return read(
            await self.send(
                "POST",
                self.path("/api/staff-grants/{grant_id}/approve", grant_id=grant_id),
                keyed=True,
                key=idempotency_key,
                body=body,
            ),
            m.IdentityStaffGrant,
        )

    async def post_staff_grants_by_id_reject(
        self, grant_id: UUID, body: m.IdentityGrantDecisionRequest | None = None, *, idempotency_key: UUID | None = None
    ) -> m.IdentityStaffGrant:
        """Reject grant.

        Needs the permission `staff:manage`.

        Needs a second factor shown within the last 15 minutes (AAL2).
        """
        return read(
            await self.send(
                "POST",
                self.path("/api/staff-grants/{grant_id}/reject", grant_id=grant_id),
                keyed=True,
                key=idempotency_key,
                body=body,
            ),
            m.IdentityStaffGrant,
        )

    async def get_staff_by_id(self, user_id: UUID) -> m.IdentityStaffMember:
        """Read member.

        Needs the permission `staff:read`.
        """
        return read(await self.send("GET", self.path("/api/staff/{user_id}", user_id=user_id)), m.IdentityStaffMember)

    async def post_staff_by_id_grant(
        self, user_id: UUID, body: m.IdentityGrantRequest, *, idempotency_key: UUID | None = None
    ) -> m.IdentityStaffGrant:
        """Grant role.

        200 when the person holds the role now, 201 when the grant waits for a second platform_admin.

        Needs the permission `staff:manage`.

        Needs a second factor shown within the last 15 minutes (AAL2).
        """
        return read(
            await self.send(
                "POST",
                self.path("/api/staff/{user_id}/grant", user_id=user_id),
                keyed=True,
                key=idempotency_key,
                body=body,
            ),
            m.IdentityStaffGrant,
        )

    async def post_staff_by_id_reinstate(
        self,
        user_id: UUID,
        body: m.IdentitySuspensionOfPersonRequest | None = None,
        *,
        idempotency_key: UUID | None = None,
    ) -> m.IdentityStaffMember:
        """Reinstate user.

        Needs the permission `staff:manage`.

        Needs a second factor shown within the last 15 minutes (AAL2).
        """
        return read(
            await self.send(
                "POST",
                self.path("/api/staff/{user_id}/reinstate", user_id=user_id),
                keyed=True,
                key=idempotency_key,
                body=body,
            ),
            m.IdentityStaffMember,
        )

    async def post_staff_by_id_revoke(
        self, user_id: UUID, body: m.IdentityRevocationRequest, *, idempotency_key: UUID | None = None
    ) -> m.IdentityStaffMember:
        """Revoke role.

        Needs the permission `staff:manage`.

        Needs a second factor shown within the last 15 minutes (AAL2).
        """
        return read(
            await self.send(
                "POST",
                self.path("/api/staff/{user_id}/revoke", user_id=user_id),
                keyed=True,
                key=idempotency_key,
                body=body,
            ),
            m.IdentityStaffMember,
        )

    async def post_staff_by_id_suspend(
        self,
        user_id: UUID,
        body: m.IdentitySuspensionOfPersonRequest | None = None,
        *,
        idempotency_key: UUID | None = None,
    ) -> m.IdentityStaffMember:
        """Suspend user.

        Needs the permission `staff:manage`.

        Needs a second factor shown within the last 15 minutes (AAL2).
        """
        return read(
            await self.send(
                "POST",
                self.path("/api/staff/{user_id}/suspend", user_id=user_id),
                keyed=True,
                key=idempotency_key,
                body=body,
            ),
            m.IdentityStaffMember,
        )

    async def get_support_tickets(
        self,
        *,
        status: Literal["open", "pending", "closed"] | None = None,
        priority: Literal["low", "normal", "high", "urgent"] | None = None,
        assignee_id: UUID | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        sort: Literal["created_at"] | None = None,
    ) -> Page[m.NotificationsTicketShape, m.CursorMeta]:
        """List support tickets.

        The caller's own tickets, newest first; staff and auditors see all.
        """
        return read_page(
            await self.send(
                "GET",
                "/api/support-tickets",
                query={
                    "status": status,
                    "priority": priority,
                    "assigneeId": assignee_id,
                    "limit": limit,
                    "cursor": cursor,
                    "sort": sort,
                },
            ),
            m.NotificationsTicketShape,
            m.CursorMeta,
        )

    async def post_support_tickets(
        self, body: m.NotificationsOpenTicketRequest, *, idempotency_key: UUID | None = None
    ) -> m.NotificationsTicketShape:
        """Open support ticket.

        Opens a ticket with its first message. Runs of digits in both are masked.
        """
        return read(
            await self.send("POST", "/api/support-tickets", keyed=True, key=idempotency_key, body=body),
            m.NotificationsTicketShape,
        )

    async def get_support_tickets_by_id(self, ticket_id: UUID) -> m.NotificationsTicketShape:
        """Show support ticket."""
        return read(
            await self.send("GET", self.path("/api/support-tickets/{ticket_id}", ticket_id=ticket_id)),
            m.NotificationsTicketShape,
        )

    async def patch_support_tickets_by_id(
        self, ticket_id: UUID, body: m.NotificationsChangeTicketRequest, *, if_match: str | None = None
    ) -> m.NotificationsTicketShape:
        """Change support ticket.

        Says how urgent it is.

        Needs the permission `tickets:manage`.
        """
        return read(
            await self.send(
                "PATCH",
                self.path("/api/support-tickets/{ticket_id}", ticket_id=ticket_id),
                headers={"If-Match": if_match},
                body=body,
            ),
            m.NotificationsTicketShape,
        )

    async def post_support_tickets_by_id_assign(
        self, ticket_id: UUID, body: m.NotificationsAssignTicketRequest, *, idempotency_key: UUID | None = None
    ) -> m.NotificationsTicketShape:
        """Assign support ticket.

        Gives it to somebody who may handle tickets (`tickets:manage`).

        Needs the permission `tickets:manage`.
        """
        return read(
            await self.send(
                "POST",
                self.path("/api/support-tickets/{ticket_id}/assign", ticket_id=ticket_id),
                keyed=True,
                key=idempotency_key,
                body=body,
            ),
            m.NotificationsTicketShape,
        )

    async def get_support_tickets_by_id_attachments(self, ticket_id: UUID) -> list[m.NotificationsAttachmentShape]:
        """List ticket attachments.

        The pictures, the oldest first: at most twenty.
        """
        return read(
            await self.send("GET", self.path("/api/support-tickets/{ticket_id}/attachments", ticket_id=ticket_id)),
            list[m.NotificationsAttachmentShape],
        )

    async def post_support_tickets_by_id_attachments(
        self, ticket_id: UUID, file: bytes, media_type: str, *, idempotency_key: UUID | None = None
    ) -> m.NotificationsAttachmentShape:
        """Attach ticket image.

        A JPEG, PNG or WebP of at most 5 MiB and 25 million pixels, drawn anew without what else the file holds.
        """
        return read(
            await self.send(
                "POST",
                self.path("/api/support-tickets/{ticket_id}/attachments", ticket_id=ticket_id),
                keyed=True,
                key=idempotency_key,
                file=(file, media_type),
            ),
            m.NotificationsAttachmentShape,
        )

    async def get_support_tickets_by_id_attachments_by_id(self, ticket_id: UUID, attachment_id: UUID) -> bytes:
        """Show ticket image.

        The picture itself, for whoever sees the ticket; it has no public address.
        """
        return (
            await self.send(
                "GET",
                self.path(
                    "/api/support-tickets/{ticket_id}/attachments/{attachment_id}",
                    ticket_id=ticket_id,
                    attachment_id=attachment_id,
                ),
            )
        ).content

    async def post_support_tickets_by_id_close(
        self, ticket_id: UUID, *, idempotency_key: UUID | None = None
    ) -> m.NotificationsTicketShape:
        """Close support ticket.

        Its customer or staff; again is a success without effect.
        """
        return read(
            await self.send(
                "POST",
                self.path("/api/support-tickets/{ticket_id}/close", ticket_id=ticket_id),
                keyed=True,
                key=idempotency_key,
            ),
            m.NotificationsTicketShape,
        )

    async def get_support_tickets_by_id_messages(
        self,
        ticket_id: UUID,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        sort: Literal["created_at"] | None = None,
    ) -> Page[m.NotificationsTicketMessageShape, m.CursorMeta]:
        """List ticket messages.

        What was said, the oldest first.
        """
        return read_page(
            await self.send(
                "GET",
                self.path("/api/support-tickets/{ticket_id}/messages", ticket_id=ticket_id),
                query={"limit": limit, "cursor": cursor, "sort": sort},
            ),
            m.NotificationsTicketMessageShape,
            m.CursorMeta,
        )

    async def post_support_tickets_by_id_messages(
        self, ticket_id: UUID, body: m.NotificationsWriteMessageRequest, *, idempotency_key: UUID | None = None
    ) -> m.NotificationsTicketMessageShape:
        """Write ticket message.

        Its customer, who opens it again by that, or staff, whose answer the customer is told. Runs of digits are masked.
        """
        return read(
            await self.send(
                "POST",
                self.path("/api/support-tickets/{ticket_id}/messages", ticket_id=ticket_id),
                keyed=True,
                key=idempotency_key,
                body=body,
            ),
            m.NotificationsTicketMessageShape,
        )

    async def post_support_tickets_by_id_read(
        self, ticket_id: UUID, *, idempotency_key: UUID | None = None
    ) -> m.NotificationsTicketShape:
        """Mark support ticket read.

        The caller's side has read everything: the customer, or staff as a whole.
        """
        return read(
            await self.send(
                "POST",
                self.path("/api/support-tickets/{ticket_id}/read", ticket_id=ticket_id),
                keyed=True,
                key=idempotency_key,
            ),
            m.NotificationsTicketShape,
        )

    async def get_transactions(
        self,
        *,
        page: int | None = None,
        limit: int | None = None,
        sort: Literal["created_at", "amount"] | None = None,
        order: Literal["asc", "desc"] | None = None,
        type: str | None = None,
        account: str | None = None,
        order_id: UUID | None = None,
        from_: datetime | None = None,
        to: datetime | None = None,
    ) -> Page[m.PaymentsTransaction, m.OffsetMeta]:
        """List transactions.

        Needs the permission `ledger:read`.
        """
        return read_page(
            await self.send(
                "GET",
                "/api/transactions",
                query={
                    "page": page,
                    "limit": limit,
                    "sort": sort,
                    "order": order,
                    "type": type,
                    "account": account,
                    "orderId": order_id,
                    "from": from_,
                    "to": to,
                },
            ),
            m.PaymentsTransaction,
            m.OffsetMeta,
        )

    async def get_transactions_export(self, *, from_: datetime | None = None, to: datetime | None = None) -> str:
        """Export transactions.

        The book, whole or of a period however long, as a CSV file, sent in pieces as they are read.

        Needs the permission `ledger:export`.
        """
        return (await self.send("GET", "/api/transactions/export", query={"from": from_, "to": to})).text

    async def post_vendor_applications(
        self, body: m.IdentityVendorApplicationRequest, *, idempotency_key: UUID | None = None
    ) -> m.IdentityVendorApplication:
        """Apply as vendor."""
        return read(
            await self.send("POST", "/api/vendor-applications", keyed=True, key=idempotency_key, body=body),
            m.IdentityVendorApplication,
        )

    async def get_vendor_applications(
        self,
        *,
        status: Literal["pending", "approved", "rejected"] | None = None,
        campus_id: UUID | None = None,
        page: int | None = None,
        limit: int | None = None,
        sort: Literal["created_at"] | None = None,
        order: Literal["asc", "desc"] | None = None,
    ) -> Page[m.IdentityVendorApplication, m.OffsetMeta]:
        """List applications.

        One's own; for staff those of their campus; for auditors all.
        """
        return read_page(
            await self.send(
                "GET",
                "/api/vendor-applications",
                query={
                    "status": status,
                    "campusId": campus_id,
                    "page": page,
                    "limit": limit,
                    "sort": sort,
                    "order": order,
                },
            ),
            m.IdentityVendorApplication,
            m.OffsetMeta,
        )

    async def get_vendor_applications_by_id(self, application_id: UUID) -> m.IdentityVendorApplication:
        """Read application."""
        return read(
            await self.send(
                "GET", self.path("/api/vendor-applications/{application_id}", application_id=application_id)
            ),
            m.IdentityVendorApplication,
        )

    async def post_vendor_applications_by_id_approve(
        self,
        application_id: UUID,
        body: m.IdentityApprovalRequest | None = None,
        *,
        idempotency_key: UUID | None = None,
    ) -> m.IdentityVendorApplication:
        """Approve application.

        Needs the permission `vendor_applications:decide`.
        """
        return read(
            await self.send(
                "POST",
                self.path("/api/vendor-applications/{application_id}/approve", application_id=application_id),
                keyed=True,
                key=idempotency_key,
                body=body,
            ),
            m.IdentityVendorApplication,
        )

    async def post_vendor_applications_by_id_reject(
        self, application_id: UUID, body: m.IdentityRejectionRequest, *, idempotency_key: UUID | None = None
    ) -> m.IdentityVendorApplication:
        """Reject application.

        Needs the permission `vendor_applications:decide`.
        """
        return read(
            await self.send(
                "POST",
                self.path("/api/vendor-applications/{application_id}/reject", application_id=application_id),
                keyed=True,
                key=idempotency_key,
                body=body,
            ),
            m.IdentityVendorApplication,
        )

    async def get_vendors(
        self,
        *,
        campus_id: UUID | None = None,
        status: Literal["active", "suspended"] | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        sort: Literal["created_at"] | None = None,
    ) -> Page[m.IdentityVendor, m.CursorMeta]:
        """List vendors.

        Those that sell. With `status`, in full, those that the caller owns or is staff of.
        """
        return read_page(
            await self.send(
                "GET",
                "/api/vendors",
                query={"campusId": campus_id, "status": status, "limit": limit, "cursor": cursor, "sort": sort},
            ),
            m.IdentityVendor,
            m.CursorMeta,
        )

    async def get_vendors_by_id_bank_details(self, id: UUID) -> m.PayoutsBankDetails:
        """Read bank details.

        The present details, by the last four digits of the account.

        Needs the permission `bank_details:own` or `bank_details:read`.
        """
        return read(await self.send("GET", self.path("/api/vendors/{id}/bank-details", id=id)), m.PayoutsBankDetails)

    async def put_vendors_by_id_bank_details(self, id: UUID, body: m.PayoutsBankDetailsRequest) -> m.PayoutsBankDetails:
        """Replace bank details.

        Replaces the details; `verified` is false, with a reason, when the account's name is not the vendor's legal name.

        Needs the permission `bank_details:own`.

        Needs a second factor shown within the last 15 minutes (AAL2).
        """
        return read(
            await self.send("PUT", self.path("/api/vendors/{id}/bank-details", id=id), body=body), m.PayoutsBankDetails
        )

    async def get_vendors_by_id_bank_details_history(
        self,
        id: UUID,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        sort: Literal["created_at"] | None = None,
    ) -> Page[m.PayoutsBankDetailsChange, m.PayoutsPageMeta]:
        """List bank details history.

        Each change of the details, newest first: who made it, when, and what came of it.

        Needs the permission `bank_details:own` or `payouts:read`.
        """
        return read_page(
            await self.send(
                "GET",
                self.path("/api/vendors/{id}/bank-details/history", id=id),
                query={"limit": limit, "cursor": cursor, "sort": sort},
            ),
            m.PayoutsBankDetailsChange,
            m.PayoutsPageMeta,
        )

    async def post_vendors_by_id_bank_details_quarantine(
        self, id: UUID, body: m.PayoutsBankDetailsQuarantineRequest, *, idempotency_key: UUID | None = None
    ) -> m.PayoutsQuarantinedBankDetails:
        """Quarantine.

        Stops payouts to the present account. The payout that it is about goes back to the wallet as far as it has not left.

        Needs the permission `bank_details:quarantine`.

        Needs a second factor shown within the last 15 minutes (AAL2).
        """
        return read(
            await self.send(
                "POST",
                self.path("/api/vendors/{id}/bank-details/quarantine", id=id),
                keyed=True,
                key=idempotency_key,
                body=body,
            ),
            m.PayoutsQuarantinedBankDetails,
        )

    async def get_vendors_by_id_payout_schedule(self, id: UUID) -> m.PayoutsPayoutSchedule:
        """Read schedule.

        The schedule, and what became of its latest period; `none` until one is set.

        Needs the permission `wallet:own` or `payouts:read`.
        """
        return read(
            await self.send("GET", self.path("/api/vendors/{id}/payout-schedule", id=id)), m.PayoutsPayoutSchedule
        )

    async def put_vendors_by_id_payout_schedule(
        self, id: UUID, body: m.PayoutsPayoutScheduleRequest
    ) -> m.PayoutsPayoutSchedule:
        """Replace schedule.

        From its next day on, at 06:00 in Lagos, all that is available is asked for; staff dispatch it as any other payout.

        Needs the permission `wallet:own`.

        Needs a second factor shown within the last 15 minutes (AAL2).
        """
        return read(
            await self.send("PUT", self.path("/api/vendors/{id}/payout-schedule", id=id), body=body),
            m.PayoutsPayoutSchedule,
        )

    async def get_vendors_by_id_statement(
        self,
        id: UUID,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        from_: datetime | None = None,
        to: datetime | None = None,
        kind: Literal[
            "release",
            "debt_repaid",
            "refund",
            "debt_taken",
            "payout",
            "hold",
            "hold_released",
            "chargeback",
            "chargeback_won",
            "restitution",
            "reversal",
            "recovery",
            "recovery_returned",
            "correction",
        ]
        | None = None,
        sort: Literal["created_at"] | None = None,
    ) -> Page[m.PayoutsStatementLine, m.CursorMeta]:
        """Read statement of vendor.

        The same of any vendor.

        Needs the permission `payouts:read`.
        """
        return read_page(
            await self.send(
                "GET",
                self.path("/api/vendors/{id}/statement", id=id),
                query={"limit": limit, "cursor": cursor, "from": from_, "to": to, "kind": kind, "sort": sort},
            ),
            m.PayoutsStatementLine,
            m.CursorMeta,
        )

    async def get_vendors_by_id_wallet(self, id: UUID) -> m.PayoutsWallet:
        """Read wallet of vendor.

        The same of any vendor.

        Needs the permission `payouts:read`.
        """
        return read(await self.send("GET", self.path("/api/vendors/{id}/wallet", id=id)), m.PayoutsWallet)

    async def get_vendors_by_id(self, vendor_id: UUID) -> m.IdentityVendor:
        """Read vendor."""
        return read(
            await self.send("GET", self.path("/api/vendors/{vendor_id}", vendor_id=vendor_id)), m.IdentityVendor
        )

    async def patch_vendors_by_id(
        self, vendor_id: UUID, body: m.IdentityVendorChangeRequest, *, if_match: str | None = None
    ) -> m.IdentityVendor:
        """Change vendor.

        The owner: businessName, category, description. The platform: commissionBasisPoints, which stays as it is until a second
        platform_admin approves the change that is shown as `commissionChange`.

        Needs the permission `catalog:own` or `vendors:commission`.

        Needs a second factor shown within the last 15 minutes (AAL2).
        """
        return read(
            await self.send(
                "PATCH",
                self.path("/api/vendors/{vendor_id}", vendor_id=vendor_id),
                headers={"If-Match": if_match},
                body=body,
            ),
            m.IdentityVendor,
        )

    async def post_vendors_by_id_reinstate(
        self,
        vendor_id: UUID,
        body: m.IdentityReinstatementRequest | None = None,
        *,
        idempotency_key: UUID | None = None,
    ) -> m.IdentityVendor:
        """Reinstate vendor.

        Needs the permission `vendors:suspend`.
        """
        return read(
            await self.send(
                "POST",
                self.path("/api/vendors/{vendor_id}/reinstate", vendor_id=vendor_id),
                keyed=True,
                key=idempotency_key,
                body=body,
            ),
            m.IdentityVendor,
        )

    async def get_vendors_by_id_reviews(
        self,
        vendor_id: UUID,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        sort: Literal["created_at"] | None = None,
    ) -> Page[m.OrdersReviewShape, m.OrdersReviewPageMeta]:
        """List reviews of vendor.

        What buyers say of the vendor, newest first; `meta` tells the mean rating.
        """
        return read_page(
            await self.send(
                "GET",
                self.path("/api/vendors/{vendor_id}/reviews", vendor_id=vendor_id),
                query={"limit": limit, "cursor": cursor, "sort": sort},
            ),
            m.OrdersReviewShape,
            m.OrdersReviewPageMeta,
        )

    async def post_vendors_by_id_reviews(
        self, vendor_id: UUID, body: m.OrdersReviewRequest, *, idempotency_key: UUID | None = None
    ) -> m.OrdersOwnReviewShape:
        """Review vendor.

        For the buyer of a delivered order of this vendor, once for each order.

        Needs the permission `orders:place`.
        """
        return read(
            await self.send(
                "POST",
                self.path("/api/vendors/{vendor_id}/reviews", vendor_id=vendor_id),
                keyed=True,
                key=idempotency_key,
                body=body,
            ),
            m.OrdersOwnReviewShape,
        )

    async def post_vendors_by_id_suspend(
        self, vendor_id: UUID, body: m.IdentitySuspensionRequest, *, idempotency_key: UUID | None = None
    ) -> m.IdentityVendor:
        """Suspend vendor.

        Needs the permission `vendors:suspend`.
        """
        return read(
            await self.send(
                "POST",
                self.path("/api/vendors/{vendor_id}/suspend", vendor_id=vendor_id),
                keyed=True,
                key=idempotency_key,
                body=body,
            ),
            m.IdentityVendor,
        )

    async def get_wallets_current(self) -> m.PayoutsWallet:
        """Read wallet.

        What the vendor may withdraw, what escrow holds for them, and what is on its way to their bank.

        Needs the permission `wallet:own`.
        """
        return read(await self.send("GET", "/api/wallets/current"), m.PayoutsWallet)

    async def get_wallets_current_statement(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        from_: datetime | None = None,
        to: datetime | None = None,
        kind: Literal[
            "release",
            "debt_repaid",
            "refund",
            "debt_taken",
            "payout",
            "hold",
            "hold_released",
            "chargeback",
            "chargeback_won",
            "restitution",
            "reversal",
            "recovery",
            "recovery_returned",
            "correction",
        ]
        | None = None,
        sort: Literal["created_at"] | None = None,
    ) -> Page[m.PayoutsStatementLine, m.CursorMeta]:
        """Read statement.

        Everything that moved the wallet, newest first, with the balance after each line.

        Needs the permission `wallet:own`.
        """
        return read_page(
            await self.send(
                "GET",
                "/api/wallets/current/statement",
                query={"limit": limit, "cursor": cursor, "from": from_, "to": to, "kind": kind, "sort": sort},
            ),
            m.PayoutsStatementLine,
            m.CursorMeta,
        )

    async def get_wallets_current_statements_by_month(self, month: str) -> m.PayoutsStatementMonth:
        """Read month.

        A month such as `2026-11`, in Lagos: opening balance, sums for each kind of line, closing balance.

        Needs the permission `wallet:own`.
        """
        return read(
            await self.send("GET", self.path("/api/wallets/current/statements/{month}", month=month)),
            m.PayoutsStatementMonth,
        )

    async def get_wallets_current_statements_by_month_export(self, month: str) -> str:
        """Export month.

        The lines of the month as a CSV file, sent in pieces as they are read.

        Needs the permission `wallet:own`.
        """
        return (await self.send("GET", self.path("/api/wallets/current/statements/{month}/export", month=month))).text

    async def get_wallets_current_statements_by_month_print(self, month: str) -> str:
        """Print month.

        The month as a page for the printer: totals and every line, in naira.

        Needs the permission `wallet:own`.
        """
        return (await self.send("GET", self.path("/api/wallets/current/statements/{month}/print", month=month))).text

    async def post_functions_v1_create_user(self, body: m.IdentityCreateUserRequest) -> m.IdentityCreatedUser:
        """Create user."""
        return read(await self.send("POST", "/functions/v1/create-user", body=body), m.IdentityCreatedUser)

    async def post_functions_v1_deliver_notification(
        self, body: m.NotificationsDeliverNotificationRequest
    ) -> m.NotificationsDeliveryAnswer:
        """Deliver.

        Takes a message and sends it in the background. The same (notificationId, channel, recipient) again: how it stands.
        """
        return read(
            await self.send("POST", "/functions/v1/deliver-notification", body=body), m.NotificationsDeliveryAnswer
        )

    async def get_media_by_id(self, image_id: UUID) -> bytes:
        """Show image.

        At most 1,600 pixels wide and high.
        """
        return (await self.send("GET", self.path("/media/{image_id}", image_id=image_id))).content

    async def get_media_by_id_thumbnail(self, image_id: UUID) -> bytes:
        """Show thumbnail.

        At most 320 pixels wide and high.
        """
        return (await self.send("GET", self.path("/media/{image_id}/thumbnail", image_id=image_id))).content
