#!/usr/bin/env python3
"""Holds the shape of the tree: include rules, top level, length of files, format.

    check_tree.py ROOT

Prints one line for each problem. Exit status: 0 without problems, 1 with some.
"""

import fnmatch
import pathlib
import re
import shutil
import subprocess
import sys

import include_rules

TOP_LEVEL = {
    "CMakeLists.txt", "proto", "server", "worker", "client", "kernels", "deploy", "tests", "README.md", "LICENSE",
    ".ci", ".cmake", ".clang-format", ".clang-tidy", ".editorconfig", ".gitignore",
}
SOURCES = {".h", ".cc", ".cu", ".cuh"}
TEXTS = SOURCES | {".proto", ".py", ".sh", ".cmake", ".txt", ".yaml", ".yml"}
MOST_LINES = 500
# Formats of other versions differ in small ways.
CLANG_FORMAT_VERSION = "14"


def ignored_patterns(root):
    path = root / ".gitignore"
    lines = path.read_text().splitlines() if path.exists() else []
    return [".git"] + [line.strip("/") for line in lines if line and not line.startswith("#")]


def list_tree(root):
    """Paths of all files, relative to `root`, without what .gitignore names."""
    patterns = ignored_patterns(root)
    files, folders = [], [root]
    while folders:
        for entry in sorted(folders.pop().iterdir()):
            if any(fnmatch.fnmatch(entry.name, pattern) for pattern in patterns):
                continue
            if entry.is_dir() and not entry.is_symlink():
                folders.append(entry)
            else:
                files.append(entry.relative_to(root).as_posix())
    return sorted(files)


def check_top_level(files):
    names = sorted({path.split("/")[0] for path in files})
    return [f"{name}: does not belong to the top level" for name in names if name not in TOP_LEVEL]


def check_length(path, text):
    lines = text.count("\n")
    return [f"{path}: {lines} lines; split it below {MOST_LINES}"] if lines > MOST_LINES else []


def check_includes(texts):
    includes = {path: include_rules.includes_of(text) for path, text in texts.items()}
    problems = []
    for path, names in includes.items():
        found = (include_rules.problem_with(path, name) for name in names)
        problems += [f"{path}: {problem}" for problem in found if problem]
    problems += [f"{path}: sees both a protobuf and a LibTorch header; pass plain structs between two files"
                 for path in include_rules.mixed_worlds(includes)]
    return problems


def check_format(root, paths):
    tool = shutil.which("clang-format")
    if tool is None or not paths:
        return []
    version = re.search(r"version (\d+)", subprocess.run([tool, "--version"], capture_output=True, text=True).stdout)
    if version is None or version.group(1) != CLANG_FORMAT_VERSION:
        return []
    run = subprocess.run([tool, "--dry-run", "-Werror", *paths], cwd=root, capture_output=True, text=True)
    bad = sorted(set(re.findall(r"^(\S+?):\d+:\d+: error", run.stderr, re.MULTILINE)))
    return [f"{path}: not as clang-format writes it; run clang-format -i" for path in bad]


def check_tree(root):
    root = pathlib.Path(root)
    files = list_tree(root)
    texts = {path: (root / path).read_text(errors="replace")
             for path in files if pathlib.PurePath(path).suffix in TEXTS}
    sources = {path: text for path, text in texts.items() if pathlib.PurePath(path).suffix in SOURCES}
    problems = check_top_level(files)
    for path, text in texts.items():
        problems += check_length(path, text)
    return problems + check_includes(sources) + check_format(root, list(sources))


if __name__ == "__main__":
    found = check_tree(sys.argv[1])
    print("\n".join(found) or "no problem found")
    sys.exit(1 if found else 0)
