"""What requests and answers hold. Generated from openapi.json by `make documents`; do not edit."""

from __future__ import annotations

from datetime import datetime, time
from typing import Any, Literal
from uuid import UUID

from pydantic import Field

from campus_client.model import Answer, Request


class CursorMeta(Answer):
    timestamp: datetime
    version: Literal["v1"]
    request_id: str
    next_cursor: str | None = Field(validation_alias="next_cursor", serialization_alias="next_cursor")
    has_more: bool = Field(validation_alias="has_more", serialization_alias="has_more")
    limit: int


class IdentityApprovalRequest(Request):
    """Nothing: the path tells the application."""


class IdentityAssertionResponse(Request):
    client_data_json: str = Field(validation_alias="clientDataJSON", serialization_alias="clientDataJSON")
    authenticator_data: str
    signature: str
    user_handle: str | None = None


class IdentityAttestationResponse(Request):
    client_data_json: str = Field(validation_alias="clientDataJSON", serialization_alias="clientDataJSON")
    attestation_object: str
    authenticator_data: str | None = None
    public_key: str | None = None
    public_key_algorithm: int | None = None
    transports: list[str] | None = None


class IdentityCampus(Answer):
    id: UUID
    name: str
    domain: str | None
    active: bool
    revision: int
    created_at: str


class IdentityCampusChangeRequest(Request):
    """Only what is sent is changed; a null is refused."""

    name: str | None = None
    active: bool | None = None
    revision: int | None = None


class IdentityCampusRequest(Request):
    name: str
    domain: str | None = None


class IdentityChallengeShape(Answer):
    """`publicKey` goes to `parseCreationOptionsFromJSON` or `parseRequestOptionsFromJSON` of the browser ..."""

    challenge_id: UUID
    expires_at: str
    public_key: dict[str, Any]


class IdentityChangePasswordRequest(Request):
    current_password: str
    new_password: str


class IdentityCodeAnswer(Answer):
    """The same for every address. `expiresIn` is in seconds."""

    expires_in: int


class IdentityCodeRequest(Request):
    """Where a code shall be sent."""

    email: str | None = None
    phone: str | None = None


class IdentityCodeVerification(Request):
    code: str
    email: str | None = None
    phone: str | None = None
    password: str | None = None


class IdentityCommissionChange(Answer):
    """A null commission is the platform's default. `prepared` waits for a second platform_admin until ..."""

    id: UUID
    vendor_id: UUID
    before_basis_points: int | None
    commission_basis_points: int | None
    status: Literal["prepared", "approved", "rejected", "expired"]
    hash: str
    prepared_by: UUID
    prepared_at: str
    expires_at: str
    decided_by: UUID | None
    decided_at: str | None
    rejection_reason: str | None


class IdentityCommissionRejectionRequest(Request):
    reason: str | None = None


class IdentityCreateUserRequest(Request):
    user: IdentityNewUserBody


class IdentityCreatedUser(Answer):
    profile_id: UUID
    role: Literal["buyer"]
    campus_id: UUID | None
    referral: IdentityReferralOutcomeShape


class IdentityDeadLetter(Answer):
    """A message that a service gave up."""

    id: UUID
    service: str
    event_type: str
    error: str
    attempts: int
    failed_at: str
    replayed_at: str | None


class IdentityDeadLetterReplay(Answer):
    id: UUID
    service: str
    status: Literal["queued"]


class IdentityDecisionApproval(Request):
    """The body of an approval by a second person: the hash of the decision that they read."""

    hash: str


class IdentityEnrollRequest(Request):
    """There is one kind of factor to enrol this way; a name helps its owner to tell two apart."""

    name: str | None = None


class IdentityEnrolledFactor(Answer):
    factor_id: UUID
    secret: str
    otpauth_uri: str


class IdentityErasure(Answer):
    id: UUID
    user_id: UUID
    status: Literal["asked", "refused", "done"]
    asked_at: str
    decided_at: str | None
    open_matters: list[IdentityOpenMatter]


class IdentityErasureRequest(Request):
    password: str | None = None


class IdentityFactorShape(Answer):
    id: UUID
    kind: Literal["totp", "passkey"]
    name: str | None
    created_at: str
    last_used_at: str | None
    confirmed: bool


class IdentityForgotPasswordRequest(Request):
    email: str


class IdentityGrantDecisionRequest(Request):
    """Nothing: the path tells the grant."""


class IdentityGrantRequest(Request):
    """`campusId` for a campus_admin, `hubId` for a hub_agent, neither for the others."""

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
    campus_id: UUID | None = None
    hub_id: UUID | None = None


class IdentityHub(Answer):
    id: UUID
    campus_id: UUID
    name: str
    address: str
    delivery_fee_minor: int
    active: bool
    revision: int
    created_at: str


class IdentityHubChangeRequest(Request):
    """Only what is sent is changed; a null is refused."""

    name: str | None = None
    address: str | None = None
    delivery_fee_minor: int | None = None
    active: bool | None = None
    revision: int | None = None


class IdentityHubRequest(Request):
    name: str
    address: str
    delivery_fee_minor: int


class IdentityLogInRequest(Request):
    email: str
    password: str


class IdentityLogOutRequest(Request):
    """Nothing: the token tells the session."""


class IdentityNewCredential(Request):
    id: str
    raw_id: str
    type: Literal["public-key"]
    response: IdentityAttestationResponse
    authenticator_attachment: str | None = None
    client_extension_results: dict[str, Any] | None = None


