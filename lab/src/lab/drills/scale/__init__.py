"""Stop each node of a system without single points of failure under load: nothing is lost, nothing is doubled."""

from lab.drills.scale.drill import STOPS, ScaleLoad, drill_scale

__all__ = ["STOPS", "ScaleLoad", "drill_scale"]
