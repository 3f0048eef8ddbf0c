"""Images: processing, storage in a folder or bucket, and cleanup."""

__all__ = [
    "cleanup",
    "images",
    "s3",
    "storage",
]
