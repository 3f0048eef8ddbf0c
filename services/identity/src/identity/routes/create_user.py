"""The create-user function, called by the system that creates accounts (specification: Functions; contract section
10).
"""

from starlette.requests import Request
from starlette.responses import Response

from common.auth.caller import ServiceItself
from common.auth.guards import SERVICE_KEY
from common.primitives.names import name_fault
from common.primitives.phone_numbers import phone_number_or_none
from common.web.endpoints import Endpoints
from common.web.http import dependencies_of, ok
from identity.dependencies import Dependencies
from identity.responses.profiles import CreatedUser, ReferralOutcome
from identity.schemas.profiles import CreateUserRequest, ExternalUserMetadata
from identity.use_cases.accounts.provision_user import NewUser, provision_user

endpoint = Endpoints("functions")
CREATING_USERS = ServiceItself("the create-user function")


@endpoint(
    "POST",
    "/functions/v1/create-user",
    id="functions.createUser",
    returns=CreatedUser,
    allow=SERVICE_KEY,
)
async def create_user(request: Request, body: CreateUserRequest) -> Response:
    """Create the profile of a user of another system. Repeating it returns the same profile."""
    dependencies = dependencies_of(request, Dependencies)
    metadata = body.user.user_metadata or ExternalUserMetadata()
    phone = phone_number_or_none(body.user.phone or "")
    user = NewUser(
        body.user.id,
        body.user.email,
        phone if phone and dependencies.text_policy.accepts(phone) else None,
        metadata.full_name if name_fault(metadata.full_name or "") is None else None,
        metadata.referral_token,
        email_confirmed=body.user.email_confirmed,
    )

    provisioned = await dependencies.database.transact(
        acting_as=CREATING_USERS,
        work=lambda uow: provision_user(
            uow,
            user,
            dependencies.provisioning,
            now=dependencies.clock.now(),
        ),
    )
    referral = ReferralOutcome(
        applied=provisioned.applied,
        pending=provisioned.pending,
        reward_minor=provisioned.reward_minor,
        reason=provisioned.reason,
    )
    created = CreatedUser(profile_id=provisioned.id, role="buyer", campus_id=provisioned.campus_id, referral=referral)
    return ok(request, created)
