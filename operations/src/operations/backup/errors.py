"""The errors of a backup or a restore."""


class BackupFailed(Exception):
    """A step failed. `advice` says what an operator does next; neither text holds a secret."""

    def __init__(self, detail: str, advice: str = "", *, is_unreachable: bool = False) -> None:
        super().__init__(detail)
        self.detail, self.advice, self.is_unreachable = detail, advice, is_unreachable


class ArchivesAfterRestart(BackupFailed):
    """PostgreSQL archives after its next start."""
