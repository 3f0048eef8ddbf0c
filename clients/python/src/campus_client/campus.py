"""The client: every operation, and signing in."""

from campus_client import models
from campus_client.connection import Tokens
from campus_client.operations import Operations


class Campus(Operations):
    """`async with Campus("http://localhost:8080") as campus: ...`; its methods are named as the operations."""

    async def sign_in(self, email: str, password: str) -> None:
        """Speaks for this person from now on; the session refreshes itself.

        Raises:
            Refused: unknown address or wrong password.
        """
        self._signed_in(await self.post_auth_login(models.LogInRequest(email=email, password=password)))

    async def step_up(self, code: str) -> None:
        """The second factor of the person who is signed in: a code of the authenticator app."""
        self._signed_in(await self.post_auth_mfa_verify(models.VerifyFactorRequest(code=code)))

    async def sign_out(self) -> None:
        """Ends the session at the server too."""
        await self.post_auth_logout()
        self.use_tokens(None)

    def _signed_in(self, told: models.Tokens) -> None:
        self.use_tokens(Tokens(told.access_token, told.refresh_token))
