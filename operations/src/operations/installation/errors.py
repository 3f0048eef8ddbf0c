"""The error of a step of the installation."""


class InstallationFailed(Exception):
    """A setting, a file or a command; `advice` says what to do next."""

    def __init__(self, detail: str, advice: str = "") -> None:
        super().__init__(detail)
        self.detail = detail
        self.advice = advice
