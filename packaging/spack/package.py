"""Spack recipe: put it into a repository of your own as REPO/packages/latecomer/package.py; then, in a checkout of Latecomer,
`spack dev-build latecomer@1.0.0 ^openmpi`. One MPI per installation: the one that the programs use."""
from spack.package import *


class Latecomer(CMakePackage):
    """Who makes the others wait in MPI programs, why, and what it costs: profiles and traces of unchanged programs, root causes of
    waiting, the critical path, efficiency factors."""

    license("BSD-3-Clause")

    version("1.0.0")

    variant("tests", default=False, description="Build the tests, which need cmocka, a C++ and a Fortran compiler")

    depends_on("c", type="build")
    depends_on("cxx", type="build", when="+tests")
    depends_on("fortran", type="build", when="+tests")
    depends_on("cmake@3.25:", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("python@3.9:", type="build")
    depends_on("mpi@3:")
    depends_on("otf2@3:")
    depends_on("libunwind")
    depends_on("elfutils")
    depends_on("jansson")
    depends_on("util-linux")  # libsmartcols
    depends_on("zstd")
    depends_on("zlib-api")
    depends_on("expat")
    depends_on("cmocka", when="+tests")

    conflicts("^openmpi@:3", msg="Open MPI 4 or newer is needed")
    conflicts("^mpich@:3", msg="MPICH 4 or newer is needed")
    conflicts("platform=darwin")

    def cmake_args(self):
        return [
            self.define_from_variant("LC_TESTS", "tests"),
            self.define("LC_WERROR", False),
            self.define("LC_MPI", "openmpi" if self.spec.satisfies("^[virtuals=mpi] openmpi") else "mpich"),
        ]
