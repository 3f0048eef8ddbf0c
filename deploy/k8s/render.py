#!/usr/bin/env python3
"""Renders the manifests of each service's database and server accounts from templates/, for kustomize and GitOps tools.

python deploy/k8s/render.py            # writes; part of `make documents`
python deploy/k8s/render.py --check    # ends with status 1 and the names of stale files
"""

import sys
from pathlib import Path
from string import Template

FOLDER = Path(__file__).parent
# Which of a service's pods connect to its pooler.
COMPONENTS = {
    "api-gateway": "api",
    "identity": "api, worker, key-rotation",
    "orders": "api, worker",
    "payments": "api, worker",
    "payouts": "api, worker",
    "notifications": "api, worker",
}
TARGETS = {
    "database.yaml": "components/databases/{}.yaml",
    "server-accounts.yaml": "components/secrets/{}-accounts.yaml",
}


def manifests() -> dict[Path, str]:
    """Each rendered manifest by its path."""
    rendered = {}
    for template, target in TARGETS.items():
        text = Template((FOLDER / "templates" / template).read_text())
        for index, (service, components) in enumerate(COMPONENTS.items()):
            values = {
                "service": service,
                "database": service.replace("-", "_"),
                "components": components,
                # The nightly backups start ten minutes apart.
                "minute": str(10 * index),
            }
            heading = f"# Written from templates/{template} by `make documents`.\n"
            rendered[FOLDER / target.format(service)] = heading + text.substitute(values)
    return rendered


def main() -> None:
    stale = [path for path, text in manifests().items() if not path.exists() or path.read_text() != text]
    if "--check" in sys.argv:
        names = ", ".join(str(path.relative_to(FOLDER)) for path in stale)
        sys.exit(f"stale: {names}; run `make documents`" if stale else 0)
    for path in stale:
        path.write_text(manifests()[path])


if __name__ == "__main__":
    main()