class IdentityNewRecoveryCodes(Answer):
    codes: list[str]


class IdentityNewUserBody(Request):
    id: UUID
    email: str
    phone: str | None = None
    email_confirmed: bool | None = Field(
        default=None, validation_alias="email_confirmed", serialization_alias="email_confirmed"
    )
    user_metadata: IdentityNewUserMetadata | None = Field(
        default=None, validation_alias="user_metadata", serialization_alias="user_metadata"
    )


class IdentityNewUserMetadata(Request):
    full_name: str | None = Field(default=None, validation_alias="full_name", serialization_alias="full_name")
    referral_token: str | None = Field(
        default=None, validation_alias="referral_token", serialization_alias="referral_token"
    )


class IdentityOpenMatter(Answer):
    service: str
    matter: str


class IdentityOptionsRequest(Request):
    """Nothing: the token tells who asks."""


class IdentityPageMeta(Answer):
    timestamp: str
    version: str
    request_id: str
    next_cursor: str | None = Field(validation_alias="next_cursor", serialization_alias="next_cursor")
    has_more: bool = Field(validation_alias="has_more", serialization_alias="has_more")
    limit: int


class IdentityPasswordChanged(Answer):
    """The other sessions have ended."""

    sessions_ended: int


class IdentityPasswordReset(Answer):
    """All sessions have ended; sign in with the new password."""

    sessions_ended: int


class IdentityPersonalRecord(Answer):
    """One row that is kept of a person; what it holds differs by section."""

    section: str
    record: dict[str, Any]


class IdentityProfile(Answer):
    id: UUID
    email: str
    email_confirmed: bool
    phone: str | None
    phone_confirmed: bool
    full_name: str | None
    role: str
    roles: list[str]
    campus_id: UUID | None
    revision: int
    created_at: str
    updated_at: str


class IdentityProfileChangeRequest(Request):
    full_name: str | None = None
    phone: str | None = None
    revision: int | None = None


class IdentityRecoveryCodesLeft(Answer):
    remaining: int
    created_at: str | None


class IdentityReferral(Answer):
    token: str
    count: int


class IdentityReferralOutcomeShape(Answer):
    applied: bool
    reward_minor: int
    reason: str | None = None


class IdentityRefreshRequest(Request):
    refresh_token: str


class IdentityRegisterPasskeyRequest(Request):
    challenge_id: UUID
    name: str
    credential: IdentityNewCredential


class IdentityReinstatementRequest(Request):
    reason: str | None = None


class IdentityRejectionRequest(Request):
    reason: str


class IdentityRemovedFactor(Answer):
    id: UUID


class IdentityResetPasswordRequest(Request):
    token: str
    password: str


class IdentityRevocationRequest(Request):
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


class IdentitySession(Answer):
    id: UUID
    signed_in_at: str
    last_used_at: str
    method: str
    user_agent: str | None
    current: bool


class IdentitySessionEnd(Answer):
    session_id: UUID


class IdentitySessionsEnd(Answer):
    sessions_ended: int


class IdentityShownCredential(Request):
    id: str
    raw_id: str
    type: Literal["public-key"]
    response: IdentityAssertionResponse
    authenticator_attachment: str | None = None
    client_extension_results: dict[str, Any] | None = None


class IdentitySignUpRequest(Request):
    email: str
    password: str
    full_name: str
    phone: str | None = None
    referral_token: str | None = None


class IdentitySignedUp(Answer):
    """The same for an address that has an account already."""

    user_id: UUID
    confirmation_required: Literal[True]


class IdentityStaffAct(Answer):
    """One line of the trail. No actor: an operator at the machine, or the first start."""

    id: UUID
    actor_id: UUID | None
    act: str
    subject_kind: str
    subject_id: UUID
    detail: dict[str, Any]
    created_at: str


class IdentityStaffGrant(Answer):
    """`granted` needed nobody else and has no id; `prepared` waits for a second platform_admin until ..."""

    id: UUID | None
    user_id: UUID
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
    campus_id: UUID | None
    hub_id: UUID | None
    status: Literal["granted", "prepared", "approved", "rejected", "expired"]
    hash: str | None
    prepared_by: UUID | None
    prepared_at: str
    expires_at: str | None
    decided_by: UUID | None
    decided_at: str | None


class IdentityStaffMember(Answer):
    """`roles` are all that the person holds, `offices` those of staff with their place."""

    id: UUID
    full_name: str | None
    email: str
    role: str
    roles: list[str]
    offices: list[IdentityStaffOffice]
    has_second_factor: bool
    suspended: bool
    suspended_at: str | None
    suspended_by: UUID | None
    suspension_reason: str | None
    created_at: str


class IdentityStaffOffice(Answer):
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
    campus_id: UUID | None
    hub_id: UUID | None
    since: str


class IdentitySuspensionOfPersonRequest(Request):
    reason: str | None = None


class IdentitySuspensionRequest(Request):
    reason: str


class IdentityTokens(Answer):
    access_token: str
    refresh_token: str
    token_type: Literal["Bearer"]
    expires_in: int
    aal: Literal["aal1", "aal2"]
    mfa_required: bool


class IdentityVendor(Answer):
    """What everybody sees; the rest is for the owner and the staff."""

    id: UUID
    business_name: str
    campus_id: UUID
    category: str | None
    description: str | None
    created_at: str
    owner_user_id: UUID | None = None
    legal_name: str | None = None
    status: Literal["active", "suspended"] | None = None
    suspension_reason: str | None = None
    commission_basis_points: int | None = None
    revision: int | None = None
    commission_change: IdentityCommissionChange | None = None


