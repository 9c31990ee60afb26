"""A reader of seen's files, written from doc/format.md and nothing else.

    f = Filter(open("crawl.seen", "rb").read())
    f.has(b"http://a.example/")

It checks everything that section 4 asks for, but for the canonical order of
lines, which is left to the program. If a journal is given as well, its changes
are applied to the cells. New parts are not made: keys that the last part of a
`growing` filter gets are kept in a set beside it.
"""
import hashlib
import re
import struct

import xxhash

M64 = (1 << 64) - 1
C, G = 0xd1342543de82ef95, 0x9e3779b97f4a7c15


class Refused(Exception):
    pass


def check(good, reason):
    if not good:
        raise Refused(reason)


def up(x, a):
    return (x + a - 1) // a * a


def checksum(data):
    return xxhash.xxh3_64_intdigest(data)


# --- section 5: hashing ------------------------------------------------------

def mix(x):
    x &= M64
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9 & M64
    x = (x ^ x >> 27) * 0x94d049bb133111eb & M64
    return x ^ x >> 31


def reduce(x, m):
    return x * m >> 64


def walk(lo, hi, salt, k):
    """The 64 bits of the first k probes, before reduce()."""
    x = mix(lo ^ salt)
    y = mix(hi ^ x)
    for _ in range(k):
        yield x
        x = (x * C + y) & M64


def sip128(secret, text):
    """SipHash-2-4 with 128 bits of output, as two numbers."""
    def rotate(x, b):
        return (x << b | x >> (64 - b)) & M64

    def rounds(n):
        for _ in range(n):
            v[0] = v[0] + v[1] & M64; v[1] = rotate(v[1], 13) ^ v[0]; v[0] = rotate(v[0], 32)
            v[2] = v[2] + v[3] & M64; v[3] = rotate(v[3], 16) ^ v[2]
            v[0] = v[0] + v[3] & M64; v[3] = rotate(v[3], 21) ^ v[0]
            v[2] = v[2] + v[1] & M64; v[1] = rotate(v[1], 17) ^ v[2]; v[2] = rotate(v[2], 32)

    k0, k1 = struct.unpack("<2Q", secret)
    v = [k0 ^ 0x736f6d6570736575, k1 ^ 0x646f72616e646f6d ^ 0xee,
         k0 ^ 0x6c7967656e657261, k1 ^ 0x7465646279746573]
    whole = text + bytes(7 - len(text) % 8) + bytes([len(text) & 255])
    for (m,) in struct.iter_unpack("<Q", whole):
        v[3] ^= m; rounds(2); v[0] ^= m
    v[2] ^= 0xee; rounds(4)
    lo = v[0] ^ v[1] ^ v[2] ^ v[3]
    v[1] ^= 0xdd; rounds(4)
    return lo, v[0] ^ v[1] ^ v[2] ^ v[3]


M32 = 0xffffffff


