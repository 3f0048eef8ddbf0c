"""A noun of the use cases lists its operations: what endpoints, consumers, timers and commands call. Everything else is
a step.
"""

import ast
from pathlib import Path

import pytest

from testkit.cases import for_each
from tests.architecture.sources import SHAPED, imports_of, inside, module_of, python_files, tree_of

NOUNS = [
    pytest.param(service, noun, id=module_of(noun / "__init__.py"))
    for service, package in SHAPED.items()
    for noun in sorted({path.parent for path in python_files(package) if inside(path, package) == "use_cases"})
    if {path.name for path in noun.glob("*.py")} - {"__init__.py", "alerts.py"}
]


def listed(init: Path, name: str) -> set[str]:
    """Return the texts of a list in a module: `__all__` or `STEPS`; empty when the module has none."""
    for node in tree_of(init).body:
        if isinstance(node, ast.Assign) and [target.id for target in node.targets if isinstance(target, ast.Name)] == [
            name
        ]:
            return set(ast.literal_eval(node.value))
    return set()


@for_each(("service", "noun"), NOUNS)
def test_a_noun_lists_exactly_its_operations_called_from_outside(service, noun) -> None:
    package, dotted = SHAPED[service], module_of(noun / "__init__.py")
    called = {
        name
        for path in python_files(package)
        if inside(path, package) != "use_cases"
        for name in imports_of(path)
        if name.startswith(f"{dotted}.")
    }
    modules = {path.stem for path in noun.glob("*.py")} - {"__init__"}
    operations = {module for module in modules if any(f"{name}.".startswith(f"{dotted}.{module}.") for name in called)}
    assert listed(noun / "__init__.py", "__all__") == operations
    assert listed(noun / "__init__.py", "STEPS") == modules - operations - {"steps"}


@for_each(("service", "noun"), NOUNS)
def test_a_step_is_called_by_another_use_case(service, noun) -> None:
    package = SHAPED[service]
    called = {
        name for path in python_files(package) if inside(path, package) == "use_cases" for name in imports_of(path)
    }
    unused = [
        step
        for step in listed(noun / "__init__.py", "STEPS")
        if f"{module_of(noun / '__init__.py')}.{step}" not in called
    ]
    assert unused == []
