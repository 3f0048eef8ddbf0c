"""Operations of the service: one verb, one file."""
