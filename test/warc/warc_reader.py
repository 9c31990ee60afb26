"""A reader of WARC files, written from the WARC 1.1 standard and RFC 1952.

    for record in records(open("a.warc.gz", "rb").read()):
        record.type, record.headers["WARC-Date"], record.block

It is strict: anything that the standard does not allow is an AssertionError.
"""
import base64
import hashlib
import re
import zlib

TYPES = {"warcinfo", "response", "resource", "request", "metadata", "revisit",
         "conversion", "continuation"}
DATE = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?Z")
ID = re.compile(r"<urn:uuid:[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}>")


class Record:
    def __init__(self, offset, length, data):
        self.offset, self.length = offset, length
        head, block = data.split(b"\r\n\r\n", 1)
        lines = head.decode("utf-8").split("\r\n")
        assert lines[0] == "WARC/1.1", lines[0]
        self.headers, self.concurrent = {}, []
        for line in lines[1:]:
            name, value = re.fullmatch(r"([A-Za-z-]+): (\S.*)", line).groups()
            if name == "WARC-Concurrent-To":
                self.concurrent.append(value)
                continue
            assert name not in self.headers, name
            self.headers[name] = value
        self.type = self.headers["WARC-Type"]
        assert self.type in TYPES
        n = int(self.headers["Content-Length"])
        self.block = block[:n]
        assert len(self.block) == n
        assert block[n:] == b"\r\n\r\n", block[n:]
        assert ID.fullmatch(self.headers["WARC-Record-ID"])
        assert DATE.fullmatch(self.headers["WARC-Date"])
        self.url = self.headers.get("WARC-Target-URI")
        assert (self.url is None) == (self.type == "warcinfo")
        assert self.url is None or not set(self.url) & set("<> \t")
        self.check_digests()

    def http(self):
        """The status line, the fields in lower case, and the body."""
        head, body = self.block.split(b"\r\n\r\n", 1)
        lines = head.decode("latin-1").split("\r\n")
        fields = {}
        for line in lines[1:]:
            name, value = line.split(":", 1)
            fields[name.lower()] = value.strip()
        return lines[0], fields, body

    def payload(self):
        _, fields, body = self.http()
        if fields.get("transfer-encoding") == "chunked":
            return unchunk(body, "WARC-Truncated" in self.headers)
        return body

    def check_digests(self):
        said = self.headers["WARC-Block-Digest"]
        assert said == sha1(self.block), (said, self.headers)
        if self.type == "response":
            assert self.headers["WARC-Payload-Digest"] == sha1(self.payload())


def sha1(data):
    return "sha1:" + base64.b32encode(hashlib.sha1(data).digest()).decode()


def unchunk(body, cut):
    out = b""
    while True:
        size, _, body = body.partition(b"\r\n")
        n = int(size.split(b";")[0], 16)
        if n == 0:
            assert body == b"\r\n"
            return out
        out += body[:n]
        if len(body) < n + 2:
            assert cut, "a chunk ends early, and nothing says so"
            return out
        assert body[n:n + 2] == b"\r\n"
        body = body[n + 2:]


def records(data):
    """One record per gzip member."""
    at = 0
    while at < len(data):
        assert data[at:at + 3] == b"\x1f\x8b\x08", at
        z = zlib.decompressobj(wbits=31)
        text = z.decompress(data[at:])
        assert z.eof, "the file ends inside a member"
        end = len(data) - len(z.unused_data)
        yield Record(at, end - at, text)
        at = end
