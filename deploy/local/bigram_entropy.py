#!/usr/bin/env python3
"""Entropy of a text's bytes given the byte before, in nats: what a table of byte pairs could reach at best.

    bigram_entropy.py FILE
"""
import collections
import math
import pathlib
import sys

if len(sys.argv) != 2:
    sys.exit("usage: bigram_entropy.py FILE")
text = pathlib.Path(sys.argv[1]).read_bytes()
if len(text) < 2:
    sys.exit(f"bigram_entropy.py: {sys.argv[1]}: {len(text)} bytes; needs at least 2")
pairs = collections.Counter(zip(text, text[1:]))
firsts = collections.Counter(text[:-1])
count = len(text) - 1
print(f"{-sum(n / count * math.log(n / firsts[pair[0]]) for pair, n in pairs.items()):.3f}")
