"""Faults in Python: one changed operator, constant, condition, statement or returned value at a time."""

import ast
import re
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Final

from lab.mutants.mutants import ROOT, Mutant
from lab.mutants.sql_operators import faults_of_statement, is_statement

_COMPARISONS: Final[dict[type[ast.cmpop], type[ast.cmpop]]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}
_ARITHMETIC: Final[dict[type[ast.operator], type[ast.operator]]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.FloorDiv,
    ast.FloorDiv: ast.Mult,
}
# Names whose numbers or texts are documentation, and functions whose call has no result for the caller.
_SKIPPED_CALLS: Final = ("log", "TypeVar", "Gauge", "Counter", "Histogram", "get_logger")

# A change of the tree, which it undoes when it is called again with its result.
Change = tuple[str, Callable[[], Callable[[], None]]]


def python_mutants(path: Path, scope: str, kinds: tuple[str, ...]) -> Iterator[Mutant]:
    """Yield the mutants of a file, relative to the repository."""
    tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
    seen: dict[str, int] = {}
    for function, node in _nodes(tree):
        faults = [("python", *fault) for fault in _faults(node)] + [
            ("sql", *fault) for fault in _statement_faults(node)
        ]
        for kind, description, change in faults:
            if kind not in kinds:
                continue
            name = f"{path}:{function}: {description}"
            seen[name] = seen.get(name, 0) + 1
            number = f" ({seen[name]})" if seen[name] > 1 else ""
            yield Mutant(name + number, kind, scope, path, partial(_changed, tree, change), function)


def _changed(tree: ast.Module, change: Callable[[], Callable[[], None]]) -> str:
    undo = change()
    source = ast.unparse(ast.fix_missing_locations(tree))
    undo()
    return source


def _nodes(tree: ast.Module) -> Iterator[tuple[str, ast.AST]]:
    """Each node that is executed, with its function, or the module-level name that it defines."""
    for statement in tree.body:
        match statement:
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                yield from _inside(statement.name, statement.body)
            case ast.ClassDef():
                for member in statement.body:
                    if isinstance(member, ast.FunctionDef | ast.AsyncFunctionDef):
                        yield from _inside(f"{statement.name}.{member.name}", member.body)
                    elif isinstance(member, ast.AnnAssign) and member.value is not None:
                        yield from _inside(statement.name, [member.value])
            case ast.Assign(targets=[ast.Name(name)], value=value) if not name.startswith("__"):
                yield from _inside(name, [value])
            case ast.AnnAssign(target=ast.Name(name), value=ast.expr() as value):
                yield from _inside(name, [value])


def _inside(function: str, roots: list[ast.stmt] | list[ast.expr]) -> Iterator[tuple[str, ast.AST]]:
    for root in roots:
        if isinstance(root, ast.Expr) and isinstance(root.value, ast.Constant):
            continue  # A docstring.
        if isinstance(root, ast.FunctionDef | ast.AsyncFunctionDef):
            yield from _inside(f"{function}.{root.name}", root.body)
            continue
        yield function, root
        for field, value in ast.iter_fields(root):
            if field in ("annotation", "returns", "decorator_list", "type_comment"):
                continue
            children = [
                child for child in (value if isinstance(value, list) else [value]) if isinstance(child, ast.AST)
            ]
            if isinstance(root, ast.JoinedStr):
                children = [child for child in children if isinstance(child, ast.FormattedValue)]
            if isinstance(root, ast.Call) and _name_of(root.func) in _SKIPPED_CALLS:
                continue
            yield from _inside(function, children)  # type: ignore[arg-type]


def _name_of(function: ast.expr) -> str:
    match function:
        case ast.Name(name):
            return name
        case ast.Attribute(ast.Name(name), _):
            return name
    return ""


def _setting(owner: ast.AST, field: str, value: object) -> Callable[[], Callable[[], None]]:
    def change() -> Callable[[], None]:
        before = getattr(owner, field)
        setattr(owner, field, value)
        return lambda: setattr(owner, field, before)

    return change