class IdentityVendorApplication(Answer):
    """`decidedBy` is for the staff."""

    id: UUID
    user_id: UUID
    business_name: str
    legal_name: str
    campus_id: UUID
    category: str
    description: str
    status: Literal["pending", "approved", "rejected"]
    reason: str | None
    vendor_id: UUID | None
    decided_at: str | None
    created_at: str
    decided_by: UUID | None = None


class IdentityVendorApplicationRequest(Request):
    business_name: str
    legal_name: str
    campus_id: UUID
    category: str
    description: str


class IdentityVendorChangeRequest(Request):
    """Only what is sent is changed. A commission waits for a second platform_admin; null is the ..."""

    business_name: str | None = None
    category: str | None = None
    description: str | None = None
    commission_basis_points: int | None = None
    revision: int | None = None


class IdentityVerifyPasskeyRequest(Request):
    challenge_id: UUID
    credential: IdentityShownCredential


class IdentityVerifyRequest(Request):
    """Six digits, or a recovery code such as `K7QF-2XNA-PD4M-WZ3T`; its case and hyphens do not matter."""

    code: str
    factor_id: UUID | None = None


class NotificationsAlertShape(Answer):
    """What somebody on call must look at."""

    id: UUID
    severity: Literal["SEV-1", "SEV-2", "SEV-3"]
    title: str
    detail: str
    subject: str | None
    runbook: str
    source: str
    repetitions: int
    raised_at: str
    last_raised_at: str
    paged_at: str | None
    closed_at: str | None


class NotificationsAskRequest(Request):
    """One message; without a conversation it begins one."""

    message: str
    conversation_id: UUID | None = None


class NotificationsAssignTicketRequest(Request):
    """A user of the staff, or null to take the ticket back."""

    assignee_id: UUID | None


class NotificationsAttachmentShape(Answer):
    """A picture of a ticket; `url` is a path of this API and needs the reader's token."""

    id: UUID
    ticket_id: UUID
    author: Literal["customer", "staff"]
    byte_count: int
    url: str
    created_at: str


class NotificationsChangeTicketRequest(Request):
    """Without `revision` the last writer wins; with it a change since then is 409."""

    priority: Literal["low", "normal", "high", "urgent"]
    revision: int | None = None


class NotificationsChannelPreferences(Request):
    """Which channels messages may go by; all four."""

    push: bool
    messaging: bool
    sms: bool
    email: bool


class NotificationsConversationShape(Answer):
    """A conversation of the caller; it is called as it began."""

    id: UUID
    title: str
    created_at: str
    last_message_at: str


class NotificationsCustomerShape(Answer):
    """Who asks; shown to staff only. Without an id: a number of the messaging app that is nobody's here."""

    id: UUID | None
    name: str | None
    email: str | None
    phone: str | None


class NotificationsDeadLetter(Answer):
    """A message that a service gave up."""

    id: UUID
    service: str
    event_type: str
    error: str
    attempts: int
    failed_at: str
    replayed_at: str | None


class NotificationsDeadLetterReplay(Answer):
    id: UUID
    service: str
    status: Literal["queued"]


class NotificationsDeliverNotificationRequest(Request):
    """One message by one channel. `data` holds the parameters of the template; a missing one is 422 ..."""

    notification_id: UUID
    user_id: UUID
    channel: Literal["push", "messaging", "sms", "email"]
    template: str
    data: dict[str, Any]
    locale: str | None = None
    sensitive: bool | None = None


class NotificationsDeliveryAnswer(Answer):
    """How the delivery stands: `queued` right after the request, later `sent`, `delivered`, `read`, ..."""

    notification_id: UUID
    status: str
    provider_message_id: str | None = None


class NotificationsDeliveryLogShape(Answer):
    """One attempt to deliver; the recipient is masked, and the message itself is not kept."""

    id: UUID
    notification_id: UUID
    user_id: UUID | None
    channel: Literal["push", "messaging", "sms", "email"]
    template: str
    recipient: str
    status: str
    provider: str | None
    provider_message_id: str | None
    error: str | None
    attempted_at: str
    told_at: str | None


class NotificationsDeviceShape(Answer):
    """A device of the caller; its token is never shown."""

    id: UUID
    kind: Literal["web", "android", "ios"]
    created_at: str
    registered_at: str


class NotificationsMessageShape(Answer):
    """`provider` stands on replies."""

    id: UUID
    role: Literal["user", "assistant"]
    text: str
    provider: str | None
    created_at: str


class NotificationsNotificationShape(Answer):
    """A notification as the app shows it."""

    id: UUID
    template: str
    title: str
    body: str
    created_at: str
    read_at: str | None


class NotificationsOpenTicketRequest(Request):
    """What it is about and the first message; `orderId` is an order that the caller bought or sells."""

    subject: str
    message: str
    order_id: UUID | None = None


class NotificationsPageMeta(Answer):
    timestamp: str
    version: str
    request_id: str
    next_cursor: str | None = Field(validation_alias="next_cursor", serialization_alias="next_cursor")
    has_more: bool = Field(validation_alias="has_more", serialization_alias="has_more")
    limit: int


class NotificationsPersonalRecord(Answer):
    """One row that is kept of a person; what it holds differs by section."""

    section: str
    record: dict[str, Any]


class NotificationsPreferencesRequest(Request):
    """Replaces the preferences. Without `revision` the last writer wins; with it a change since then is ..."""

    channels: NotificationsChannelPreferences
    quiet_hours: NotificationsQuietHoursPreference | None = None
    locale: str | None = None
    revision: int | None = None