def words(text, size):
    text += bytes(-len(text) % size)
    return struct.unpack("<%dI" % (len(text) // 4), text)


def jenkins(text, seed):
    """lookup2: the tail's bytes for c begin one higher."""
    a = b = 0x9e3779b9
    c = seed

    def stir(a, b, c):
        for i, j, k in ((13, 8, 13), (12, 16, 5), (3, 10, 15)):
            a = (a - b - c & M32) ^ c >> i
            b = (b - c - a & M32) ^ a << j & M32
            c = (c - a - b & M32) ^ b >> k
        return a, b, c

    cut = len(text) // 12 * 12
    for i in range(0, cut, 12):
        x, y, z = words(text[i:i + 12], 12)
        a, b, c = stir(a + x & M32, b + y & M32, c + z & M32)
    tail = text[cut:]
    x, y, z = words(tail[:8].ljust(8, b"\0") + b"\0" + tail[8:], 12)
    return stir(a + x & M32, b + y & M32, c + z + len(text) & M32)[2]


def murmur(text, seed):
    m, h = 0x5bd1e995, seed ^ len(text)
    cut = len(text) // 4 * 4
    for k in words(text[:cut], 4):
        k = k * m & M32
        h = h * m & M32 ^ (k ^ k >> 24) * m & M32
    for k in words(text[cut:], 4):
        h = (h ^ k) * m & M32
    h = (h ^ h >> 13) * m & M32
    return h ^ h >> 15


def murmur3(text, seed):
    def rotate(x, b):
        return (x << b | x >> (32 - b)) & M32

    def scramble(k):
        return rotate(k * 0xcc9e2d51 & M32, 15) * 0x1b873593 & M32

    h, cut = seed, len(text) // 4 * 4
    for k in words(text[:cut], 4):
        h = rotate(h ^ scramble(k), 13) * 5 + 0xe6546b64 & M32
    for k in words(text[cut:], 4):
        h ^= scramble(k)
    h ^= len(text)
    h = (h ^ h >> 16) * 0x85ebca6b & M32
    h = (h ^ h >> 13) * 0xc2b2ae35 & M32
    return h ^ h >> 16


# --- sections 1 to 4: the file -----------------------------------------------

MAGIC = b"\x89seen\r\n\x1a"
NAMES = ("kind profile keys capacity rate bits probes multiplier seed over tight "
         "hostile keyed segments shape at size").split()


class Node:
    """A leaf or a combinator: its fields, its parts, its cells."""

    def __init__(self, fields, parent=None):
        self.kind, self.parts, self.later = fields["kind"], [], set()
        for name in "capacity bits probes seed at size".split():
            setattr(self, name, int(fields.get(name, 0)))
        self.rate = float(fields.get("rate", 0))
        self.shape = [int(x) for x in fields.get("shape", "").split(",") if x]
        self.shape += [0] * (17 - len(self.shape))
        self.name, _, args = self.kind.split("/")[0].partition(":")
        self.args = args.split(",") if args else []
        check(self.name in KINDS, "kind " + self.kind)
        if parent:
            parent.parts.append(self)

    def sane(self):
        """Do the numbers of the plan fit the kind?"""
        check(("/" in self.kind) == bool(self.parts), "parts of " + self.kind)
        for part in self.parts:
            part.sane()
        if self.parts:
            most = int(self.args[0]) if self.name == "routed" else 0
            check(self.name != "routed" or len(self.parts) == most == 1 << most.bit_length() - 1,
                  "parts of routed")
            return
        check(self.size == up(self.bits, 512) // 8, "size")
        width, blocks = self.width(), self.shape[3:]
        if self.name in BITS or self.name == "counting":
            check(self.bits >= width and 1 <= self.probes <= 64, "bits and probes")
        if self.name == "counting":
            check(width in (4, 8, 16, 32), "counters")
        elif self.name == "layered":
            check(self.bits == sum(self.shape), "layers")
        elif self.name == "fuse":
            arity, (segment, segments, attempt) = int((self.args + ["", "3"])[1] or 3), self.shape[:3]
            check(self.bits == (segments + arity - 1) * segment * width and
                  segment == 1 << segment.bit_length() - 1 and segments > 0, "shape of a fuse")
        elif self.name == "ribbon":
            bits, low, attempt = self.shape[:3]
            layers = [b for b in blocks if b]
            words = sum(layers) * bits - low + sum(
                ((64 * b + 64) // 128 + 31) // 32 for b in layers[:-1])
            check(blocks == layers + [0] * (len(blocks) - len(layers)) and 1 <= bits <= 32 and
                  attempt < 256 and low < blocks[0] <= 1 << 42 and self.bits == 64 * words,
                  "shape of a ribbon")

    def bit(self, b):
        return self.cells[b // 8] >> b % 8 & 1

    def set_bit(self, b):
        self.cells[b // 8] |= 1 << b % 8

    def counter(self, i, value=None):
        """Counter i; with a value, set it."""
        w = self.width()
        at, shift, size = i * w // 8, i * w % 8, max(w // 8, 1)
        old = int.from_bytes(self.cells[at:at + size], "little")
        if value is not None:
            new = old ^ ((old >> shift & (1 << w) - 1) ^ value) << shift
            self.cells[at:at + size] = new.to_bytes(size, "little")
        return old >> shift & (1 << w) - 1

    def width(self):
        """Bits of a cell."""
        if self.name == "counting":
            return int(self.args[0]) if self.args else 4
        if self.name == "fuse":
            return int(self.args[0]) if self.args else 8 if self.rate >= 2 ** -8 else 16
        return 1

    def leaves(self):
        return sum((p.leaves() for p in self.parts), []) if self.parts else [self]


class Filter:
    def __init__(self, data, secret=None, journal=None):
        head = next((h for h in (data[:128], data[-128:]) if len(h) == 128 and h[:8] == MAGIC and
                     checksum(h[:120]) == struct.unpack_from("<Q", h, 120)[0]), data[:128])
        check(len(data) >= 128 and head[:8] == MAGIC, "magic")
        (fmt, hashing, state, block, identity, applied, self.offered, text_len, text_sum, leaves,
         blocks, table_at, table_sum, cells_at, cells_len, length,
         head_sum) = struct.unpack_from("<4I13Q", head, 8)
        check(fmt in (1, 2) and hashing == 1, "version")
        check(checksum(head[:120]) == head_sum and (fmt == 2 or head == data[:128]), "head_sum")
        check(length == len(data), "length")
        check(state <= (0 if journal is None else fmt), "changing or open")
        check(block == 65536 and text_len <= 1 << 24 and
              blocks == up(cells_len, block) // block and
              table_at == up(128 + text_len, 8) and
              cells_at == up(table_at + 8 * (leaves + blocks), 4096) and
              length == (cells_at + cells_len if fmt == 1 else
                         up(cells_at + cells_len, 4096) + 128), "head")
        text, table = data[128:128 + text_len], data[table_at:table_at + 8 * (leaves + blocks)]
        check(checksum(text) == text_sum, "text_sum")
        check(not any(data[128 + text_len:table_at]) and
              not any(data[table_at + len(table):cells_at]) and
              (fmt == 1 or not any(data[cells_at + cells_len:length - 128])), "gap")
        check(state == 1 or checksum(table) == table_sum and identity == checksum(
            struct.pack("<4Q", text_sum, table_sum, applied, self.offered)), "table")
        self.identity, self.applied = identity, applied
        self.set, offered = struct.unpack_from("<%dQ" % leaves, table), self.offered

        self.meta, root, stack = {}, {}, []
        for line in text.decode().splitlines():
            name, _, value = line.partition("=")
            check(name[:1] != "!", name)
            if name == "part":
                depth, *pairs = value.split(" ")
                stack = stack or [Node(root)]
                check(1 <= int(depth) <= len(stack), "depth of a part")
                stack = stack[:int(depth)]
                stack.append(Node(dict(p.split("=", 1) for p in pairs), stack[-1]))
            elif name in NAMES and (name != "keys" or not (stack or "size" in root)):
                root[name] = value
            else:
                self.meta[name] = value
        self.root = stack[0] if stack else Node(root)
        self.root.sane()
        self.profile, self.keyed = root["profile"], "keyed" in root
        check(re.fullmatch(r"raw|whatwg|surt(:host|:[1-9]\d?)?", self.profile), "profile")
        self.secret = secret
        if self.keyed and secret:
            value = sip128(secret, b"seen: the check value of a secret")[0] or 1
            check(value == int(root["keyed"], 16), "secret")

        end, all_leaves = 0, self.root.leaves()
        check(len(all_leaves) == leaves, "leaves")
        for leaf in all_leaves:
            check(leaf.at == up(end, 64), "at")
            end = leaf.at + leaf.size
            leaf.cells = bytearray(data[cells_at + leaf.at:cells_at + end])
        check(end == cells_len, "cells_len")
        for leaf, n in zip(all_leaves, self.set):
            check(state == 1 or n <= 8 * leaf.size // leaf.width(), "more set cells than cells")
        for i, (s,) in enumerate(struct.iter_unpack("<Q", table[8 * leaves:])):
            at = cells_at + i * block
            check(state == 1 or
                  checksum(data[at:min(at + block, cells_at + cells_len)]) == s, "block %d" % i)
        self.touched = None
        if journal is not None and not self.replay(journal, fmt, identity, applied):
            check(state == 0, "the journal of another file")
        if state == 1 and self.touched is not None and identity == checksum(
                struct.pack("<4Q", text_sum, table_sum, applied, offered)):
            for i, (s,) in enumerate(struct.iter_unpack("<Q", table[8 * leaves:])):
                at = cells_at + i * block
                check(i in self.touched or
                      checksum(data[at:min(at + block, cells_at + cells_len)]) == s, "block %d" % i)

    def replay(self, data, fmt, identity, applied):
        """Apply a journal; False if it belongs to another file."""
        size = 56 if fmt == 2 else 40
        check(len(data) >= size and data[:8] == b"\x89seenj\r\n", "not a journal")
        version, hashing, owner, base, head_sum = struct.unpack_from("<2I3Q", data, 8)
        check(head_sum == checksum(data[:32]) and hashing == 1, "head of the journal")
        if owner != identity:
            return False
        check(version in ((1,) if fmt == 1 else (2, 3)) and base <= applied, "journal")
        flushed = size
        if fmt == 2 and seeded(data[40:48], owner) == struct.unpack_from("<Q", data, 48)[0]:
            flushed, = struct.unpack_from("<Q", data, 40)
        at, last, undone, changes = size, base, set(), []
        while record := record_at(data, at, owner):
            change, length, first, count, _ = record
            if change == 3:
                undone.update(range(first, first + count))
            else:
                check(change & 255 in (1, 2) and first == last + 1, "order of the journal")
                last += count
                keys = journal_keys(data[at + 40:at + length - 8], count, change & 256)
                changes += [(first + i, change & 255, key) for i, key in enumerate(keys)]
            at += length
        check(at >= flushed, "damaged or cut journal")
        later = (record_at(data, i, owner) for i in range(at + 8, len(data), 8))
        check(all(r is None or r[4] <= at for r in later), "damaged journal")
        if version == 3:
            self.touched = {i for _, _, (lo, hi, text) in changes
                            for i in self.reach(self.root, text, lo, hi)}
        for number, change, (lo, hi, text) in changes:
            if number > applied and number not in undone:
                (self.add if change == 1 else self.remove)(self.root, text, lo, hi)
        return True

    def reach(self, n, text, lo, hi):
        """The blocks of the bits of a key."""
        if not n.parts:
            return {(n.at + b // 8) // 65536 for b in BITS[n.name](self, n, text, lo, hi)}
        parts = n.parts if n.name == "spatial" else [route(n, text, hi)]
        return set().union(*(self.reach(part, text, lo, hi) for part in parts))

    def add(self, n, text, lo, hi):
        if n.name in BITS:
            for b in BITS[n.name](self, n, text, lo, hi):
                n.set_bit(b)
        elif n.name == "counting":
            at, most = counters(n, lo, hi), (1 << n.width()) - 1
            least = min(map(n.counter, at))
            for i in at:
                value = n.counter(i)
                if value < most and (value == least or "minimal" not in n.args):
                    n.counter(i, value + 1)
        elif n.name in ("growing", "dynamic"):
            n.later.add((lo, hi))
        else:
            check(n.parts, "the journal adds to " + n.kind)
            for part in n.parts if n.name == "spatial" else [route(n, text, hi)]:
                self.add(part, text, lo, hi)

    def remove(self, n, text, lo, hi):
        if n.parts:
            check(n.name in ("spatial", "routed"), "the journal removes from " + n.kind)
            for part in n.parts if n.name == "spatial" else [route(n, text, hi)]:
                self.remove(part, text, lo, hi)
            return
        check(n.name == "counting" and "minimal" not in n.args, "the journal removes from " + n.kind)
        at, most = counters(n, lo, hi), (1 << n.width()) - 1
        if min(map(n.counter, at)):
            for i in at:
                if n.counter(i) < most:
                    n.counter(i, n.counter(i) - 1)

    def hash(self, text):
        if self.keyed:
            return sip128(self.secret, text)
        h = xxhash.xxh3_128_intdigest(text)
        return h & M64, h >> 64

    def has(self, text):
        return KINDS[self.root.name](self, self.root, text, *self.hash(text))

    def part_has(self, part, text, lo, hi):
        return KINDS[part.name](self, part, text, lo, hi)


# --- section 6: the journal --------------------------------------------------

def seeded(data, seed):
    return xxhash.xxh3_64_intdigest(data, seed)


def record_at(data, at, identity):
    """(change, length, first, count, flushed) of a complete record, or None."""
    if len(data) - at < 48 or data[at:at + 4] != b"rcrd":
        return None
    change, length, first, count, flushed = struct.unpack_from("<I4Q", data, at + 4)
    if length < 48 or length % 8 or length > min(1 << 30, len(data) - at):
        return None
    end = at + length - 8
    if seeded(data[at:end], identity) != struct.unpack_from("<Q", data, end)[0]:
        return None
    return change, length, first, count, flushed


def journal_keys(data, count, with_texts):
    at = 0
    for _ in range(count):
        lo, hi = struct.unpack_from("<2Q", data, at)
        text, at = None, at + 16
        if with_texts:
            length, = struct.unpack_from("<Q", data, at)
            text, at = data[at + 8:at + 8 + length], at + 8 + up(length, 8)
        yield lo, hi, text
    check(at == len(data), "keys of a record")


# --- section 10: the log of keys ---------------------------------------------

def logged(data, f):
    """The keys (lo, hi) in the log of a filter."""
    check(data[:8] == b"\x89seenk\r\n", "not a log of keys")
    version, hashing, head_sum = struct.unpack_from("<2IQ", data, 8)
    check(head_sum == checksum(data[:16]) and version == 1 and hashing == 1, "head of the log")
    for at in (4096, 8192):
        identity, applied, count, total, slot_sum = struct.unpack_from(
            "<5Q", data[at:at + 40].ljust(40, b"\0"))
        if (slot_sum == checksum(data[at:at + 32]) and
                (identity, applied) == (f.identity, f.applied)):
            break
    else:
        raise Refused("the log of another file")
    check(len(data) >= 12288 + 16 * count or not count, "cut log")
    keys = list(struct.iter_unpack("<2Q", data[12288:12288 + 16 * count]))
    check(sum(mix(lo ^ mix(hi)) for lo, hi in keys) & M64 == total, "damaged log")
    return keys


# --- section 5: the kinds ----------------------------------------------------
# Of kinds whose cells are bits: the bits that must be set for a key.

def bloom(f, n, text, lo, hi):
    hashes = n.args[0].split("+") if n.args and n.args[0] != "sip" else []
    if hashes == ["orestes"]:
        h1 = murmur3(text, 0)
        h2 = murmur3(text, h1)
        yield from ((h1 + j * h2) % n.bits for j in range(n.probes))
        return
    if not hashes:
        yield from (reduce(x, n.bits) for x in walk(lo, hi, mix(n.seed), n.probes))
        return
    for j in range(n.probes):
        name, salt = hashes[j % len(hashes)], mix(mix(n.seed) + j)
        if name in ("md5", "sha1"):
            digest = hashlib.new(name, struct.pack("<Q", salt) + text).digest()
            at = reduce(struct.unpack_from("<Q", digest)[0], n.bits)
        else:
            function = {"jenkins": jenkins, "murmur": murmur, "murmur3": murmur3}[name]
            at = function(text, salt & M32) * n.bits >> 32
        yield at


def blocked(f, n, text, lo, hi):
    x = (lo ^ mix(n.seed)) * C & M64
    line, b = reduce(x, n.bits // 512), ((hi ^ x) * C & M64) >> 13
    more = (b * C & M64) >> 16
    for step in range(min(n.probes, 8)):
        i = ((b >> 48) + step) % 8
        word, a, d = line * 512 + i * 64, b >> 6 * i & 63, (more >> 6 * i & 63) or 1
        yield word + a
        if step + 8 < n.probes:
            yield word + (a + d) % 64


def counters(n, lo, hi):
    return {reduce(x, n.bits // n.width()) for x in walk(lo, hi, mix(n.seed), n.probes)}


def fuse(f, n, text, lo, hi):
    bits = n.width()
    arity = int(n.args[1]) if len(n.args) > 1 else 3
    segment, segments, attempt = n.shape[:3]
    h = lo
    for a in range(attempt + 1):
        h = mix(h ^ mix(n.seed + a * G)) & ~255
    start, g = reduce(h, segment * segments), h * C & M64
    value = h >> 8 ^ h >> 40
    for i in range(arity):
        at = start + i * segment
        at ^= g >> (64 - 18 * i) & segment - 1 if i else 0
        value ^= int.from_bytes(n.cells[at * bits // 8:(at + 1) * bits // 8], "little")
    return n.capacity > 0 and value & (1 << bits) - 1 == 0


def solved(word, bits, low, attempt, blocks, seed, lo):
    last = len(blocks) - 1
    at, bumps = 0, sum(blocks) * bits - low
    for i, count in enumerate(blocks):
        lo = mix(lo ^ mix(seed + i * G))
        if i == last:
            lo = mix(lo ^ mix(seed + (i + 1 + attempt) * G))
        starts = 64 * count - 63
        start = reduce(lo, starts)
        bucket = start // 128
        if i == last or start % 128 >= (0, 16, 40, 128)[word(bumps + bucket // 32) >> bucket % 32 * 2 & 3]:
            break
        at += count * bits - (0 if i else low)
        bumps += ((starts + 127) // 128 + 31) // 32
    low = 0 if i else low
    c = mix(lo) | 1
    value = 0
    width = bits - (start // 64 < low)
    for j in range(width):
        for s in (start + k for k in range(64) if c >> k & 1):
            block = s // 64
            value ^= (word(at + block * bits - min(block, low) + j) >> s % 64 & 1) << j
    return value == lo & (1 << width) - 1


def ribbon(f, n, text, lo, hi):
    bits, low, attempt = n.shape[:3]
    word = lambda i: int.from_bytes(n.cells[8 * i:8 * i + 8], "little")
    return n.capacity > 0 and solved(word, bits, low, attempt, [b for b in n.shape[3:] if b], n.seed, lo)


def shards(f, n, text, lo, hi):
    bits, count, last = n.shape[:3]        # and keys per shard
    word = lambda i: int.from_bytes(n.cells[8 * i:8 * i + 8], "little")
    table = 8192 * (count - 1) + last
    x = mix(lo ^ mix(n.seed + 1023 * G))
    shard = max(i for i in range(count) if word(table + 2 * i) <= x)
    head = word(table + 2 * shard + 1)
    blocks = [b for b in (head & 16383, head >> 14 & 4095, head >> 26 & 255) if b]
    seed = n.seed + 1024 * (head >> 56) * G
    return n.capacity > 0 and solved(lambda w: word(8192 * shard + w), bits, head >> 34 & 16383, head >> 48 & 255,
                                     blocks, seed, x)


def split(text, most):
    end = text.find(b"?") % (len(text) + 1)
    at = text.find(b"://", 0, end)
    at = 0 if at < 0 or any(c in b":/" for c in text[:at]) else at + 3
    start = 0
    while most > 1:
        slash = text.find(b"/", at, end)
        if slash < 0:
            break
        yield text[start:slash]
        at = start = slash + 1
        most -= 1
    yield text[start:]


def layered(f, n, text, lo, hi):
    layers = int(n.args[0])
    tie, first = [0] * n.probes, 0
    for i, segment in enumerate(split(text, layers)):
        salt = mix(mix(n.seed) + (i + 1) * G) if "mixed" in n.args else mix(n.seed)
        for j, x in enumerate(walk(*f.hash(segment), salt, n.probes)):
            tie[j] ^= x
            yield first + reduce(x, n.shape[i])
        first += n.shape[i]
    first = sum(n.shape[:layers])
    yield from (first + reduce(x, n.shape[layers]) for x in tie)


def route(n, text, hi):
    b = int(n.args[0]).bit_length() - 1
    if "md5" in n.args:
        return n.parts[int.from_bytes(hashlib.md5(text).digest(), "big") >> 128 - b]
    return n.parts[hi >> 64 - b]


def any_of(f, n, text, lo, hi):
    return (lo, hi) in n.later or any(f.part_has(p, text, lo, hi) for p in n.parts)


def all_set(f, n, *a):
    return all(map(n.bit, BITS[n.name](f, n, *a)))


BITS = {"bloom": bloom, "blocked": blocked, "layered": layered}
KINDS = {
    **dict.fromkeys(BITS, all_set), "fuse": fuse, "ribbon": ribbon, "shards": shards,
    "growing": any_of, "dynamic": any_of,
    "routed": lambda f, n, text, lo, hi: f.part_has(route(n, text, hi), text, lo, hi),
    "counting": lambda f, n, text, lo, hi: min(map(n.counter, counters(n, lo, hi))) > 0,
    "spatial": lambda f, n, *a: all(f.part_has(p, *a) for p in n.parts),
}
