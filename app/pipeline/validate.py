"""What a valid object is, for the JSON Schema that our designs are written in. A grammar is no validator."""

from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Any

KEYWORDS = frozenset(
    {"type", "properties", "required", "additionalProperties", "enum", "anyOf", "items", "maxItems", "maxLength"}
)
TYPES = frozenset({"object", "array", "string", "integer", "number", "boolean", "null"})


def lint_schema(schema: Mapping[str, Any], path: str = "$") -> None:
    """Raises ValueError for anything this validator or the grammar would silently not hold.

    Objects must be closed, with every property required in the order declared.
    """
    unknown = set(schema) - KEYWORDS
    if unknown:
        raise ValueError(
            f"{path} uses {sorted(unknown)}, which is not validated; extend app/pipeline/validate.py first"
        )
    if "anyOf" in schema:
        if set(schema) != {"anyOf"}:
            raise ValueError(f"{path} has keywords beside anyOf, which grammars ignore")
        for n, option in enumerate(schema["anyOf"]):
            lint_schema(option, f"{path}.anyOf[{n}]")
        return
    if schema.get("type") not in TYPES:
        raise ValueError(f"{path} has no known type")
    if schema["type"] == "object":
        _lint_object(schema, path)
    if schema["type"] == "array":
        lint_schema(schema["items"], f"{path}[]")


def _lint_object(schema: Mapping[str, Any], path: str) -> None:
    if schema.get("additionalProperties") is not False or schema.get("required") != list(schema["properties"]):
        raise ValueError(f"{path} must be closed and require its properties in the order declared")
    for name, value in schema["properties"].items():
        lint_schema(value, f"{path}.{name}")


def violations(value: Any, schema: Mapping[str, Any], path: str = "$") -> Iterator[str]:
    """Every way in which `value` is not an instance of `schema`; nothing means it is valid.

    Numbers are int or Decimal, as parse.py reads them.
    """
    if "anyOf" in schema:
        if all(any(True for _ in violations(value, option, path)) for option in schema["anyOf"]):
            yield f"{path} matches none of its alternatives"
        return
    if not _is_type(value, schema["type"]):
        yield f"{path} is not of type {schema['type']}"
        return
    if "enum" in schema and value not in schema["enum"]:
        yield f"{path} is not one of its allowed values"
    if schema["type"] == "string" and len(value) > schema.get("maxLength", len(value)):
        yield f"{path} is longer than {schema['maxLength']} characters"
    if schema["type"] == "array":
        yield from _array_violations(value, schema, path)
    if schema["type"] == "object":
        yield from _object_violations(value, schema, path)


def _array_violations(value: Sequence[Any], schema: Mapping[str, Any], path: str) -> Iterator[str]:
    if len(value) > schema.get("maxItems", len(value)):
        yield f"{path} has more than {schema['maxItems']} items"
    for n, item in enumerate(value):
        yield from violations(item, schema["items"], f"{path}[{n}]")


def _object_violations(value: Mapping[str, Any], schema: Mapping[str, Any], path: str) -> Iterator[str]:
    properties = schema["properties"]
    for name in properties:
        if name in value:
            yield from violations(value[name], properties[name], f"{path}.{name}")
        else:
            yield f"{path}.{name} is missing"
    if set(value) - set(properties):
        yield f"{path} has properties that are not declared"


def _is_type(value: Any, name: str) -> bool:
    match name:
        case "object":
            return isinstance(value, Mapping)
        case "array":
            return isinstance(value, list)
        case "string":
            return isinstance(value, str)
        case "boolean":
            return isinstance(value, bool)
        case "null":
            return value is None
        case "integer":
            return (isinstance(value, int) and not isinstance(value, bool)) or (
                isinstance(value, Decimal) and value == value.to_integral_value()
            )
        case _:
            return isinstance(value, int | Decimal) and not isinstance(value, bool)