class NotificationsPreferencesShape(Answer):
    """What is in force: where the caller said nothing, the default. `revision` is 0 until they say ..."""

    channels: dict[str, bool]
    quiet_hours: NotificationsQuietHoursShape | None
    locale: str
    revision: int


class NotificationsQuietHoursPreference(Request):
    """Hours of the local day, perhaps over midnight; `timezone` is a name of the tz database."""

    from_: time = Field(validation_alias="from", serialization_alias="from")
    to: time
    timezone: str | None = None


class NotificationsQuietHoursShape(Answer):
    from_: str = Field(validation_alias="from", serialization_alias="from")
    to: str
    timezone: str


class NotificationsReadAllRequest(Request):
    """Up to which moment the person has seen their feed; without one, all of it."""

    before: datetime | None = None


class NotificationsReadAllShape(Answer):
    """How many became read."""

    read: int


class NotificationsRegisterDeviceRequest(Request):
    """A browser has a `subscription`, an app has a `token`; never both. Browsers give the subscription as ..."""

    kind: Literal["web", "android", "ios"]
    token: str | None = None
    subscription: NotificationsSubscription | None = None


class NotificationsReplyShape(Answer):
    """`provider`: `built-in` or `openai-compatible`. The reply is plain text."""

    conversation_id: UUID
    reply: str
    provider: str


class NotificationsSubscription(Request):
    """A browser's `PushSubscription.toJSON()`. `expirationTime` is taken and not kept: a push tells when ..."""

    endpoint: str
    keys: NotificationsSubscriptionKeys
    expiration_time: int | float | None = None


class NotificationsSubscriptionKeys(Request):
    """The keys of a browser's subscription, base64url."""

    p256dh: str = Field(validation_alias="p256dh", serialization_alias="p256dh")
    auth: str


class NotificationsTicketMessageShape(Answer):
    """One message; `kind` is `text`, or what the messaging app called it (`image`, `location`, ...)."""

    id: UUID
    ticket_id: UUID
    author: Literal["customer", "staff"]
    author_id: UUID | None
    source: str
    kind: str
    text: str
    created_at: str


class NotificationsTicketShape(Answer):
    """`unread` counts what the reader's side has not read; `revision` grows with status, priority and ..."""

    id: UUID
    subject: str
    status: Literal["open", "pending", "closed"]
    priority: Literal["low", "normal", "high", "urgent"]
    source: str
    order_id: UUID | None
    assignee_id: UUID | None
    unread: int
    revision: int
    created_at: str
    updated_at: str
    closed_at: str | None
    customer: NotificationsCustomerShape | None = None


class NotificationsUnreadCountShape(Answer):
    unread_count: int


class NotificationsVapidKeyShape(Answer):
    """`applicationServerKey` of `PushManager.subscribe`, base64url."""

    public_key: str


class NotificationsWriteMessageRequest(Request):
    text: str


class OffsetMeta(Answer):
    timestamp: datetime
    version: Literal["v1"]
    request_id: str
    page: int
    limit: int
    total: int
    total_pages: int = Field(validation_alias="total_pages", serialization_alias="total_pages")


class OrdersCancelRequest(Request):
    reason: str


class OrdersCartItemRequest(Request):
    quantity: int


class OrdersCartItemShape(Answer):
    """A line as its product is sold now. `inStock`: so many can be had; `available`: how many can be had."""

    product_id: UUID
    vendor_id: UUID
    vendor_name: str | None
    name: str
    quantity: int
    unit_price_minor: int
    line_total_minor: int
    price_changed: bool
    in_stock: bool
    available: int


class OrdersCartShape(Answer):
    """`totalMinor` (kobo) counts the lines that are in stock."""

    id: UUID
    items: list[OrdersCartItemShape]
    total_minor: int
    currency: str


class OrdersCategoryShape(Answer):
    category: str
    products: int


class OrdersChangeProductRequest(Request):
    """What is left out stays. `{stock, revision}` counts the inventory."""

    name: str | None = None
    description: str | None = None
    category: str | None = None
    price_minor: int | None = None
    stock: int | None = None
    status: Literal["published", "draft"] | None = None
    revision: int | None = None


class OrdersCheckoutLine(Request):
    product_id: UUID
    quantity: int


class OrdersCheckoutRequest(Request):
    """Either the lines themselves, or the part of the caller's cart that one vendor sells."""

    items: list[OrdersCheckoutLine] | None = None
    cart_id: UUID | None = None
    vendor_id: UUID | None = None
    campus_id: UUID | None = None
    hub_id: UUID | None = None
    delivery_note: str | None = None
    expected_total_minor: int | None = None


class OrdersComplaintShape(Answer):
    cause: Literal["buyer", "pin_window", "chargeback"]
    reason: str
    details: str | None
    chargeback_outcome: Literal["won", "lost"] | None


class OrdersDeadLetter(Answer):
    """A message that a service gave up."""

    id: UUID
    service: str
    event_type: str
    error: str
    attempts: int
    failed_at: str
    replayed_at: str | None


class OrdersDeadLetterReplay(Answer):
    id: UUID
    service: str
    status: Literal["queued"]


class OrdersDecisionApproval(Request):
    """The body of an approval by a second person: the hash of the decision that they read."""

    hash: str


class OrdersDeliveryPinShape(Answer):
    pin: str
    attempts_remaining: int


