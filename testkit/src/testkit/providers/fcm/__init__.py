"""FCM HTTP v1 and its token endpoint."""
