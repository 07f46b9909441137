#!/usr/bin/env python3
"""Strings of LibTorch and of this build have one binary interface (fault case B-02).

    abi_test.py SOURCE_FOLDER BUILD_FOLDER CXX
"""

import json
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

SOURCE, BUILD, CXX = (pathlib.Path(argument) for argument in sys.argv[1:4])


def write_old_libtorch(folder):
    """A LibTorch whose functions take strings of the older interface."""
    lib = folder / "torch" / "lib"
    lib.mkdir(parents=True)
    code = ("#include <cstdint>\n#include <string>\n"
            "namespace c10::detail {\n"
            "void torchCheckFail(const char*, const char*, uint32_t, const std::string&) {}\n}\n")
    (folder / "old.cc").write_text(code)
    for name in ("libc10.so", "libtorch_cpu.so"):
        subprocess.run([CXX, "-std=c++17", "-shared", "-fPIC", "-D_GLIBCXX_USE_CXX11_ABI=0",
                        "-o", lib / name, folder / "old.cc"], check=True)


def configure(folder, *options):
    return subprocess.run(
        ["cmake", "-S", SOURCE, "-B", pathlib.Path(folder) / "build", "-G", "Ninja", f"-DCMAKE_CXX_COMPILER={CXX}",
         *options], capture_output=True, text=True)


class AbiTest(unittest.TestCase):
    def assert_refused(self, run):
        words = " ".join(run.stderr.split())
        self.assertNotEqual(run.returncode, 0)
        self.assertIn("_GLIBCXX_USE_CXX11_ABI", words)
        self.assertIn("deploy/local/setup.sh", words)

    def test_refuses_a_libtorch_with_other_strings(self):
        with tempfile.TemporaryDirectory() as folder:
            write_old_libtorch(pathlib.Path(folder))
            self.assert_refused(configure(folder, f"-DAGOQ_LIBTORCH={folder}"))

    def test_refuses_a_build_with_other_strings_than_libtorch(self):
        with tempfile.TemporaryDirectory() as folder:
            self.assert_refused(configure(folder, "-DCMAKE_CXX_FLAGS=-D_GLIBCXX_USE_CXX11_ABI=0"))

    def test_compiles_every_file_for_one_language_level_and_one_interface(self):
        commands = [entry["command"] for entry in json.loads((BUILD / "compile_commands.json").read_text())]
        levels = {tuple(re.findall(r"-std=(\S+)", command)) for command in commands}
        interfaces = {tuple(re.findall(r"_GLIBCXX_USE_CXX11_ABI=(\d)", command)) for command in commands}
        self.assertEqual(levels, {("c++20",)})
        self.assertEqual(len(interfaces), 1, interfaces)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