class OrdersDeliveryShape(Answer):
    id: UUID
    status: str
    delivered_at: str


class OrdersDisputeRequest(Request):
    reason: str
    details: str


class OrdersDisputeShape(Answer):
    order_id: UUID
    cause: Literal["buyer", "pin_window", "chargeback"]
    reason: str
    details: str | None
    raised_by: UUID | None
    raised_at: str
    chargeback_outcome: Literal["won", "lost"] | None
    outcome: Literal["buyer", "vendor", "split", "released"] | None
    ended_at: str | None


class OrdersEmptyRequest(Request):
    """`{}`: who asks says nothing more."""


class OrdersFlashSaleApproval(Request):
    hash: str | None = None


class OrdersFlashSaleRequest(Request):
    product_id: UUID
    price_minor: int
    quantity: int
    per_buyer_limit: int
    starts_at: datetime
    ends_at: datetime


class OrdersFlashSaleShape(Answer):
    id: UUID
    product_id: UUID
    product_name: str
    vendor_id: UUID
    campus_id: UUID
    price_minor: int
    regular_price_minor: int
    currency: str
    quantity: int
    remaining: int
    per_buyer_limit: int
    status: Literal["prepared", "expired", "upcoming", "running", "sold_out", "ended"]
    starts_at: str
    ends_at: str
    created_at: str
    approved_at: str | None
    hash: str | None


class OrdersHideReviewRequest(Request):
    reason: str


class OrdersImageShape(Answer):
    id: UUID
    url: str
    thumbnail_url: str
    product_id: UUID
    images: list[str]
    revision: int


class OrdersNewProductRequest(Request):
    name: str
    description: str
    category: str
    price_minor: int
    stock: int
    status: Literal["published", "draft"] | None = None


class OrdersOffsetMeta(Answer):
    timestamp: str
    version: str
    request_id: str
    page: int
    limit: int
    total: int
    total_pages: int = Field(validation_alias="total_pages", serialization_alias="total_pages")


class OrdersOrderItemShape(Answer):
    id: UUID
    product_id: UUID
    name: str
    quantity: int
    unit_price_minor: int
    line_total_minor: int


class OrdersOrderShape(Answer):
    id: UUID
    status: str
    total: float
    total_minor: int
    currency: str
    buyer_id: UUID
    vendor_id: UUID
    campus_id: UUID
    hub_id: UUID | None
    items: list[OrdersOrderItemShape]
    subtotal_minor: int
    delivery_fee_minor: int
    refunded_minor: int
    delivery_note: str | None
    payment_due_at: str
    delivered_at: str | None
    return_due_at: str | None
    revision: int
    created_at: str
    updated_at: str
    commission_minor: int | None = None


class OrdersOwnProductShape(Answer):
    id: UUID
    vendor_id: UUID
    vendor_name: str
    campus_id: UUID
    name: str
    description: str
    category: str
    price_minor: int
    currency: str
    stock: int
    in_stock: bool
    images: list[str]
    rating: float | None
    rating_count: int
    revision: int
    created_at: str
    status: Literal["published", "draft", "removed"]
    updated_at: str
    flash_sale: OrdersRunningSaleShape | None = None


class OrdersOwnReviewShape(Answer):
    """What its author and staff see besides."""

    id: UUID
    vendor_id: UUID
    product_id: UUID | None
    rating: int
    text: str
    created_at: str
    order_id: UUID
    buyer_id: UUID
    hidden_at: str | None
    hidden_because: str | None


class OrdersPageMeta(Answer):
    timestamp: str
    version: str
    request_id: str
    next_cursor: str | None = Field(validation_alias="next_cursor", serialization_alias="next_cursor")
    has_more: bool = Field(validation_alias="has_more", serialization_alias="has_more")
    limit: int


class OrdersPersonalRecord(Answer):
    """One row that is kept of a person; what it holds differs by section."""

    section: str
    record: dict[str, Any]


class OrdersPreparedShape(Answer):
    resolution_id: UUID
    status: Literal["prepared"]
    hash: str


class OrdersProductShape(Answer):
    id: UUID
    vendor_id: UUID
    vendor_name: str
    campus_id: UUID
    name: str
    description: str
    category: str
    price_minor: int
    currency: str
    stock: int
    in_stock: bool
    images: list[str]
    rating: float | None
    rating_count: int
    revision: int
    created_at: str
    flash_sale: OrdersRunningSaleShape | None = None


class OrdersReissuedPinShape(Answer):
    pin: str
    attempts_remaining: int
    reissues_remaining: int


class OrdersReplaceProductRequest(Request):
    """The whole product anew; images stay, they have doors of their own."""

    name: str
    description: str
    category: str
    price_minor: int
    stock: int
    status: Literal["published", "draft"] | None = None
    revision: int | None = None


class OrdersResolutionShape(Answer):
    id: UUID
    order_id: UUID
    outcome: Literal["buyer", "vendor", "split"]
    refund_minor: int
    release_minor: int | None
    refund_id: UUID | None
    status: Literal["prepared", "approved", "rejected"]
    hash: str
    dispute: OrdersComplaintShape
    prepared_by: UUID
    created_at: str
    decided_by: UUID | None
    decided_at: str | None


class OrdersResolveRequest(Request):
    outcome: Literal["buyer", "vendor", "split"]
    refund_minor: int | None = None


class OrdersReturnDecisionRequest(Request):
    reason: str | None = None


class OrdersReturnLine(Request):
    item_id: UUID
    quantity: int


class OrdersReturnRequestBody(Request):
    items: list[OrdersReturnLine]
    reason: str


