"""The scaling limits of deploy/k8s for each process, read from the manifests."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import yaml

from lab.capacity.figures import ROOT

_FOLDER: Final = ROOT / "deploy/k8s"


@dataclass(frozen=True, slots=True)
class Scaling:
    """The minimum and maximum of instances, and the autoscaling targets of workers."""

    least: int
    most: int
    queue_length: int | None = None
    """Messages in one queue per worker."""
    busy_cores: float | None = None
    """Mean use of a core per worker."""


def scalings(folder: Path = _FOLDER) -> dict[str, Scaling]:
    """APIs by their HorizontalPodAutoscalers, workers by their ScaledObjects; by process name."""
    found = {}
    for path in [*folder.glob("base/*/api.yaml"), *folder.glob("components/autoscaling/*.yaml")]:
        for resource in yaml.safe_load_all(path.read_text()):
            if resource["kind"] == "HorizontalPodAutoscaler":
                spec = resource["spec"]
                found[_process_name(spec)] = Scaling(spec["minReplicas"], spec["maxReplicas"])
            elif resource["kind"] == "ScaledObject":
                spec = resource["spec"]
                triggers = {trigger["type"]: str(trigger["metadata"]["value"]) for trigger in spec["triggers"]}
                found[_process_name(spec)] = Scaling(
                    spec["minReplicaCount"],
                    spec["maxReplicaCount"],
                    int(triggers["rabbitmq"]) if "rabbitmq" in triggers else None,
                    int(triggers["cpu"].removesuffix("m")) / 1000 if "cpu" in triggers else None,
                )
    return found


def _process_name(spec: dict[str, Any]) -> str:
    """Return the launcher names the API gateway's process after its service."""
    name = str(spec["scaleTargetRef"]["name"])
    return "api-gateway" if name == "api-gateway-api" else name
