"""What pyproject.toml cannot say: version and declarations, of duplexvoice.h, and that a wheel is of one platform.

The header is the one beside this file, where tools/package-python has put it, or that of the source tree.
"""

import sys
from pathlib import Path

from setuptools import Distribution, setup
from setuptools.command.build_py import build_py
from wheel.bdist_wheel import bdist_wheel

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import declarations  # noqa: E402

HEADERS = [HERE / "duplexvoice.h", HERE.parent / "Sources/CDuplexVoice/include/duplexvoice.h"]
header = next(path for path in HEADERS if path.exists()).read_text(encoding="utf-8")


class BuildWithDeclarations(build_py):
    def run(self):
        super().run()
        declarations.write(header, Path(self.build_lib) / "duplexvoice" / "_native.py")


class PlatformWheel(bdist_wheel):
    """For any Python 3."""

    def get_tag(self):
        return "py3", "none", super().get_tag()[2]


class PlatformDistribution(Distribution):
    """For one platform: the library is in it."""

    def has_ext_modules(self):
        return True


setup(
    version=declarations.version(header),
    distclass=PlatformDistribution,
    cmdclass={"build_py": BuildWithDeclarations, "bdist_wheel": PlatformWheel},
)
