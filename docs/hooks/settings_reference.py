"""Tables of the keys that a pydantic model accepts, as Markdown, from its own JSON schema."""

import re
from itertools import cycle
from typing import Any

from pydantic import BaseModel

ELSEWHERE = {"Contract": "[a contract](contract.md)"}  # models with a page of their own
_BOUNDS = {"minimum": "from {}", "exclusiveMinimum": "above {}", "maximum": "to {}", "exclusiveMaximum": "below {}"}
_LENGTHS = {"minItems": "{} or more", "maxItems": "at most {}", "minProperties": "{} or more"}
_NAMES = {"string": "text", "boolean": "`true` or `false`", "object": "any keys", "null": "`null`"}


def settings_reference(model: type[BaseModel], path: str = "", *, level: int = 2) -> str:
    """A heading, a sentence and a table for the model and for each section in it, in the order of the keys.

    Args:
        path: the key that the model stands under in its file; empty for a whole file.
        level: of the headings.
    """
    schema = model.model_json_schema(mode="validation")
    models = {name: part for name, part in schema.get("$defs", {}).items() if name not in ELSEWHERE}
    return "\n".join(_section(schema, path, models, level))


def _section(schema: dict[str, Any], path: str, models: dict[str, Any], level: int) -> list[str]:
    lines = [f"{'#' * level} `{path}`", ""] if path else []
    if description := schema.get("description"):
        lines += [_paragraph(description), ""]
    lines += ["| key | value | default | meaning |", "|---|---|---|---|"]
    required = schema.get("required", [])
    for key, field in schema.get("properties", {}).items():
        default = "required" if key in required else _default(field)
        meaning = field.get("description") or _first_sentence(field, models)
        lines.append(f"| `{key}` | {_cell(_value(field, models))} | {_cell(default)} | {_cell(meaning)} |")
    lines.append("")
    for key, field in schema.get("properties", {}).items():
        for name in _models(field, models):
            lines += _section(models[name], _path(path, key, field, models, name), models, level)
    return lines


def _first_sentence(field: dict[str, Any], models: dict[str, Any]) -> str:
    """Of the section that stands in a field, for the row that leads to it, in that table's style."""
    description = next((models[name].get("description", "") for name in _models(field, models)), "")
    sentence = re.split(r"\.(?:\s|$)", description, maxsplit=1)[0]
    return sentence if sentence[1:2].isupper() else sentence[:1].lower() + sentence[1:]


def _path(path: str, key: str, field: dict[str, Any], models: dict[str, Any], name: str) -> str:
    """The dotted path of a section; `NAME` for a key that the person chooses, `[]` for an item of a list."""
    full = f"{path}.{key}" if path else key
    if _values(field):
        full += ".NAME"
    elif field.get("type") == "array":
        full += "[]"
    variants = _models(field, models)
    if len(variants) > 1:
        tag, value = next((k, p["const"]) for k, p in models[name]["properties"].items() if "const" in p)
        full += f", {tag}: {value}"
    return full


def _models(field: dict[str, Any], models: dict[str, Any]) -> list[str]:
    """Names of the models that stand directly in a field, in its items or in its values, each once."""
    found: list[str] = []
    if "$ref" in field:
        name = _name(field)
        found += [name] if "properties" in models.get(name, {}) else []
    for group in ("anyOf", "oneOf", "allOf", "prefixItems"):
        for part in field.get(group, []):
            found += _models(part, models)
    for inner in (field.get("items"), _values(field)):
        found += _models(inner, models) if inner else []
    return list(dict.fromkeys(found))


def _name(field: dict[str, Any]) -> str:
    return str(field["$ref"]).rsplit("/", 1)[-1]


def _values(field: dict[str, Any]) -> dict[str, Any]:
    """What stands under keys that the person chooses; empty where it may be anything, or the keys are fixed."""
    found = field.get("additionalProperties") or next(iter(field.get("patternProperties", {}).values()), {})
    return found if isinstance(found, dict) else {}


def _value(field: dict[str, Any], models: dict[str, Any]) -> str:
    if "$ref" in field:
        if (name := _name(field)) in ELSEWHERE:
            return ELSEWHERE[name]
        return "section, below" if "properties" in models[name] else _value(models[name], models)
    if "const" in field:
        return f"`{_yaml(field['const'])}`"
    if "enum" in field:
        return ", ".join(f"`{_yaml(value)}`" for value in field["enum"])
    for group in ("anyOf", "oneOf"):
        if group in field:
            return " or ".join(dict.fromkeys(_value(part, models) for part in field[group]))
    if "prefixItems" in field:
        return "[" + ", ".join(_value(part, models) for part in field["prefixItems"]) + "]"
    if field.get("type") == "array":
        return _with(f"list of {_value(field.get('items', {}), models)}", field, _LENGTHS)
    if inner := _values(field):
        return _with(f"names to {_value(inner, models)}", field, _LENGTHS)
    if field.get("type") in ("integer", "number"):
        return _with("whole number" if field["type"] == "integer" else "number", field, _BOUNDS)
    if "pattern" in field:
        return f"text like `{field['pattern']}`"
    if field.get("format") in ("path", "date"):
        return str(field["format"])
    return _NAMES.get(str(field.get("type")), "anything")


def _with(text: str, field: dict[str, Any], rules: dict[str, str]) -> str:
    bounds = [words.format(_yaml(field[rule])) for rule, words in rules.items() if rule in field]
    return f"{text}, {' '.join(bounds)}" if bounds else text


def _default(field: dict[str, Any]) -> str:
    if "default" not in field or isinstance(field["default"], dict):
        return "as below" if "$ref" in field else "empty"
    return f"`{_yaml(field['default'])}`"


def _yaml(value: Any) -> str:
    """A value as job.yaml and site.yaml have it."""
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, list):
        return "[" + ", ".join(_yaml(item) for item in value) + "]"
    return '""' if value == "" else str(value)


def _cell(text: str) -> str:
    """A bar ends a cell, but not within backticks, where a backslash before it would be shown."""
    parts = text.replace("\n", " ").split("`")
    return "`".join(part if inside else part.replace("|", "\\|") for part, inside in zip(parts, cycle((False, True))))


def _paragraph(docstring: str) -> str:
    return docstring.replace("{", "&#123;").strip()
