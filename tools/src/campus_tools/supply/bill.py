"""The bill of materials of each image (CycloneDX 1.6): packages by version, hash and dependents.

A bill is deterministic, without time or random numbers: two bills differ only when the images do.
Packages of the base image are not listed; the base image itself is.
"""

import json
import re
import tomllib
from importlib.metadata import PackageNotFoundError, metadata
from pathlib import Path
from typing import Final
from uuid import NAMESPACE_OID, uuid5

from cyclonedx.model import ExternalReference, ExternalReferenceType, HashAlgorithm, HashType, XsUri
from cyclonedx.model.bom import Bom, BomMetaData
from cyclonedx.model.component import Component, ComponentType
from cyclonedx.model.license import DisjunctiveLicense, LicenseExpression
from cyclonedx.output import make_outputter
from cyclonedx.schema import OutputFormat, SchemaVersion
from packageurl import PackageURL
from packaging.markers import Marker

from campus_tools.supply.lock import ROOT, Requirement, part_for, requirements_in
from operations.services import SERVICES

FOLDER: Final = ROOT / "build/sbom"
IMAGES: Final = {
    **{service.name: f"services/{service.name}" for service in SERVICES},
    "console": "console",
    "sandbox": "sandbox",
    "operations": "operations",
}
"""Each image by the SERVICE of its build, with the folder of its code (deploy/Dockerfile)."""
UNRELEASED: Final = "0.0.0"
"""The version of an image that is built without a tag, as in deploy/Dockerfile."""
_COMMON: Final = "campus-common"


def bills(version: str = UNRELEASED) -> dict[str, str]:
    """Return the bill of every image by its file's name."""
    return {f"campus-{image}.cdx.json": bill_of(image, version) for image in IMAGES}


def bill_of(image: str, version: str = UNRELEASED) -> str:
    """Return the bill of one image of a release as JSON."""
    project = tomllib.loads((ROOT / IMAGES[image] / "pyproject.toml").read_text())["project"]
    ours = [project["name"], *([_COMMON] if _COMMON in _named(project["dependencies"]) else [])]
    part = part_for(IMAGES[image])
    requirements = [line for line in requirements_in(part) if _is_installed(line)]
    # Derived from the content: the library's default is random.
    named = uuid5(NAMESPACE_OID, "\n".join([image, version, ":".join(_base_image()), part]))
    bom = Bom(metadata=BomMetaData(), serial_number=named)
    whole = Component(type=ComponentType.CONTAINER, name=f"campus-{image}", version=version, bom_ref="image")
    bom.metadata.component = whole
    base = _base()
    own = {name: _own(name, version, image) for name in ours}
    others = {requirement.name: _locked(requirement) for requirement in requirements}
    bom.components.update([base, *own.values(), *others.values()])
    bom.register_dependency(whole, [base, own[project["name"]]])
    dependencies = {component: list[Component]() for component in [*own.values(), *others.values()]}
    if _COMMON in own and project["name"] != _COMMON:
        dependencies[own[project["name"]]].append(own[_COMMON])
    for requirement in requirements:
        for name in requirement.required_by & (own.keys() | others.keys()):
            dependencies[(own | others)[name]].append(others[requirement.name])
    for component, needed in dependencies.items():
        bom.register_dependency(component, needed)
    return _written(bom)


def write_bills(folder: Path = FOLDER, version: str = UNRELEASED) -> list[Path]:
    """Write all bills and return their paths."""
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for name, text in bills(version).items():
        (folder / name).write_text(text)
        written.append(folder / name)
    return written


def _base_image() -> tuple[str, str]:
    """Return name and tag of the Dockerfile's default PYTHON_IMAGE."""
    found = re.search(
        r"^ARG PYTHON_IMAGE=([^\s:@]+):([^\s@]+)(?:@\S+)?$", (ROOT / "deploy/Dockerfile").read_text(), re.MULTILINE
    )
    if found is None:
        raise ValueError("deploy/Dockerfile does not name its base image with a tag")
    return found[1], found[2]


def _base() -> Component:
    name, tag = _base_image()
    return Component(
        type=ComponentType.CONTAINER, name=name, version=tag, purl=PackageURL("docker", None, name, tag), bom_ref="base"
    )


def _is_installed(requirement: Requirement) -> bool:
    """Return whether the image installs it: some requirements are for other systems."""
    python = _base_image()[1].partition("-")[0]
    place = {
        "sys_platform": "linux",
        "platform_python_implementation": "CPython",
        "implementation_name": "cpython",
        "python_version": python,
        "python_full_version": f"{python}.0",
    }
    return not requirement.marker or Marker(requirement.marker).evaluate(place)


def _own(name: str, version: str, image: str) -> Component:
    kind = ComponentType.LIBRARY if name == _COMMON else ComponentType.APPLICATION
    return Component(
        type=kind, name=name, version=version, bom_ref=name, description=f"Of this repository, in {image}."
    )


def _locked(requirement: Requirement) -> Component:
    purl = PackageURL("pypi", None, requirement.name, requirement.version)
    files = ExternalReference(
        type=ExternalReferenceType.DISTRIBUTION,
        url=XsUri(purl.to_string()),
        comment="one of these files, by platform",
        hashes=[HashType(alg=HashAlgorithm.SHA_256, content=content) for content in requirement.hashes],
    )
    return Component(
        type=ComponentType.LIBRARY,
        name=requirement.name,
        version=requirement.version,
        purl=purl,
        bom_ref=purl.to_string(),
        external_references=[files],
        licenses=licenses_of(requirement.name),
    )


def licenses_of(name: str) -> list[DisjunctiveLicense | LicenseExpression]:
    """Return the licences that the installed package declares: its SPDX expression, else the names in its older fields.

    Empty for a package of other systems or versions of Python, which is not installed here.
    """
    try:
        declared = metadata(name)
    except PackageNotFoundError:
        return []
    if "License-Expression" in declared:
        return [LicenseExpression(declared["License-Expression"])]
    classifiers = declared.get_all("Classifier") or []
    names = {it.rpartition(" :: ")[2] for it in classifiers if it.startswith("License :: ")} - {"OSI Approved"}
    first_line = declared["License"].strip().partition("\n")[0] if "License" in declared else ""
    return [DisjunctiveLicense(name=it) for it in sorted(names) or [first_line] if it]


def _named(dependencies: list[str]) -> set[str]:
    return {found[0] for text in dependencies if (found := re.match(r"[a-z0-9._-]+", text))}


def _written(bom: Bom) -> str:
    document = json.loads(make_outputter(bom, OutputFormat.JSON, SchemaVersion.V1_6).output_as_string())
    # The library always writes a timestamp; the format does not require one.
    del document["metadata"]["timestamp"]
    return json.dumps(document, indent=2, sort_keys=True) + "\n"
