"""Images: processing, storage in a folder or bucket, and cleanup."""
