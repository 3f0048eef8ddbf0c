"""Read-only checks of everything that the first deployment with real providers needs (docs/going-live.md)."""
