"""Prints rule files of Prometheus as resources of its operator: `prometheus_rules.py deploy/observability/prometheus/rules/*.yml`.

The rules exist once, where promtool tests them; the cluster gets the same text.
"""

import sys
from pathlib import Path
from typing import Any

import yaml


def as_resource(path: Path) -> dict[str, Any]:
    """One file as one `PrometheusRule`, named like the file."""
    return {
        "apiVersion": "monitoring.coreos.com/v1",
        "kind": "PrometheusRule",
        "metadata": {"name": path.stem, "namespace": "campus", "labels": {"app.kubernetes.io/part-of": "campus"}},
        "spec": {"groups": yaml.safe_load(path.read_text())["groups"]},
    }


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit("usage: prometheus_rules.py RULES.yml...")
    yaml.safe_dump_all([as_resource(Path(name)) for name in sys.argv[1:]], sys.stdout, sort_keys=False, width=140)
