"""Which harnesses there are, and the inputs that are kept for them.

For tests/fuzz/lib/fuzz_kernel.c (its short name is "kernel"):
    tests/fuzz/seeds/kernel/*         written by hand, and every input that was a finding once
    tests/fuzz/corpus/kernel.pack     what fuzzing found to reach more code, made small by `make fuzz-corpus`
    tests/fixtures/**/NAME            for each NAME in the line "seeds: NAME..." of its first comment; each content once
A pack is: length in decimal, newline, that many bytes; again and again.
"""
import fnmatch
import hashlib
import os
import re

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(os.path.dirname(HERE))


def harnesses():
    """(short name, path below tests/ without its ending), in order."""
    found = []
    for folder in sorted(os.listdir(HERE)):
        path = os.path.join(HERE, folder)
        for name in sorted(os.listdir(path)) if os.path.isdir(path) else []:
            m = re.fullmatch(r"fuzz_([a-z0-9_]+)\.c", name)
            if m:
                found.append((m.group(1), "fuzz/%s/fuzz_%s" % (folder, m.group(1))))
    return found


def pack_of(name):
    return os.path.join(HERE, "corpus", name + ".pack")


def read_pack(path):
    inputs = []
    with open(path, "rb") as f:
        while True:
            line = f.readline()
            if not line:
                return inputs
            inputs.append(f.read(int(line)))


def write_pack(path, inputs):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as f:
        for data in inputs:
            f.write(b"%d\n" % len(data) + data)


def fixture_files(suite):
    with open(os.path.join(TOP, "tests", suite + ".c"), encoding="utf-8") as f:
        m = re.search(r"^ \* seeds:(.*)$", f.read(), re.M)
    patterns = m.group(1).split() if m else []
    seen, files = set(), []
    for base, folders, names in os.walk(os.path.join(TOP, "tests/fixtures")) if patterns else []:
        folders.sort()
        for name in sorted(names):
            path = os.path.join(base, name)
            if os.path.islink(path) or not any(fnmatch.fnmatchcase(name, p) for p in patterns):
                continue
            with open(path, "rb") as f:
                key = hashlib.sha1(f.read()).digest()
            if key not in seen:
                seen.add(key)
                files.append(path)
    return files


def kept_files(name, suite):
    """All of them, the pack last if there is one; relative to the top."""
    files = []
    for base, folders, names in os.walk(os.path.join(HERE, "seeds", name)):
        folders.sort()
        files += [os.path.join(base, n) for n in sorted(names)]
    files += fixture_files(suite)
    if os.path.exists(pack_of(name)):
        files.append(pack_of(name))
    return [os.path.relpath(f, TOP) for f in files]
