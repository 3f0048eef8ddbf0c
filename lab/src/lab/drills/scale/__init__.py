"""Stop each node of a system without single points of failure under load: nothing is lost, nothing is doubled."""

from lab.drills.scale.drill import STOPS, ScaleFigures, ScaleLoad, drill_scale

__all__ = ["STOPS", "ScaleFigures", "ScaleLoad", "drill_scale"]
