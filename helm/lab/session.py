"""Sessions that documents show: commands, and what they print. The commands are run as they stand there, and what they
print is compared with what the document has, or written into it.

In a document a session is a block between `<!-- session: NAME -->` and `<!-- end -->`: lines that begin with `$ ` are
commands, which go on in the next line after a backslash; all others are output. A block after `<!-- values: FILE -->`
has a file's content.
"""

import os
import queue
import re
import subprocess
import threading
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
DOCUMENT = ROOT / "docs" / "install-helm.md"

PROMPT = "$ "
WIDTH = 118
COMMAND_SECONDS = 300

# What differs from one run to the next, and what it is replaced by before outputs are compared.
_DIFFERS = [
    (r"\b[A-Z][a-z]{2} [A-Z][a-z]{2} +\d+ \d\d:\d\d:\d\d \d{4}\b", "TIME"),
    (r"\b[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d GMT\b", "TIME"),
    (r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b", "UUID"),
    (r"\b(?!127\.)\d{1,3}(\.\d{1,3}){3}\b", "ADDRESS"),
    (r":3\d{4}/TCP", ":PORT/TCP"),
    (r"\bcurl/[\d.]+", "curl"),
    (r"(service-time|ratelimit-reset|content-length): \d+", r"\1: N"),
    (r"\b\d+m?s\b", "AGE"),
    (r" +", " "),
]
# What programs in the background say meanwhile, and how far others have come.
_ASIDE = re.compile(r"^(Handling connection for |Forwarding from \[::1\]|Waiting for deployment )")


@dataclass
class Exchange:
    """A command, and the lines that it prints."""

    command: str
    output: list


@dataclass
class Block:
    """A block of a document: `kind` is `session` or `values`."""

    kind: str
    name: str
    content: str
    start: int
    end: int


class Mismatch(AssertionError):
    """A command failed, or prints something else than the document has."""


def blocks(text):
    pattern = r"<!-- (session|values): (\S+) -->\n\n```\w+\n(.*?)```\n\n<!-- end -->"
    return [
        Block(found[1], found[2], found[3], found.start(3), found.end(3))
        for found in re.finditer(pattern, text, re.DOTALL)
    ]


def parse(content):
    """The exchanges of a session."""
    found = []
    continues = False
    for line in content.splitlines():
        if continues:
            found[-1].command += "\n" + line
        elif line.startswith(PROMPT):
            found.append(Exchange(line.removeprefix(PROMPT), []))
        else:
            found[-1].output.append(line)
            continue
        continues = line.endswith("\\")
    return found


def written(exchanges):
    lines = []
    for exchange in exchanges:
        lines += [PROMPT + exchange.command, *exchange.output]
    return "\n".join(lines) + "\n"


def replaced(text, kind, name, content):
    """The document with a block's content."""
    block = block_of(text, kind, name)
    return text[: block.start] + content + text[block.end :]


def block_of(text, kind, name):
    (block,) = [block for block in blocks(text) if (block.kind, block.name) == (kind, name)]
    return block


def values(name):
    """What a block of values has: the file, but for what the chart's tests are told in it."""
    lines = (ROOT / name).read_text(encoding="utf-8").splitlines()
    return "".join(f"{line}\n" for line in lines if not line.startswith("# helm: "))


def with_values(text):
    """The document with all blocks of values as the files are."""
    for block in blocks(text):
        if block.kind == "values":
            text = replaced(text, "values", block.name, values(block.name))
    return text


def shown(lines):
    """Output as a document has it: no line is too long, none is empty at the end."""
    kept = [line.rstrip() for line in lines if not _ASIDE.match(line)]
    while kept and not kept[-1]:
        kept.pop()
    return [line if len(line) <= WIDTH else line[: WIDTH - 1] + "…" for line in kept]


def same(lines):
    """What must be the same in each run. Where a line was cut depends on what differs before."""
    found = []
    for line in lines:
        for pattern, instead in _DIFFERS:
            line = re.sub(pattern, instead, line)
        found.append(line[:60] if line.endswith("…") else line)
    return found


class Shell:
    """A shell that commands are typed into, one after the other."""

    def __init__(self, command, environment):
        self._process = subprocess.Popen(
            [*command, "bash", "--noprofile", "--norc"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8",
            env=os.environ | environment,
        )  # fmt: skip
        self._lines = queue.Queue()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        for line in self._process.stdout:
            self._lines.put(line.rstrip("\n"))
        self._lines.put(None)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._process.stdin.write("kill $(jobs -p)\nexit\n")
        self._process.stdin.close()
        self._process.wait()

    def run(self, command):
        """What a command prints. One for the background is over when it has said something."""
        self._type(command)
        output = [self._next(command)] if command.rstrip().endswith("&") else []
        self._type("echo $'\\n\\x01'$?")
        while True:
            line = self._next(command)
            if line.startswith("\x01"):
                break
            output.append(line)
        if line != "\x010":
            raise Mismatch(f"{command}: exit status {line[1:]}:\n" + "\n".join(output))
        return output[:-1] if output and not output[-1] else output

    def _type(self, line):
        self._process.stdin.write(line + "\n")
        self._process.stdin.flush()

    def _next(self, command):
        try:
            line = self._lines.get(timeout=COMMAND_SECONDS)
        except queue.Empty:
            raise Mismatch(f"{command}: does not end") from None
        if line is None:
            raise Mismatch(f"{command}: the shell has ended")
        return line


def replay(name, shell, record, after=lambda command: None):
    """Runs a session's commands. With `record` what they print is written into the document, else it must be what stands
    there. `after` is called with each command that has run."""
    text = DOCUMENT.read_text(encoding="utf-8")
    found = []
    for exchange in parse(block_of(text, "session", name).content):
        output = shown(shell.run(exchange.command))
        print(written([Exchange(exchange.command, output)]), end="", flush=True)
        if not record and same(output) != same(exchange.output):
            raise Mismatch(
                f"{DOCUMENT.name}, session {name}: {exchange.command}: prints\n"
                + "\n".join(output)
                + "\nand the document has\n"
                + "\n".join(exchange.output)
                + "\nRecord the sessions anew with PORTCULLIS_LAB_RECORD=1, if it is right."
            )
        found.append(Exchange(exchange.command, output))
        after(exchange.command)
    if record:
        DOCUMENT.write_text(replaced(text, "session", name, written(found)), encoding="utf-8")
