"""A web server that does everything wrong, on loopback.

    /usr/bin/python3 test/fetch/hostile.py

prints two ports (the second with TLS) and the file of the authority that
signed for it, then serves until its standard input is closed. What it sends
is told by the path, byte by byte: see RAW, and the functions `on_...`.
"""
import asyncio
import gzip
import os
import ssl
import struct
import socket
import subprocess
import sys
import tempfile
import urllib.parse
import zlib

OK = b"HTTP/1.1 200 OK\r\n"
GZIP = b"Content-Encoding: gzip\r\n"
connections = 0
junk = 0
most_at_once = {}
at_once = {}


def packed(text):
    return gzip.compress(text, mtime=0)


def sized(body, *lines):
    head = b"".join(line + b"\r\n" for line in lines)
    return OK + head + b"Content-Length: %d\r\n\r\n" % len(body) + body


def lied(length, body=b"hello", status=b"200 OK"):
    return (b"HTTP/1.1 " + status + b"\r\nContent-Length: " + length +
            b"\r\n\r\n" + body)


def part(content_range, body=b"world", length=None):
    n = len(body) if length is None else length
    return (b"HTTP/1.1 206 Partial Content\r\nContent-Range: " +
            content_range + b"\r\nContent-Length: %d\r\n\r\n" % n + body)


def chunked(rest, *lines):
    head = b"".join(line + b"\r\n" for line in lines)
    return OK + head + b"Transfer-Encoding: chunked\r\n\r\n" + rest


