# seen warc check: plain files here; test/warc/ has the packed ones.
record() { # TYPE ID BLOCK [FIELD...]
    printf 'WARC/1.1\r\nWARC-Type: %s\r\nWARC-Record-ID: <urn:uuid:%s>\r\n' "$1" "$2"
    printf 'WARC-Date: 2026-01-02T03:04:05.678Z\r\nContent-Type: application/http\r\n'
    block=$3; shift 3
    printf '%s\r\n' "$@"
    printf 'Content-Length: %d\r\n\r\n%s\r\n\r\n' ${#block} "$block"
}
info() {
    printf 'WARC/1.1\r\nWARC-Type: warcinfo\r\nWARC-Record-ID: <urn:uuid:0>\r\n'
    printf 'WARC-Date: 2026\r\nContent-Length: 0\r\n\r\n\r\n\r\n'
}
http=$'HTTP/1.1 200 OK\r\n\r\nhello'
url='WARC-Target-URI: http://a.example/'
sum='WARC-Payload-Digest: sha1:VL2MMHO4YXUKFWV63YHTWSBM3GXKSQ2N'
{ info; record response 1 "$http" "$url" "$sum"; } >good.warc
{ info; record response 1 "$http!" "$url" "$sum"; } >changed.warc
{ info; record response 1 "$http" "$sum"; record response 1 "$http" "$url"; } >bad.warc
{ cat good.warc; printf 'noise\r\n'; record request 2 'GET /' "$url"; } >noise.warc
head -c -3 good.warc >torn.warc
{ info; record revisit 1 '' "$url" "$sum" 'WARC-Profile: http://x/identical-payload-digest'; } >revisit.warc
{ info | gzip -n; record response 1 "$http" "$url" "$sum" | gzip -n; } >good.warc.gz
gzip -nc good.warc >one.warc.gz
printf '(\265/\375 and so on' >zstd.warc.zst
at=$(info | wc -c)
line() { # KEY STAMP URL DIGEST OFFSET FILE
    printf '%s %s {"url": "%s", "mime": "text/html", "status": "200", "digest": "%s", "length": "%d", "offset": "%d", "filename": "%s"}\n' \
        "$1" "$2" "$3" "$4" $(($(wc -c <good.warc) - at)) "$5" "$6"
}
digest=VL2MMHO4YXUKFWV63YHTWSBM3GXKSQ2N
line 'example,a)/' 20260102030405 http://a.example/ $digest $at good.warc >index.cdxj
line 'example,b)/' 20250102030405 http://b.example/ AAAA $((at + 1)) good.warc >wrong.cdxj
line 'example,b)/' 20250102030405 http://b.example/ A${digest:1} $at good.warc >>wrong.cdxj
line 'example,a)/' 20260102030405 http://a.example/ $digest $at other.warc >>wrong.cdxj
session <<'END'
seen warc check good.warc
seen warc check --quiet good.warc good.warc.gz
seen warc check --json good.warc

# What is wrong with a file is said, with the byte where the record begins.
seen warc check changed.warc
seen warc check bad.warc
seen warc check noise.warc
seen warc check torn.warc
truncate -s 119 torn.warc && seen warc check torn.warc
seen warc check one.warc.gz
seen warc check --json torn.warc changed.warc

# Notes do not change the exit code, unless they should.
seen warc check revisit.warc
seen warc check --notes --quiet revisit.warc
seen warc check --strict --quiet revisit.warc

# The index.
seen warc check --index index.cdxj good.warc
seen warc check --index index.cdxj --json good.warc
seen warc check --index wrong.cdxj good.warc
seen warc check --index /dev/null --quiet good.warc

# Trouble.
seen warc check nonesuch good.warc
seen warc check --index nonesuch good.warc
seen warc check zstd.warc.zst
seen warc check .
seen warc
seen warc check
seen warc mend good.warc
END
