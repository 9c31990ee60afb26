# Every command that takes URLs reads every format, from files, folders and
# standard input. All of it is made up: six captures of five URLs.
while read -r path host time status type; do
    echo "hr,$host)$path $time http://www.$host.hr$path $type $status ABCDEFGHIJKLMNOPQRSTUVWXYZ234567 - - 812 7 a.warc.gz"
done >lines <<'END'
/ nsk 20190101000000 200 text/html
/ nsk 20200101000000 200 text/html
/a nsk 20200301000000 301 text/html
/b.png nsk 20210301000000 200 image/png
/ vijesti 20200601120000 200 text/html
/sport vijesti 20200602120000 404 text/html
END
mkdir in
awk '{ print $3 }' lines >urls
cp urls in/list
printf '\xef\xbb\xbf' | cat - urls >in/list-bom
sed 's/$/\r/' urls >in/list-crlf
{ echo ' CDX N b a m s k r M S V g'; cat lines; } >in/cdx
printf '\xef\xbb\xbf' | cat - in/cdx >in/cdx-bom
awk '{ print $1, $2, "{\"url\": \"" $3 "\", \"mime\": \"" $4 "\", \"status\": \"" $5 "\"}" }' lines >in/cdxj
gzip -nc in/cdx >in/cdx.gz
printf '\xef\xbb\xbf' | cat - urls | gzip -nc >in/list-bom.gz
split -l 2 --filter='gzip -nc' in/cdx >in/members.gz
zstd -qc in/cdxj >in/cdxj.zst
while read -r key time url type status rest; do
    printf 'WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: %s\r\nWARC-Date: %s-%s-%sT00:00:00Z\r\nContent-Length: 44\r\n\r\nHTTP/1.1 %s OK\r\nContent-Type: %-9.9s\r\n\r\n\r\n\r\n' \
        "$url" ${time:0:4} ${time:4:2} ${time:6:2} "$status" "$type"