TEXT = b"have we seen this URL?\n" * 100
RAW = {
    "/plain": sized(b"hello", b'ETag: "a"', b"Content-Type: Text/CSV; x=y",
                    b"Last-Modified: Sun, 15 Nov 2026 10:00:00 GMT"),
    "/empty": sized(b""),
    "/text": sized(TEXT),
    "/until-closed": OK + b"\r\nhello",
    "/chunked": chunked(b"5\r\nhello\r\n6\r\n world\r\n0\r\n\r\n"),
    "/lf-only": b"HTTP/1.1 200 OK\nContent-Length: 5\n\nhello",
    "/old": b"HTTP/1.0 200 OK\r\n\r\nhello",
    "/no-reason": b"HTTP/1.1 200\r\nContent-Length: 5\r\n\r\nhello",
    "/weak": sized(b"hello", b'ETag: W/"a"'),
    "/odd-texts": sized(b"hello", b"ETag: a\x1b[31mb", b"Content-Type: ",
                        b"Last-Modified: " + b"x" * 100),
    "/hints": b"HTTP/1.1 103 Early Hints\r\nETag: \"no\"\r\nLocation: /x"
              b"\r\nContent-Length: 7\r\n\r\n" + sized(b"hello"),
    "/trailer": chunked(b"5\r\nhello\r\n0\r\nContent-Length: 7\r\n"
                        b"Location: /x\r\n\r\n"),
    "/folded-first": OK + b" folded: x\r\n" + b"Content-Length: 5\r\n\r\nhello",
    "/folded": sized(b"hello", b"X-Long: a", b" Location: /x"),
    # gzip
    "/gzip": sized(packed(TEXT), GZIP[:-2]),
    "/x-gzip": sized(packed(TEXT), b"Content-Encoding: X-Gzip"),
    "/file.gz": sized(packed(TEXT)),
    "/members": sized(packed(TEXT[:100]) + packed(b"") + packed(TEXT[100:]),
                      GZIP[:-2]),
    "/nested": sized(packed(packed(TEXT)), GZIP[:-2]),
    "/gzip-nothing": sized(b"", GZIP[:-2]),
    "/gzip-cut": sized(packed(TEXT)[:-9], GZIP[:-2]),
    "/gzip-cut-trailer": sized(packed(TEXT)[:-1], GZIP[:-2]),
    "/gzip-cut-head": sized(packed(TEXT)[:2], GZIP[:-2]),
    "/gzip-crc": sized(packed(TEXT)[:-8] + b"\0" * 8, GZIP[:-2]),
    "/gzip-more": sized(packed(TEXT) + b"more", GZIP[:-2]),
    "/gzip-not": sized(TEXT, GZIP[:-2]),
    "/file-cut.gz": sized(packed(TEXT)[:-9]),
    "/two-bytes.gz": sized(b"\x1f\x8b"),
    "/br": sized(TEXT, b"Content-Encoding: br"),
    "/gzip-twice": sized(packed(packed(TEXT)), b"Content-Encoding: gzip, gzip"),
    "/gzip-two-lines": sized(packed(packed(TEXT)), GZIP + GZIP[:-2]),
    "/identity": sized(b"hello", b"Content-Encoding: identity"),
    "/te-gzip": OK + b"Transfer-Encoding: gzip\r\n\r\n" + packed(TEXT),
    "/te-both": OK + b"Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
    # lengths
    "/length-more": lied(b"100"),
    "/length-less": lied(b"3"),
    "/length-negative": lied(b"-5"),
    "/length-word": lied(b"five"),
    "/length-hex": lied(b"0x5"),
    "/length-list": lied(b"5, 5"),
    "/length-none": lied(b""),
    "/length-plus": lied(b"+5"),
    "/length-huge": lied(b"99999999999999999999999999"),
    "/length-2-64": lied(b"18446744073709551615"),
    "/length-twice": OK + b"Content-Length: 5\r\nContent-Length: 6\r\n\r\n"
                          b"hello!",
    "/length-same": OK + b"Content-Length: 5\r\nContent-Length: 5\r\n\r\nhello",
    "/length-and-chunks": OK + b"Content-Length: 3\r\nTransfer-Encoding: "
                               b"chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
    "/length-terabyte": lied(b"1099511627776"),
    # chunks
    "/chunk-word": chunked(b"zwei\r\nhello\r\n0\r\n\r\n"),
    "/chunk-negative": chunked(b"-5\r\nhello\r\n0\r\n\r\n"),
    "/chunk-huge": chunked(b"fffffffffffffffff\r\nhello\r\n0\r\n\r\n"),
    "/chunk-cut": chunked(b"5\r\nhel"),
    "/chunk-no-last": chunked(b"5\r\nhello\r\n"),
    "/chunk-no-line": chunked(b"5\r\nhelloworld\r\n0\r\n\r\n"),
    # no HTTP
    "/http-0.9": b"hello, this is all that I say",
    "/nothing": b"",
    "/half-line": b"HTTP/1",
    "/half-head": b"HTTP/1.1 200 OK\r\nContent-Le",
    "/http-2": b"HTTP/2 200\r\nContent-Length: 5\r\n\r\nhello",
    "/http-3": b"HTTP/3.0 200 OK\r\nContent-Length: 5\r\n\r\nhello",
    "/ssh": b"SSH-2.0-OpenSSH_9.2\r\n",
    "/icy": b"ICY 200 OK\r\n\r\nhello",
    "/status-word": b"HTTP/1.1 abc OK\r\n\r\nhello",
    "/status-99": b"HTTP/1.1 099 OK\r\n\r\nhello",
    "/status-600": b"HTTP/1.1 600 OK\r\n\r\nhello",
    "/status-2000": b"HTTP/1.1 2000 OK\r\n\r\nhello",
    "/switch": b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\nhello",
    "/nul": OK + b"ETag: a\0b\r\nContent-Length: 5\r\n\r\nhello",
    "/only-hints": b"HTTP/1.1 103 Early Hints\r\n\r\n",
    # parts
    "/part": part(b"bytes 5-9/10"),
    "/part-star": part(b"bytes 5-9/*"),
    "/part-inner": part(b"bytes 5-7/11", b"wor"),
    "/part-first": part(b"bytes 0-4/10"),
    "/part-wrong-from": part(b"bytes 4-8/10"),
    "/part-wrong-unit": part(b"lines 5-9/10"),
    "/part-total-small": part(b"bytes 5-9/4"),
    "/part-backwards": part(b"bytes 5-4/10"),
    "/part-unsatisfied": part(b"bytes */10"),
    "/part-words": part(b"bytes five-nine/ten"),
    "/part-huge": part(b"bytes 5-99999999999999999999/*"),
    "/part-length": part(b"bytes 5-9/10", b"wor"),
    "/part-closed": b"HTTP/1.1 206 P\r\nContent-Range: bytes 5-9/10\r\n\r\n"
                    b"wor",
    "/part-long": b"HTTP/1.1 206 P\r\nContent-Range: bytes 5-9/10\r\n\r\n"
                  b"worldly",
    "/part-none": lied(b"5", b"world", b"206 Partial Content"),
    "/part-two": part(b"bytes 5-9/10\r\nContent-Range: bytes 6-10/11"),
    "/part-several": b"HTTP/1.1 206 Partial Content\r\nContent-Type: "
                     b"multipart/byteranges; boundary=x\r\nContent-Length: 5"
                     b"\r\n\r\n--x--",
    "/416": b"HTTP/1.1 416 Range Not Satisfiable\r\nContent-Range: bytes "
            b"*/4\r\nContent-Length: 0\r\n\r\n",
    # other answers
    "/304": b"HTTP/1.1 304 Not Modified\r\nETag: \"a\"\r\n\r\n",
    "/404": b"HTTP/1.1 404 Not Found\r\nContent-Length: 4\r\n\r\nnone",
    "/204": b"HTTP/1.1 204 No Content\r\n\r\n",
    "/500-cut": b"HTTP/1.1 500 Oh\r\nContent-Length: 400\r\n\r\nnone",
    "/300": b"HTTP/1.1 300 Choices\r\nLocation: /plain\r\n"
            b"Content-Length: 0\r\n\r\n",
    "/no-location": b"HTTP/1.1 302 Found\r\nContent-Length: 0\r\n\r\n",
    # redirects
    "/circle": b"HTTP/1.1 302 F\r\nLocation: /circle\r\n"
               b"Content-Length: 0\r\n\r\n",
    "/circle-1": b"HTTP/1.1 302 F\r\nLocation: /circle-2\r\n\r\n",
    "/circle-2": b"HTTP/1.1 302 F\r\nLocation: /circle-1#x\r\n\r\n",
    "/long-location": b"HTTP/1.1 302 F\r\nLocation: /" + b"x" * 9000 +
                      b"\r\n\r\n",
    "/location-control": b"HTTP/1.1 302 F\r\nLocation: /a\x01b\r\n\r\n",
    "/sub/relative": b"HTTP/1.1 302 F\r\nLocation: ../plain\r\n\r\n",
    "/sub/query": b"HTTP/1.1 302 F\r\nLocation: ?x=y\r\n\r\n",
    "/sub/query?x=y": sized(b"query"),
    "/spaces": b"HTTP/1.1 302 F\r\nLocation: /a b\xc3\xa9#f\r\n\r\n",
    "/a%20b%c3%a9": sized(b"spaces"),
    "/cut-body": b"HTTP/1.1 302 F\r\nLocation: /plain\r\n"
                 b"Content-Length: 400\r\n\r\ncut",
    "/bad-chunks": b"HTTP/1.1 302 F\r\nLocation: /plain\r\n"
                   b"Transfer-Encoding: chunked\r\n\r\nzzz\r\n",
}
RAW.update({
    # for raw requests
    "/999": lied(b"5", status=b"999 Request denied"),
    "/many-lines": sized(b"hello", *[b"Set-Cookie: a=%d" % i
                                     for i in range(300)]),
    "/chunk-after": chunked(b"5\r\nhello\r\n0\r\n\r\n" + sized(b"evil")),
    "/chunk-trailer-after": chunked(b"5;x=y\r\nhello\r\n0\r\nA: b\r\n\r\n" +
                                    sized(b"evil")),
    "/chunk-sum": chunked(b"7fffffffffffffff\r\nhello"),
    "/chunk-lf": chunked(b"5\nhello\n0\n\n"),
    "/chunk-304": b"HTTP/1.1 304 N\r\nTransfer-Encoding: chunked\r\n\r\n",
    "/length-after": sized(b"hello") + sized(b"evil"),
    "/304-after": b"HTTP/1.1 304 N\r\nContent-Length: 5\r\n\r\n" +
                  sized(b"evil"),
    "/hints-after": b"HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n"
                    b"HTTP/1.1 100 Continue\r\n\r\n" + sized(b"hello"),
    "/304-length": b"HTTP/1.1 304 N\r\nContent-Length: 99\r\n"
                   b"ETag: \"a\"\r\n\r\n",
    "/cr-in-value": OK + b"X: a\rLocation: /x\r\nContent-Length: 5\r\n\r\n"
                    b"hello",
})
KEPT = {"/chunk-after", "/chunk-trailer-after", "/length-after", "/304-after",
        "/hints-after", "/chunk-304", "/304-length", "/999", "/plain", "/empty", "/text", "/404", "/304", "/204", "/chunked",
        "/300"}