def _faults(node: ast.AST) -> Iterator[Change]:  # noqa: C901 - one table of operators
    match node:
        case ast.Compare(ops=[operator]) if type(operator) in _COMPARISONS:
            changed = _COMPARISONS[type(operator)]()
            yield f"{_short(node)} with {type(changed).__name__}", _setting(node, "ops", [changed])
        case ast.BoolOp():
            changed_bool = ast.Or() if isinstance(node.op, ast.And) else ast.And()
            yield f"{_short(node)} with {type(changed_bool).__name__}", _setting(node, "op", changed_bool)
        case ast.BinOp() if type(node.op) in _ARITHMETIC and not _is_text(node):
            changed_arithmetic = _ARITHMETIC[type(node.op)]()
            yield f"{_short(node)} with {type(changed_arithmetic).__name__}", _setting(node, "op", changed_arithmetic)
        case ast.UnaryOp(op=ast.Not()):
            # `+` on a truth value would make a number: the operand twice negated.
            yield f"{_short(node)} not negated", _setting(node, "operand", ast.UnaryOp(ast.Not(), node.operand))
        case ast.Constant(value=bool(truth)):
            yield f"{truth} inverted", _setting(node, "value", not truth)
        case ast.Constant(value=int(number)):
            yield f"{number} plus 1", _setting(node, "value", number + 1)
        case ast.If(body=[ast.Raise() as raised]) if not _is_unreachable(raised):
            yield f"no {_short(raised)}", _setting(node, "body", [ast.Pass()])
        case ast.If(test=ast.Call() | ast.Name() | ast.Attribute() | ast.Await()):
            yield f"if not {_short(node.test)}", _setting(node, "test", ast.UnaryOp(ast.Not(), node.test))
        case ast.IfExp(test=ast.Call() | ast.Name() | ast.Attribute()):
            yield f"if not {_short(node.test)}", _setting(node, "test", ast.UnaryOp(ast.Not(), node.test))
        case ast.Return(value=ast.expr() as value) if not (isinstance(value, ast.Constant) and value.value is None):
            yield f"return None for {_short(value)}", _setting(node, "value", ast.Constant(None))
        case ast.Expr(value=ast.Call() | ast.Await()) if _effect(node.value) not in _SKIPPED_CALLS:
            yield f"no {_short(node.value)}", _setting(node, "value", ast.Constant(None))


def _is_unreachable(raised: ast.Raise) -> bool:
    """Return an AssertionError states what never happens, so that no test can reach it."""
    return isinstance(raised.exc, ast.Call) and _name_of(raised.exc.func) == "AssertionError"


def _effect(value: ast.expr) -> str:
    call = value.value if isinstance(value, ast.Await) else value
    return _name_of(call.func) if isinstance(call, ast.Call) else ""


def _is_text(node: ast.BinOp) -> bool:
    return any(
        isinstance(side, ast.JoinedStr | ast.List | ast.Tuple)
        or (isinstance(side, ast.Constant) and not isinstance(side.value, int))
        for side in (node.left, node.right)
    )


def _statement_faults(node: ast.AST) -> Iterator[Change]:
    match node:
        case ast.Constant(value=str(text)) if is_statement(text):
            for description, changed in faults_of_statement(text):
                yield description, _setting(node, "value", changed)
        case ast.JoinedStr(values=parts):
            inserted = {
                f"inserted{place}_": part for place, part in enumerate(parts) if not isinstance(part, ast.Constant)
            }
            texts = [
                str(part.value) if isinstance(part, ast.Constant) else f"inserted{place}_"
                for place, part in enumerate(parts)
            ]
            if is_statement(whole := "".join(texts)) or texts[0].startswith("inserted"):
                for description, changed in faults_of_statement(whole):
                    pieces = re.split(r"(inserted\d+_)", changed)
                    values = [inserted.get(piece) or ast.Constant(piece) for piece in pieces if piece]
                    yield description, _setting(node, "values", values)


def _short(node: ast.AST) -> str:
    text = " ".join(ast.unparse(node).split())
    return text if len(text) <= 60 else f"{text[:57]}..."
