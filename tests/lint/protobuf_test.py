#!/usr/bin/env python3
"""No program has two copies of Protocol Buffers to mix up (fault case B-01).

    protobuf_test.py PROGRAM...

A program that loads LibTorch loads a second copy, LibTorch's own: of such a one every symbol of Protocol Buffers that it uses
itself must come from the system's library.
"""

import functools
import os
import pathlib
import re
import subprocess
import sys
import unittest

PROGRAMS = [pathlib.Path(argument) for argument in sys.argv[1:]]
BINDING = re.compile(r"binding file (\S+) \[\d+\] to (\S+) \[\d+\]: \S+ symbol `(_ZN?K?6google8protobuf\w*)'")


@functools.cache
def defines_protobuf(library):
    symbols = subprocess.run(["nm", "-D", "--defined-only", library], capture_output=True, text=True, check=True).stdout
    return "6google8protobuf8internal13VerifyVersion" in symbols


def loaded_libraries(program):
    lines = subprocess.run(["ldd", program], capture_output=True, text=True, check=True).stdout
    return re.findall(r"=> (/\S+)", lines)


def bindings(program):
    """(user, provider) of each symbol of Protocol Buffers, as the dynamic linker resolves them."""
    environment = dict(os.environ, LD_BIND_NOW="1", LD_DEBUG="bindings")
    run = subprocess.run([program, "--version"], capture_output=True, text=True, env=environment)
    if run.returncode != 0:
        raise AssertionError(f"{program} --version: {run.returncode}")
    return [(user, provider) for user, provider, _ in BINDING.findall(run.stderr)]


class ProtobufTest(unittest.TestCase):
    def test_one_library_unless_libtorch_is_loaded(self):
        for program in PROGRAMS:
            libraries = loaded_libraries(program)
            found = [name for name in libraries if defines_protobuf(name)]
            own = [name for name in found if "libtorch" not in name]
            with self.subTest(program=program.name):
                self.assertEqual(len(own), 1, own)
                if not any("libtorch" in name for name in libraries):
                    self.assertEqual(found, own)

    def test_symbols_come_from_the_systems_library(self):
        for program in PROGRAMS:
            with self.subTest(program=program.name):
                providers = [provider for user, provider in bindings(program) if user == str(program)]
                elsewhere = [name for name in providers if name != str(program) and "/libprotobuf.so" not in name]
                self.assertGreater(len(providers), 50)
                self.assertEqual(elsewhere, [])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
