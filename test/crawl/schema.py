"""schema.py - the part of JSON Schema that our schemas use."""
import json
import os
import re

DOC = os.path.join(os.environ["SEEN_SOURCE"], "doc")


def load(name):
    with open(os.path.join(DOC, name), encoding="utf-8") as file:
        schema = json.load(file)
    check_strictly(schema)
    return schema


def check_strictly(part):
    """Strict validators want each required member among the properties beside it."""
    if isinstance(part, dict):
        required = part.get("required")
        if isinstance(required, list):
            assert set(required) <= set(part.get("properties", ())), part
        part = list(part.values())
    if isinstance(part, list):
        for inner in part:
            check_strictly(inner)


def valid(schema, value, root=None):
    """Is the value right? Keywords that are not known here are an error."""
    root = root or schema
    is_int = isinstance(value, int) and not isinstance(value, bool)
    types = {"object": isinstance(value, dict), "array": isinstance(value, list),
             "string": isinstance(value, str), "integer": is_int,
             "boolean": isinstance(value, bool),
             "number": is_int or isinstance(value, float)}
    members = value if isinstance(value, dict) else {}

    def fits(part, one):
        return valid(part, one, root)

    for word, says in schema.items():
        if word in ("$schema", "$id", "$defs", "title", "description", "default", "format"):
            continue
        if word == "$ref":
            ok = fits(root["$defs"][says.rsplit("/", 1)[1]], value)
        elif word == "type":
            ok = types[says]
        elif word == "enum":
            ok = value in says
        elif word == "required":
            ok = all(name in members for name in says)
        elif word == "properties":
            ok = all(fits(says[n], v) for n, v in members.items() if n in says)
        elif word == "additionalProperties":
            known = schema.get("properties", {})
            ok = all(fits(says, v) if says else False
                     for n, v in members.items() if n not in known)
        elif word == "propertyNames":
            ok = all(fits(says, name) for name in members)
        elif word == "items":
            ok = all(fits(says, one) for one in value)
        elif word == "minItems":
            ok = len(value) >= says
        elif word == "minLength":
            ok = len(value) >= says
        elif word == "pattern":
            ok = re.search(says, value) is not None
        elif word == "minimum":
            ok = value >= says
        elif word == "maximum":
            ok = value <= says
        elif word == "anyOf":
            ok = any(fits(one, value) for one in says)
        elif word == "oneOf":
            ok = sum(fits(one, value) for one in says) == 1
        elif word == "const":
            ok = value == says
        elif word == "not":
            ok = not fits(says, value)
        else:
            raise AssertionError("a keyword that this test does not know: " + word)
        if not ok:
            return False
    return True