class OrdersReturnRequestShape(Answer):
    id: UUID
    order_id: UUID
    buyer_id: UUID
    vendor_id: UUID
    status: Literal["requested", "approved", "rejected"]
    reason: str
    items: list[OrdersReturnedItemShape]
    refund_minor: int | None
    refund_id: UUID | None
    decided_by: UUID | None
    decision_reason: str | None
    decided_at: str | None
    created_at: str


class OrdersReturnedItemShape(Answer):
    item_id: UUID
    product_id: UUID
    name: str
    quantity: int
    unit_price_minor: int


class OrdersReviewPageMeta(Answer):
    """With the mean of all shown reviews, to two places; null while there is none."""

    timestamp: str
    version: str
    request_id: str
    next_cursor: str | None = Field(validation_alias="next_cursor", serialization_alias="next_cursor")
    has_more: bool = Field(validation_alias="has_more", serialization_alias="has_more")
    limit: int
    rating: float | None
    rating_count: int


class OrdersReviewRequest(Request):
    order_id: UUID
    rating: int
    text: str


class OrdersReviewShape(Answer):
    """`productId` is null for a review of the vendor."""

    id: UUID
    vendor_id: UUID
    product_id: UUID | None
    rating: int
    text: str
    created_at: str


class OrdersRunningSaleShape(Answer):
    """The flash sale under whose terms the product is sold at this moment; `priceMinor` is the sale's."""

    id: UUID
    price_minor: int
    quantity: int
    remaining: int
    per_buyer_limit: int
    starts_at: str
    ends_at: str


class OrdersVerifyDeliveryRequest(Request):
    pin: str


class PaymentsChargeback(Answer):
    id: UUID
    dispute_id: str
    order_id: UUID | None
    amount_minor: int
    currency: str
    status: str
    reason: str | None
    loss_minor: int
    created_at: str
    decided_at: str | None


class PaymentsCloseCaseRequest(Request):
    """`POST /api/reconciliation-cases/:id/close`."""

    evidence: str


class PaymentsDeadLetter(Answer):
    """A message that a service gave up."""

    id: UUID
    service: str
    event_type: str
    error: str
    attempts: int
    failed_at: str
    replayed_at: str | None


class PaymentsDeadLetterReplay(Answer):
    id: UUID
    service: str
    status: Literal["queued"]


class PaymentsDeadWebhook(Answer):
    id: UUID
    service: str
    event_id: str
    event_type: str
    error: str
    attempts: int
    outcome: str
    failed_at: str
    replayed_at: str | None


class PaymentsDecisionApproval(Request):
    """The body of an approval by a second person: the hash of the decision that they read."""

    hash: str


class PaymentsDestinationRequest(Request):
    account_number: str
    bank_code: str
    account_name: str


class PaymentsDestinationShape(Answer):
    last4: str
    bank_code: str
    account_name: str
    name_at_bank: str | None
    verified: bool


class PaymentsIntent(Answer):
    id: UUID
    order_id: UUID
    reference: str
    amount_minor: int
    currency: str
    status: str
    authorization_url: str | None
    access_code: str | None
    expires_at: str


class PaymentsIntentRequest(Request):
    """`POST /api/payments/intent`. The amount comes from the order."""

    order_id: UUID
    channel: Literal["card", "ussd", "bank_transfer"] | None = None
    callback_url: str | None = None


class PaymentsLedgerAccount(Answer):
    account: str
    currency: str
    balance_minor: int
    side: str


class PaymentsLedgerEntry(Answer):
    account: str
    amount_minor: int


class PaymentsOffsetMeta(Answer):
    timestamp: str
    version: str
    request_id: str
    page: int
    limit: int
    total: int
    total_pages: int = Field(validation_alias="total_pages", serialization_alias="total_pages")


class PaymentsPageMeta(Answer):
    timestamp: str
    version: str
    request_id: str
    next_cursor: str | None = Field(validation_alias="next_cursor", serialization_alias="next_cursor")
    has_more: bool = Field(validation_alias="has_more", serialization_alias="has_more")
    limit: int


class PaymentsPayment(Answer):
    id: UUID
    order_id: UUID
    reference: str
    amount_minor: int
    currency: str
    status: str
    channel: str | None
    created_at: str
    paid_at: str | None
    failure_reason: str | None


class PaymentsPersonalRecord(Answer):
    """One row that is kept of a person; what it holds differs by section."""

    section: str
    record: dict[str, Any]


class PaymentsQuarantineDecisionShape(Answer):
    hash: str
    status: Literal["prepared", "approved", "rejected", "overtaken"]
    reason: str
    prepared_by: UUID
    prepared_at: str
    decided_by: UUID | None
    decided_at: str | None
    rejection_reason: str | None
    outcome: Literal["accept", "return"]


class PaymentsQuarantinePrepareRequest(Request):
    outcome: Literal["accept", "return"]
    reason: str


class PaymentsQuarantinedChargeShape(Answer):
    id: UUID
    reference: str
    order_id: UUID | None
    amount_minor: int
    currency: str
    reason: str
    status: Literal["quarantined", "prepared", "accepted", "returned"]
    refund_id: UUID | None
    created_at: str
    hash: str | None
    decision: PaymentsQuarantineDecisionShape | None


class PaymentsReconciliationCase(Answer):
    id: UUID
    kind: str
    subject: str
    reference: str | None
    order_id: UUID | None
    ours_minor: int
    theirs_minor: int
    unexplained_minor: int
    currency: str
    detail: str
    status: str
    created_at: str
    last_seen_at: str
    closed_at: str | None
    closed_by: UUID | None
    evidence: str | None


