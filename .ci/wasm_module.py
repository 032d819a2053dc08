"""Reads what a WebAssembly module imports and exports."""

from dataclasses import dataclass, field
from pathlib import Path

IMPORT_SECTION = 2
EXPORT_SECTION = 7
FUNCTION = 0


@dataclass
class Module:
    """The functions at the border of a module."""

    imports: list = field(default_factory=list)
    """Pairs of the other module's name and the function's."""
    exports: list = field(default_factory=list)
    """Names."""


def read(path):
    """The module in the file at `path`. (https://webassembly.github.io/spec/core/binary/modules.html)"""
    reader = _Reader(Path(path).read_bytes())
    if reader.take(8) != b"\0asm\1\0\0\0":
        raise ValueError(f"{path} is not a WebAssembly module, version 1")
    module = Module()
    while not reader.at_end():
        section = reader.byte()
        body = _Reader(reader.take(reader.number()))
        if section == IMPORT_SECTION:
            for _ in range(body.number()):
                name = (body.name(), body.name())
                if body.import_kind() == FUNCTION:
                    module.imports.append(name)
        elif section == EXPORT_SECTION:
            for _ in range(body.number()):
                name, kind, _index = body.name(), body.byte(), body.number()
                if kind == FUNCTION:
                    module.exports.append(name)
    return module


class _Reader:
    def __init__(self, data):
        self._data = data
        self._at = 0

    def at_end(self):
        return self._at == len(self._data)

    def take(self, size):
        taken = self._data[self._at : self._at + size]
        if len(taken) < size:
            raise ValueError("the module ends too early")
        self._at += size
        return taken

    def byte(self):
        return self.take(1)[0]

    def number(self):
        """Unsigned LEB128."""
        value = shift = 0
        while True:
            byte = self.byte()
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value

    def name(self):
        return self.take(self.number()).decode()

    def limits(self):
        has_maximum = self.byte() & 1
        self.number()
        if has_maximum:
            self.number()

    def import_kind(self):
        """The kind of an import; what describes it is skipped."""
        kind = self.byte()
        if kind == FUNCTION:
            self.number()
        elif kind == 1:  # table
            self.byte()
            self.limits()
        elif kind == 2:  # memory
            self.limits()
        elif kind == 3:  # global
            self.take(2)
        else:
            raise ValueError(f"unknown kind of import: {kind}")
        return kind
