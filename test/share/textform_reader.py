"""A reader of the text form, written from doc/format.md, section 7, alone.

    head, text, cells = read("haw.csv")

head: what the form says of itself; text: the name=value lines; cells: bytes.
Everything that does not need the plan is checked; the standard library is
enough.
"""
import base64
import csv
import hashlib
import re

ROW = 192


class Refused(Exception):
    pass


def check(good, reason):
    if not good:
        raise Refused(reason)


def number(text):
    check(re.fullmatch("0|[1-9][0-9]*", text), "a number: " + text)
    return int(text)


def verify(path):
    """The checksum of all lines but the second."""
    with open(path, "rb") as file:
        lines = [line.replace(b"\r\n", b"\n") for line in file]
    check(len(lines) > 1 and lines[-1].endswith(b"\n"), "cut short")
    name, value = lines[1].rstrip(b"\n").decode().split(",")
    check(name == "checksum", "checksum is missing")
    found = hashlib.sha256(lines[0] + b"".join(lines[2:])).hexdigest()
    check(value == "sha-256:" + found, "checksum differs")


def read(path):
    verify(path)
    with open(path, encoding="utf-8", errors="surrogateescape", newline="") as file:
        rows = csv.reader(file, strict=True)
        head, text = {}, []
        order = ["seen", "checksum", "hashing", "applied", "cells"]
        for name, value in rows:
            if name == "kind":
                text.append(name + "=" + value)
                break
            check(name in order, "a row of the form: " + name)
            order = order[order.index(name) + 1:]
            head[name] = value if name == "checksum" else number(value)
        check(head["seen"] == 1 and head["hashing"] == 1, "a later version")
        for name, value in rows:
            if (name, value) == ("at", "base64"):
                break
            text.append(name + "=" + value)
        cells, next_at = bytearray(head["cells"]), 0
        for at, letters in rows:
            at = number(at)
            check(at % ROW == 0 and next_at <= at < len(cells), "an offset")
            row = base64.b64decode(letters, validate=True)
            check(base64.b64encode(row).decode() == letters, "base64")
            check(len(row) == min(ROW, len(cells) - at), "the length of a row")
            check(any(row), "a row of zeros")
            cells[at:at + len(row)] = row
            next_at = at + ROW
    return head, text, bytes(cells)