class PaymentsRefundDecisionShape(Answer):
    hash: str
    status: Literal["prepared", "approved", "rejected", "overtaken"]
    reason: str
    prepared_by: UUID
    prepared_at: str
    decided_by: UUID | None
    decided_at: str | None
    rejection_reason: str | None
    action: Literal["retry", "other_destination"]
    destination: PaymentsDestinationShape | None


class PaymentsRefundPrepareRequest(Request):
    action: Literal["retry", "other_destination"]
    reason: str
    destination: PaymentsDestinationRequest | None = None


class PaymentsRefundShape(Answer):
    id: UUID
    order_id: UUID | None
    kind: Literal["order", "overpayment", "quarantine"]
    amount_minor: int
    currency: str
    status: Literal["pending", "submitting", "submitted", "settled", "failed", "prepared"]
    reason: str
    failure: str | None
    reference: str
    created_at: str
    settled_at: str | None
    hash: str | None
    decision: PaymentsRefundDecisionShape | None


class PaymentsRejectRequest(Request):
    reason: str


class PaymentsReleaseRequest(Request):
    """`POST /api/orders/:id/release`."""

    amount_minor: int


class PaymentsReleased(Answer):
    released_minor: int
    remaining_locked_minor: int


class PaymentsReplayed(Answer):
    id: UUID
    event_id: str
    outcome: str
    requeued: bool


class PaymentsRewardBalance(Answer):
    balance_minor: int


class PaymentsTransaction(Answer):
    id: UUID
    type: str
    posting_key: str
    currency: str
    created_at: str
    entries: list[PaymentsLedgerEntry]


class PayoutsBankDetails(Answer):
    vendor_id: UUID
    account_last4: str
    bank_code: str
    bank_name: str | None
    account_name: str | None
    verified: bool
    reason: str | None
    warning: str | None
    quarantined: bool
    quarantine_reason: str | None
    payouts_from: str | None
    updated_at: str


class PayoutsBankDetailsChange(Answer):
    vendor_id: UUID
    account_last4: str
    bank_code: str
    bank_name: str | None
    account_name: str | None
    verified: bool
    reason: str | None
    warning: str | None
    id: UUID
    change: Literal["set", "legal_name_changed", "quarantined"]
    changed_by: UUID | None
    changed_at: str


class PayoutsBankDetailsQuarantineRequest(Request):
    reason: str
    payout_id: UUID | None = None


class PayoutsBankDetailsRequest(Request):
    account_number: str
    bank_code: str


class PayoutsClassifyRequest(Request):
    severity: Literal["SEV-1", "SEV-2", "SEV-3"]
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
    note: str


class PayoutsCloseRequest(Request):
    evidence: str


class PayoutsDeadLetter(Answer):
    """A message that a service gave up."""

    id: UUID
    service: str
    event_type: str
    error: str
    attempts: int
    failed_at: str
    replayed_at: str | None


class PayoutsDeadLetterReplay(Answer):
    id: UUID
    service: str
    status: Literal["queued"]


class PayoutsDecisionApproval(Request):
    """The body of an approval by a second person: the hash of the decision that they read."""

    hash: str


class PayoutsDispatch(Answer):
    batch_id: UUID
    dry_run: bool
    submitted: int
    queued: int
    remaining: int
    total_minor: int
    gateway_balance_minor: int
    transfers: list[PayoutsDispatchedTransfer]
    skipped: list[PayoutsSkippedPayout]


class PayoutsDispatchRequest(Request):
    payout_ids: list[UUID] | None = None
    max_total_minor: int | None = None
    dry_run: bool | None = None


class PayoutsDispatchedTransfer(Answer):
    payout_id: UUID
    amount_minor: int
    reference: str | None
    status: str
    transfer_code: str | None
    failure: str | None


