"""The Bloom filter of Orestes as the archives report used it, in Python.

m bits and h probes; probe i is (h1 + i h2) mod m, where h1 is Murmur3 (32
bits) of the UTF-8 text under seed 0 and h2 is that under seed h1. Written
from doc/format.md, sections 5 and 8, and the published MurmurHash3_x86_32.
"""
import base64
import json

M32 = (1 << 32) - 1


def rotate(x, r):
    return (x << r | x >> (32 - r)) & M32


def murmur3(text, seed):
    h, tail = seed, len(text) // 4 * 4
    for at in range(0, tail, 4):
        k = int.from_bytes(text[at:at + 4], "little")
        k = rotate(k * 0xcc9e2d51 & M32, 15) * 0x1b873593 & M32
        h = (rotate(h ^ k, 13) * 5 + 0xe6546b64) & M32
    k = int.from_bytes(text[tail:], "little")
    h ^= rotate(k * 0xcc9e2d51 & M32, 15) * 0x1b873593 & M32
    h ^= len(text)
    h = (h ^ h >> 16) * 0x85ebca6b & M32
    h = (h ^ h >> 13) * 0xc2b2ae35 & M32
    return h ^ h >> 16


class Filter:
    def __init__(self, m, h):
        self.m, self.h, self.bits = m, h, bytearray((m + 7) // 8)

    def probes(self, url):
        text = url.encode()
        h1 = murmur3(text, 0)
        h2 = murmur3(text, h1)
        return [(h1 + i * h2) % self.m for i in range(self.h)]

    def add(self, url):
        for i in self.probes(url):
            self.bits[i // 8] |= 1 << i % 8

    def has(self, url):
        return all(self.bits[i // 8] >> i % 8 & 1 for i in self.probes(url))

    def dumps(self):
        b = base64.b64encode(bytes(self.bits).rstrip(b"\0")).decode()
        return json.dumps({"m": self.m, "h": self.h, "b": b}, separators=(",", ":")) + "\n"


def loads(text):
    it = json.loads(text)
    f = Filter(it["m"], it["h"])
    bits = base64.b64decode(it["b"], validate=True)
    f.bits[:len(bits)] = bits
    return f
