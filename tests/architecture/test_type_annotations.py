"""Requests, messages and dependencies enter a service with their types."""

import ast

import pytest

from tests.architecture.sources import ROOT, SERVICES, nodes_of, python_files

PACKAGES = {"common": ROOT / "libs/common/src/common", **SERVICES}
VERBS = {"get", "post", "put", "patch", "delete", "api_route"}
packages = pytest.mark.parametrize("package", PACKAGES)


def functions_of(package):
    return [
        (f"{path.relative_to(ROOT)}: {node.name}", node)
        for path in python_files(PACKAGES[package])
        for node in nodes_of(path)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    ]


def parameters_of(function):
    return [*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs]


def is_any(annotation) -> bool:
    return annotation is not None and ast.unparse(annotation) in {"Any", "typing.Any"}


def handlers_of(package):
    """Endpoints, and handlers of messages."""
    for where, function in functions_of(package):
        decorators = {ast.unparse(node).partition("(")[0].rpartition(".")[2] for node in function.decorator_list}
        if function.name.startswith("on_") or decorators & VERBS:
            yield where, function


@packages
def test_dependencies_have_a_type(package) -> None:
    untyped = [
        where
        for where, function in functions_of(package)
        if any(argument.arg == "dependencies" and is_any(argument.annotation) for argument in parameters_of(function))
        or (function.name in {"dependencies", "dependencies_of"} and is_any(function.returns))
    ]
    untyped += [
        f"{path.relative_to(ROOT)}: {ast.unparse(node)}"
        for path in python_files(PACKAGES[package])
        for node in nodes_of(path)
        if isinstance(node, ast.AnnAssign) and ast.unparse(node.target) == "dependencies" and is_any(node.annotation)
    ]
    assert untyped == []


@packages
def test_every_parameter_of_an_endpoint_or_message_handler_has_a_type(package) -> None:
    untyped = [
        f"{where}({argument.arg})"
        for where, function in handlers_of(package)
        for argument in parameters_of(function)
        if argument.arg != "self" and (argument.annotation is None or is_any(argument.annotation))
    ]
    assert untyped == []


@packages
def test_an_endpoint_or_message_handler_has_a_return_type(package) -> None:
    untyped = [
        where for where, function in handlers_of(package) if function.returns is None or is_any(function.returns)
    ]
    assert untyped == []