class PayoutsExceptionAct(Answer):
    """One line of the trail. `by` is null where the service acted on the gateway's news."""

    id: UUID
    kind: Literal["classified", "changed", "noted", "closed"]
    by: UUID | None
    at: str
    severity_before: Literal["SEV-1", "SEV-2", "SEV-3"]
    severity_after: Literal["SEV-1", "SEV-2", "SEV-3"]
    cause_before: Literal[
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
    cause_after: Literal[
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
    note: str


class PayoutsExceptionTransfer(Answer):
    """The attempt that an exception is about."""

    id: UUID
    attempt: int
    reference: str
    status: str
    transfer_code: str | None


class PayoutsKindOfMonth(Answer):
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
    lines: int
    gross_minor: int
    commission_minor: int
    delivery_fee_minor: int
    net_minor: int


class PayoutsObservations(Answer):
    """The window of `windowSeconds` that ends now. `attempts` counts transfer attempts that began or ..."""

    window_seconds: int
    attempts: int
    failures: int
    failure_rate: float
    alerting: bool
    by_severity: dict[str, int]
    by_cause: dict[str, int]


class PayoutsOffsetMeta(Answer):
    timestamp: str
    version: str
    request_id: str
    page: int
    limit: int
    total: int
    total_pages: int = Field(validation_alias="total_pages", serialization_alias="total_pages")


class PayoutsOpenException(Answer):
    id: UUID
    cause: str
    severity: str
    respond_by: str
    opened_at: str


class PayoutsPageMeta(Answer):
    timestamp: str
    version: str
    request_id: str
    next_cursor: str | None = Field(validation_alias="next_cursor", serialization_alias="next_cursor")
    has_more: bool = Field(validation_alias="has_more", serialization_alias="has_more")
    limit: int


class PayoutsPayout(Answer):
    id: UUID
    vendor_id: UUID
    amount_minor: int
    currency: str
    status: Literal["pending", "processed", "failed"]
    bank_code: str
    account_last4: str
    retry_count: int
    transfer_reference: str | None
    transfer_code: str | None
    transfer_failure: str | None
    transfer: PayoutsPayoutTransfer | None
    open_exception: PayoutsOpenException | None
    created_at: str
    updated_at: str
    processed_at: str | None


class PayoutsPayoutCancellation(Request):
    """`{}`: who cancels says nothing more."""


class PayoutsPayoutException(Answer):
    id: UUID
    payout_id: UUID | None
    batch_id: UUID | None
    vendor_id: UUID | None
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
    severity: Literal["SEV-1", "SEV-2", "SEV-3"]
    status: Literal["open", "closed"]
    detail: str
    amount_minor: int
    respond_by: str
    opened_at: str
    closed_at: str | None
    closed_because: str | None


class PayoutsPayoutExceptionInFull(Answer):
    id: UUID
    payout_id: UUID | None
    batch_id: UUID | None
    vendor_id: UUID | None
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
    severity: Literal["SEV-1", "SEV-2", "SEV-3"]
    status: Literal["open", "closed"]
    detail: str
    amount_minor: int
    respond_by: str
    opened_at: str
    closed_at: str | None
    closed_because: str | None
    transfer: PayoutsExceptionTransfer | None
    acts: list[PayoutsExceptionAct]


class PayoutsPayoutRequest(Request):
    amount_minor: int


class PayoutsPayoutSchedule(Answer):
    vendor_id: UUID
    frequency: Literal["none", "daily", "weekly"]
    weekday: Literal["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"] | None
    minimum_minor: int | None
    next_at: str | None
    updated_at: str | None
    latest: PayoutsScheduledPayout | None


class PayoutsPayoutScheduleRequest(Request):
    frequency: Literal["none", "daily", "weekly"]
    weekday: Literal["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"] | None = None
    minimum_minor: int | None = None


class PayoutsPayoutTransfer(Answer):
    id: UUID
    attempt: int
    reference: str
    status: str
    transfer_code: str | None
    failure: str | None
    created_at: str
    updated_at: str


class PayoutsPersonalRecord(Answer):
    """One row that is kept of a person; what it holds differs by section."""

    section: str
    record: dict[str, Any]


class PayoutsPreparedEntry(Answer):
    account: str
    amount_minor: int


class PayoutsPreparedPosting(Answer):
    type: Literal["restitution", "reversal", "recovery", "recovery_returned"]
    posting_key: str
    currency: str
    entries: list[PayoutsPreparedEntry]


class PayoutsQuarantinedBankDetails(Answer):
    vendor_id: UUID
    account_last4: str
    bank_code: str
    bank_name: str | None
    account_name: str | None
    verified: bool
    reason: str | None
    warning: str | None
    quarantined: bool
    quarantine_reason: str | None
    payouts_from: str | None
    updated_at: str
    payout: PayoutsQuarantinedPayout | None


class PayoutsQuarantinedPayout(Answer):
    id: UUID
    status: Literal["pending", "processed", "failed"]
    restitution: Literal["done", "awaited"] | None


class PayoutsReconciliation(Answer):
    id: UUID
    payout_id: UUID
    vendor_id: UUID
    transfer_id: UUID | None
    kind: Literal["restitution", "reversal", "recovery", "recovery_returned"]
    status: Literal["prepared", "approved", "rejected"]
    amount_minor: int
    currency: str
    reason: str
    postings: list[PayoutsPreparedPosting]
    hash: str
    prepared_by: UUID
    prepared_at: str
    decided_by: UUID | None
    decided_at: str | None
    rejection_reason: str | None


class PayoutsReconciliationRejection(Request):
    reason: str


class PayoutsReconciliationRequest(Request):
    reason: str


class PayoutsResetRequest(Request):
    reason: str


class PayoutsScheduledPayout(Answer):
    period: str
    outcome: Literal["requested", "skipped"]
    reason: (
        Literal[
            "vendor_suspended",
            "debt_outstanding",
            "bank_details_quarantined",
            "bank_details_unverified",
            "below_minimum",
        ]
        | None
    )
    payout_id: UUID | None
    available_minor: int
    due_at: str
    decided_at: str


class PayoutsSkippedPayout(Answer):
    payout_id: UUID
    reason: str


class PayoutsStatementLine(Answer):
    id: UUID
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
    order_id: UUID | None
    payout_id: UUID | None
    payout_status: Literal["pending", "processed", "failed"] | None
    payout_failure: str | None
    gross_minor: int | None
    commission_minor: int | None
    delivery_fee_minor: int | None
    net_minor: int
    balance_minor: int
    at: str


class PayoutsStatementMonth(Answer):
    vendor_id: UUID
    month: str
    time_zone: str
    from_: str = Field(validation_alias="from", serialization_alias="from")
    to: str
    is_over: bool
    currency: str
    opening_balance_minor: int
    closing_balance_minor: int
    net_minor: int
    lines: int
    kinds: list[PayoutsKindOfMonth]


class PayoutsWallet(Answer):
    available_minor: int
    locked_minor: int
    in_transit_minor: int
    debt_minor: int
    held_minor: int
    currency: str
