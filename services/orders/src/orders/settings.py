"""What the orders service is told by its environment (architecture section 6)."""

from pathlib import Path
from typing import Self

from pydantic import Field, model_validator

from common.settings import ServiceSettings


class Settings(ServiceSettings):
    """The service's own variables. Lengths of windows in seconds."""

    pin_key: str = Field(min_length=16)
    sealing_key: str = Field(min_length=16)
    delivery_pin_length: int = Field(default=6, ge=4, le=8)
    payment_window_seconds: int = Field(default=900, ge=1)
    vendor_idle_seconds: int = Field(default=259_200, ge=1)
    pin_window_seconds: int = Field(default=1_209_600, ge=1)
    return_window_seconds: int = Field(default=604_800, ge=1)

    # Pictures: in a folder that all processes of the service share, or, when an endpoint is named, in a bucket that speaks S3.
    media_folder: Path = Path(".state/media")
    media_url: str = ""
    media_s3_endpoint: str = ""
    media_s3_bucket: str = ""
    media_s3_region: str = "us-east-1"
    media_s3_access_key: str = ""
    media_s3_secret_key: str = ""

    @model_validator(mode="after")
    def whole_bucket(self) -> Self:
        if self.media_s3_endpoint and not (
            self.media_s3_bucket and self.media_s3_access_key and self.media_s3_secret_key
        ):
            raise ValueError("MEDIA_S3_ENDPOINT needs MEDIA_S3_BUCKET, MEDIA_S3_ACCESS_KEY and MEDIA_S3_SECRET_KEY")
        return self