done <lines >in/warc
split -b 226 --filter='gzip -nc' in/warc >in/warc.gz
arc() { # version, columns, then what stands between type and length
    local about="$1 0 Test"$'\n'"$2"$'\n'
    printf 'filedesc://a.arc 0.0.0.0 20080101000000 text/plain %s%s\n%s\n' "$3" ${#about} "$about"
    while read -r key time url type status rest; do
        printf '%s 192.0.2.1 %s %s %s39\nHTTP/1.1 %s OK\r\nServer: a\r\n\r\n' "$url" $time $type "${3/STATUS/$status}" $status
        printf 'body body\n'
    done <lines
}
arc 1 'URL IP-address Archive-date Content-type Archive-length' '' >in/arc
arc 2 'URL IP-address Archive-date Content-type Result-code Checksum Location Offset Filename Archive-length' 'STATUS - - 0 a.arc ' >in/arc2
awk 'NR > 1 && /^http:|^HTTP/ { if (/^http:/) n++ } { print >sprintf("part-%d", n) }' in/arc
for part in part-*; do gzip -nc $part; done >in/arc.gz
mkdir in/cluster parts
gzip -nc lines >in/cluster/cdx-0.gz
printf 'hr,nsk)/ 20190101000000\tcdx-0.gz\t0\t9\t1\n' >in/cluster/cluster.idx
mkdir in/located
cp in/cluster/cdx-0.gz parts/cdx-0.gz
printf 'hr,nsk)/ 20190101000000\tfirst\t0\t9\t1\n' >in/located/cluster.idx
printf 'first\t/nonesuch/cdx-0.gz\t../../parts/cdx-0.gz\nother\tx\n' >in/located/cluster.loc
/usr/bin/python3 - <<'END'
import zipfile
def wacz(name, members, method):
    with zipfile.ZipFile("in/" + name, "w") as z:
        z.writestr("datapackage.json", "{}", zipfile.ZIP_DEFLATED)
        for member, file in members:
            z.write("in/" + file, member, method)
stored, deflated = zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED
wacz("gz.wacz", [("archive/a.warc.gz", "warc.gz"), ("indexes/index.cdx.gz", "members.gz"),
                 ("indexes/index.idx", "cluster/cluster.idx")], stored)
wacz("plain.wacz", [("indexes/index.cdxj", "cdxj"), ("archive/a.warc.gz", "warc.gz")], stored)
wacz("deflated.wacz", [("indexes/index.cdxj", "cdxj")], deflated)
wacz("warc.wacz", [("archive/a.warc.gz", "warc.gz")], stored)
wacz("twice.wacz", [("indexes/index.cdx.gz", "cdx.gz"), ("archive/a.warc.gz", "warc.gz")], deflated)
wacz("twice-zstd.wacz", [("indexes/index.cdxj.zst", "cdxj.zst")], deflated)
END
each() { # NAME and how a command is given it
    local name=$1; shift
    rm -f f c
    seen build --quiet -o f --kind counting:8 --capacity 100 --rate 1e-6 urls
    seen build --quiet -o b --kind bloom --rate 1e-6 --capacity 100 "${@:-"-"}" 2>&1
    seen build --quiet -o c --kind bloom --rate 1e-6 --capacity 100 --allow-empty empty
    local as=(); for i; do as+=(-i "$i"); done
    echo "$name: build $(seen check --count --only seen b -i urls 2>&1)" \
        "add $(seen add --json c "${as[@]}" <pipe 2>&1 | grep -o '"new": [0-9]*')" \
        "check $(seen check f "${as[@]}" <pipe 2>&1 | sort | md5sum | cut -c 1-4)" \
        "count $(seen count f "${as[@]}" <pipe 2>&1 | sort | md5sum | cut -c 1-4)" \
        "dedup $(seen dedup "$@" <pipe 2>&1 | grep -vc '^ CDX')" \
        "key $(seen key --profile surt "${as[@]}" <pipe 2>&1 | grep . | sort | md5sum | cut -c 1-4)" \
        "remove $(seen remove f "${as[@]}" <pipe 2>&1 | cut -f 1 | uniq -c)"
}
: >empty
cp empty pipe
for input in $(cd in; ls); do each $input in/$input; done
for input in list-bom cdx cdxj.zst warc arc.gz gz.wacz; do
    cp in/$input pipe
    each "<$input" <pipe
    echo "|$input: $(cat in/$input | seen check b --count 2>&1 | tr '\n' ' ')$(cat in/$input | seen dedup 2>&1 | grep -vc '^ CDX') $(cat in/$input | seen key --profile surt 2>&1 | grep -c .)"
    cp empty pipe
done

# What is in a record does not matter: the first one is binary, or a page that
# the server packed; before it there are empty lines, or a byte order mark.
/usr/bin/python3 - <<'END'
import gzip, random
random.seed(1)
page = gzip.compress(bytes(random.choices(b"abcdefghijklmnopqrstuvwxyz ", k=60000)))
def warc(url, body):
    http = b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n" + body
    return (b"WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: %s\r\nWARC-Date: 2020-01-01T00:00:00Z\r\n"
            b"Content-Length: %d\r\n\r\n%s\r\n\r\n" % (url, len(http), http))
def arc(url, body):
    return b"%s 192.0.2.1 20200101000000 text/html %d\n%s\n" % (url, len(body), body)
about = b"1 0 Test\nURL IP-address Archive-date Content-type Archive-length\n\n"
head = b"filedesc://a.arc 0.0.0.0 20080101000000 text/plain %d\n%s\n" % (len(about), about)
urls = [line.strip().encode() for line in open("urls")]
info = b"WARC/1.1\r\nWARC-Type: warcinfo\r\nContent-Length: 9\r\n\r\na: b\r\n\r\n\0\r\n\r\n"
each = [warc(url, page if i < 2 else b"") for i, url in enumerate(urls)]
arcs = [arc(url, page if i < 2 else b"") for i, url in enumerate(urls)]
def write(name, *pieces, pack=lambda b: b):
    open("binary/" + name, "wb").write(b"".join(pack(one) for one in pieces))
import os
os.mkdir("binary")
write("warc", *each)
write("warc-empty-lines", b"\r\n\r\n", *each)
write("warc-bom", b"\xef\xbb\xbf", *each)
write("warc-info", info, *each)
write("warc.gz", info, *each, pack=gzip.compress)
write("warc-whole.gz", b"".join(each), pack=gzip.compress)
write("arc", head, *arcs)
write("arc-empty-line", b"\n", head, *arcs)
write("arc-bom", b"\xef\xbb\xbf", head, *arcs)
write("arc.gz", head, *arcs, pack=gzip.compress)
END
zstd -qc binary/warc >binary/warc.zst
for input in $(cd binary; ls); do each binary-$input binary/$input; done
cp binary/warc.gz pipe
each "<binary-warc.gz" <pipe