def moved(status, to):
    return (f"HTTP/1.1 {status} Moved\r\nLocation: {to}\r\n"
            "Content-Length: 5\r\n\r\nmoved").encode("latin-1")


async def forever(writer, head, piece, pause=0.0):
    writer.write(head)
    while True:
        writer.write(piece)
        await writer.drain()
        if pause:
            await asyncio.sleep(pause)


def bomb(megabytes):
    """So many megabytes of zeros, in pieces, about a thousandth of them."""
    z = zlib.compressobj(9, zlib.DEFLATED, 31)
    zeros = bytes(1 << 20)
    for _ in range(megabytes):
        yield z.compress(zeros)
    yield z.flush()


async def send_bomb(writer, head):
    writer.write(head)
    for piece in bomb(1024):
        writer.write(piece)
        await writer.drain()


async def slowly(name, seconds, together):
    """How many of this name are asked for at once? Wait until so many were."""
    at_once[name] = at_once.get(name, 0) + 1
    most_at_once[name] = max(most_at_once.get(name, 0), at_once[name])
    for _ in range(2000):
        if most_at_once[name] >= together:
            break
        await asyncio.sleep(0.01)
    await asyncio.sleep(seconds)        # for one too many
    at_once[name] -= 1


async def reset(writer, head):
    writer.write(head)
    await writer.drain()
    await asyncio.sleep(0.05)
    writer.get_extra_info("socket").setsockopt(
        socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()


async def answer(path, request, writer):
    """Returns whether the connection is kept."""
    global junk
    redirect = b"HTTP/1.1 302 F\r\nLocation: /plain\r\n"
    first = path.split("/")[1].split("?")[0]
    if path in RAW:
        writer.write(RAW[path])
        return path in KEPT
    if first == "status":
        writer.write(moved(path.split("/")[2], "/plain"))
        return True
    if first == "chain":
        n = int(path.split("/")[2])
        writer.write(moved(302, f"/chain/{n - 1}") if n else RAW["/plain"])
        return True
    if first == "late":
        await asyncio.sleep(0.4)
        n = int(path.split("/")[2])
        writer.write(moved(302, f"/late/{n - 1}") if n else RAW["/plain"])
        return True
    if first == "go":
        writer.write(moved(302, urllib.parse.unquote(path.split("?", 1)[1],
                                                     "latin-1")))
        return True
    if first == "echo":
        writer.write(sized(request))
        return True
    if first == "junk":  # an answer that is sent before it is asked for
        writer.write(RAW["/plain"])
        await writer.drain()
        await asyncio.sleep(0.05)
        writer.write(sized(b"evil"))
        await writer.drain()
        junk += 1
        return True
    if first == "junk-sent":
        writer.write(sized(b"%d" % junk))
        return True
    if first == "connections":
        writer.write(sized(b"%d" % connections))
        return True
    if first == "slow":
        name, *together = path.split("/")[2:]
        await slowly(name, 0.05, int(together[0]) if together else 1)
        writer.write(RAW["/plain"])
        return True
    if first == "most":
        writer.write(sized(b"%d" % most_at_once.get(path.split("/")[2], 0)))
        return True
    if first == "big":
        n = int(path.split("/")[2])
        writer.write(OK + b"Content-Length: %d\r\n\r\n" % n)
        for at in range(0, n, 1 << 16):
            writer.write(b"b" * min(1 << 16, n - at))
            await writer.drain()
        return True
    if first == "endless-body":
        await forever(writer, OK + b"\r\n", b"a" * 65536)
    if first == "endless-chunks":
        await forever(writer, chunked(b""), b"1\r\nx\r\n" * 1000)
    if first == "endless-gzip-head":
        await forever(writer, OK + GZIP + b"\r\n\x1f\x8b\x08\x08" +
                      b"\0" * 6, b"x" * 65536)
    if first == "endless-members":
        await forever(writer, OK + GZIP + b"\r\n", packed(b"") * 1000)
    if first == "endless-head":
        await forever(writer, OK, b"X-Again: and again\r\n" * 100)
    if first == "endless-line":
        await forever(writer, OK + b"X-Long: ", b"x" * 65536)
    if first == "endless-status":
        await forever(writer, b"HTTP/1.1 200 ", b"x" * 65536)
    if first == "endless-hints":
        await forever(writer, b"", b"HTTP/1.1 103 Hint\r\n\r\n" * 10)
    if first == "endless-trailer":
        await forever(writer, chunked(b"5\r\nhello\r\n0\r\n"),
                      b"X-Again: and again\r\n" * 100)
    if first == "endless-redirect":
        await forever(writer, redirect + b"\r\n", b"x" * 65536)
    if first == "endless-redirect-chunks":
        await forever(writer, redirect + b"Transfer-Encoding: chunked\r\n\r\n",
                      b"1\r\nx\r\n" * 1000)
    if first == "endless-404":
        await forever(writer, b"HTTP/1.1 404 No\r\n\r\n", b"a" * 65536)
    if first == "drip-redirect":
        await forever(writer, redirect + b"Content-Length: 9999\r\n\r\n",
                      b"x" * 20, 0.1)
    if first == "bomb":
        await send_bomb(writer, OK + GZIP + b"\r\n")
    if first == "bomb.gz":
        await send_bomb(writer, OK + b"\r\n")
    if first == "bomb-redirect":
        await send_bomb(writer, redirect + GZIP + b"\r\n")
    if first == "bomb-chunks":
        await send_bomb(writer, OK + b"Transfer-Encoding: gzip\r\n\r\n")
    if first == "silent":
        await asyncio.sleep(60)
    if first == "drip-length":
        await forever(writer, OK + b"Content-Length: 999999\r\n\r\n", b"x" * 30,
                      0.1)
    if first == "drip-head":
        await forever(writer, OK, b"X: y\r\n", 0.3)
    if first == "drip-line":
        await forever(writer, OK + b"X: ", b"x", 0.1)
    if first == "drip-body":
        await forever(writer, OK + b"\r\n", b"x", 0.3)
    if first == "reset-head":
        await reset(writer, b"HTTP/1.1 200")
    if first == "reset-body":
        await reset(writer, lied(b"100"))
    if first == "reset-chunk":
        await reset(writer, chunked(b"5\r\nhello\r\n"))
    if not first:
        writer.write(sized(b"root"))
    return False


async def serve(reader, writer):
    global connections
    connections += 1
    try:
        kept = True
        while kept:
            request = await reader.readuntil(b"\r\n\r\n")
            path = request.split(b" ")[1].decode("latin-1")
            kept = await answer(path, request, writer)
            await writer.drain()
    except (asyncio.IncompleteReadError, ConnectionError, ssl.SSLError):
        pass
    finally:
        writer.close()


def make_authority(folder):
    crt, key = os.path.join(folder, "ca.pem"), os.path.join(folder, "key.pem")
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days",
         "2", "-subj", "/CN=hostile", "-addext",
         "subjectAltName=IP:127.0.0.1", "-keyout", key, "-out", crt],
        check=True, stderr=subprocess.DEVNULL)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(crt, key)
    return crt, context


async def main():
    with tempfile.TemporaryDirectory() as folder:
        crt, context = make_authority(folder)
        plain = await asyncio.start_server(serve, "127.0.0.1", 0)
        tls = await asyncio.start_server(serve, "127.0.0.1", 0, ssl=context)
        print(plain.sockets[0].getsockname()[1],
              tls.sockets[0].getsockname()[1], crt, flush=True)
        await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)


if __name__ == "__main__":
    asyncio.run(main())
