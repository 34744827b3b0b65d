"""Makes of duplexvoice.h what cffi needs: python3 declarations.py HEADER _native.py

The module that comes of it has the declarations in cffi's own form (ABI mode, out of line), so that nothing is parsed
or compiled where the package runs.
"""

import re
import sys
from pathlib import Path

# Of the preprocessor's lines, constants are all that a caller needs.
CONSTANT = re.compile(r"#define (DV_\w+) (\d+)$")


def declarations(header: str) -> str:
    """The header's declarations in C without a preprocessor's words."""
    lines = []
    skips_to_endif = False
    for line in header.splitlines():
        if line.startswith("#if"):
            # Guards, C++ and clang: nothing that is declared stands in one but what is needed by all.
            skips_to_endif = line.startswith(("#ifdef __cplusplus", "#ifdef __clang__"))
        elif line.startswith("#endif"):
            skips_to_endif = False
        elif line.startswith("#"):
            if CONSTANT.match(line):
                lines.append(line)
        elif not skips_to_endif:
            lines.append(line.replace("DV_NULLABLE", ""))
    return "\n".join(lines)


def version(header: str) -> str:
    """The header's version, as 0.1.0."""
    parts = dict(re.findall(r"^#define DV_VERSION_(MAJOR|MINOR|PATCH) (\d+)$", header, re.MULTILINE))
    return f"{parts['MAJOR']}.{parts['MINOR']}.{parts['PATCH']}"


def write(header: str, path: Path) -> None:
    """Writes the module that holds the declarations."""
    from cffi import FFI

    builder = FFI()
    builder.cdef(declarations(header))
    builder.set_source("duplexvoice._native", None)
    builder.emit_python_code(str(path))


if __name__ == "__main__":
    write(Path(sys.argv[1]).read_text(encoding="utf-8"), Path(sys.argv[2]))
