# An empty or incomplete input does not replace a good filter.
seq -f 'http://a.example/%.0f' 1000 >urls
seen build --quiet -o good --capacity 5000 urls
cp good f
mkdir empty folder
: >nothing
kept() { local code=$?; cmp -s good f && echo "kept, $code" || { echo "replaced, $code"; cp good f; }; }
notime() { sed -E 's/ in [0-9.]+ s$/ in TIME/; s/, [0-9.]+ [kM]?B.*, [0-9.]+ bits per URL, rate .*/, SIZE/; s/, [0-9]+ bytes, .*/, SIZE/'; }
line() { printf 'hr,nsk)/%s 20200101000000 http://nsk.hr/%s text/html 200 K - - 1 2 g\n' "$1" "$1"; }
for i in $(seq 400); do line $i; done >index.cdx
record() { # URL, length that it says; the body is 20 bytes
    printf 'WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: %s\r\nContent-Length: %s\r\n\r\n01234567890123456789\r\n\r\n' "$1" "${2-20}"
}
# Copy file $1 to $2, with the byte at $3 changed.
spoil() { cp "$1" "$2"; printf '\252' | dd of="$2" bs=1 seek="$3" conv=notrunc status=none; }
cat >broken <<'EOF'
import socket, sys, os
a, b = socket.socketpair()
a.sendall(open(sys.argv[1], "rb").read())
b.sendall(b"unread")
a.close()
os.dup2(b.fileno(), 0)
os.execvp(sys.argv[2], sys.argv[2:])
EOF
cat >wacz <<'EOF'
import sys, zipfile
with zipfile.ZipFile("whole.wacz", "w", zipfile.ZIP_DEFLATED) as z:
    z.write("index.cdx", "indexes/a.cdx")
    z.write("urls", "indexes/b.txt")
with zipfile.ZipFile("one.wacz", "w", zipfile.ZIP_DEFLATED) as z:
    z.write("urls.gz", "indexes/a.gz")
b = bytearray(open("one.wacz", "rb").read())
b[300] ^= 1
open("one.wacz", "wb").write(b)
b = bytearray(open("whole.wacz", "rb").read())
at = b.rindex(b"PK\1\2")
for name, where, to in ("encrypted", at + 8, 1), ("method", at + 10, 99), ("moved", at + 42, 1), ("longer", at + 22, 9), ("entry", at, 0), ("data", b.rindex(b"PK\3\4") + 900, b[b.rindex(b"PK\3\4") + 900] ^ 1):
    c = b[:]; c[where] = to
    open(name + ".wacz", "wb").write(c)
EOF
session <<'END'
# Nothing in it.
seen build -o f empty; kept
seen build -o f --capacity 100 nothing empty; kept
seen build -o f --kind fuse nothing; kept
cat nothing | seen build --quiet -o f -; kept
seen build --quiet -o f --allow-empty empty && seen info f | grep entries; kept
printf '\001\n\002\n' >bad; seen build -o f bad; kept

# Nothing is left of it.
seen build -o f --from 2021 --status 200 index.cdx; kept
seen build -o f --capacity 1000 --mime image/png index.cdx; kept
seen build -o f --exclude urls urls; kept
seen build -o f --capacity 1000 --exclude urls urls; kept
seen build --quiet -o f --allow-empty --exclude urls urls; kept
seen build -o f --from 2021 nothing; kept
seen add f --from 2021 -i index.cdx | sed 's/; rate.*//'; kept

# Times that there are, and others.
for t in 20210631 20210229 19000229 20210100 2021-13 2021001 2021063024 202106302360 20210630235961; do seen build -o f --from $t index.cdx; done; kept
for t in 20200229 20000229 2021 202112 2021-12-31T23:59:60Z; do seen build --quiet -o f --to $t index.cdx && kept; done

# The lost tail of a packed file: its last line, cut, is not a URL.
gzip -nc index.cdx | head -c 1500 >cut.gz
gzip -dc cut.gz 2>/dev/null | grep -c '' >lines
for p in '' '--capacity 1000' '--threads 1' '--threads 4' '--kind growing/bloom'; do seen build -o f $p cut.gz; kept; done
cat cut.gz | seen build --quiet -o f -; kept
seen build -o f --partial cut.gz 2>&1 | notime
seen info f | tail -1; seen info --json f | grep -o '"partial": "[^"]*"'
[ $(seen check f -i cut.gz 2>/dev/null | wc -l) = $(($(cat lines) - 1)) ] || echo the cut line counts; kept
seen build --quiet --json -o f --partial --capacity 1000 cut.gz | grep -o '"lost": .'; kept
zstd -qc index.cdx | head -c 500 >cut.zst; seen build --quiet -o f index.cdx cut.zst; kept
seen add f -i cut.gz | sed 's/: .*//'; kept
seen check --count f -i cut.gz | head -1
seen dedup cut.gz | wc -l
seen add --json f -i cut.gz >answer; kept
seen key -i cut.gz >answer
seen build -o f --hosts folder index.cdx; kept

# A file that cannot be read; one that is something else is only left out.
cp index.cdx folder; ln -s nonesuch folder/lost
seen build -o f folder; kept
seen build -o f --partial folder 2>&1 | notime; kept
seen check --count f -i folder
rm folder/lost; printf '<html>' >folder/page.html; seen build -o f folder 2>&1 | notime; kept
printf 'BZh91AY&SY1234567890' >folder/a.bz2; seen build -o f folder; kept

# Links that lead back to a folder above them.
mkdir -p round/a/b; cp urls round/a/b; for l in 1 2 3; do ln -s .. round/a/up$l; ln -s . round/a/b/here$l; done
timeout 60 seen build --quiet -o f --capacity 5000 round; kept

# A connection that breaks: all lines before that count.
/usr/bin/python3 broken urls seen build --quiet -o f -; kept
/usr/bin/python3 broken urls seen check --count f -i -
gzip -nc urls >urls.gz; /usr/bin/python3 broken urls.gz seen build --quiet -o f -; kept

# ZipNum: a part that is missing, one that is shorter than the index says.
mkdir cluster; gzip -nc index.cdx >cluster/a.gz; gzip -nc urls >cluster/b.gz
for p in a b; do printf 'hr,nsk)/ 20190101000000\t%s.gz\t0\t%s\t1\n' $p $(stat -c %s cluster/$p.gz); done >cluster/cluster.idx
seen build --quiet -o f cluster && kept
mv cluster/b.gz .; seen build -o f cluster; kept
seen build -o f cluster/cluster.idx; kept
seen build -o f --partial cluster/cluster.idx 2>&1 | notime; kept
gzip -nc nothing >cluster/b.gz; seen build -o f cluster; kept
gzip -nc cluster/cluster.idx | seen build -o f -; kept

# WACZ: a member that is cut or cannot be read.
/usr/bin/python3 wacz; seen build --quiet -o f whole.wacz && kept
for w in encrypted method moved longer entry data one; do seen build -o f $w.wacz 2>&1 | grep -v " line "; kept; done

# WARC: what is damaged is passed over, up to the next record.
for i in $(seq 1 9); do record http://w.example/$i; done >whole.warc
{ record http://w.example/1; record http://w.example/2; printf 'not a record\r\nWARC/1.0\r\nWARC/ is no record either\r\n\r\n'; record http://w.example/3; record http://w.example/4 230; for i in 5 6 7 8; do record http://w.example/$i; done; } >junk.warc
seen build -o f junk.warc; kept
seen build -o f --partial junk.warc 2>&1 | notime; seen check f -i whole.warc; kept
{ record http://w.example/1 99999; record http://w.example/2; record http://w.example/3; } >long.warc
seen build -o f long.warc; seen check --count f -i long.warc; kept
head -c 320 whole.warc >cut.warc; seen build -o f cut.warc; kept
cat cut.warc | seen build --quiet -o f -; kept
for i in $(seq 1 9); do record http://w.example/$i | gzip -nc; done >whole.warc.gz
spoil whole.warc.gz spoilt.warc.gz 500
seen build -o f spoilt.warc.gz; kept
seen build --quiet -o f --partial spoilt.warc.gz; seen check --only new f -i whole.warc.gz; kept
head -c -30 whole.warc.gz >cut.warc.gz; seen build -o f --threads 3 cut.warc.gz; kept
cat spoilt.warc.gz | seen build --quiet -o f -; kept
for n in 20 45; do { record http://w.example/1; record http://w.example/2 | head -c $n; for i in 3 4 5; do record http://w.example/$i; done; } >short.warc; seen build -o f short.warc; seen build --quiet -o f --partial short.warc; seen check --count f -i short.warc; kept; done
{ for i in $(seq 300); do record http://w.example/$i; done; record http://w.example/2 | head -c 45; head -c 512 /dev/zero; record http://w.example/3 | tail -c +45; record http://w.example/4; } >hole.warc; seen build -o f hole.warc; kept
{ for i in 1 2 3; do record http://w.example/$i | gzip -nc; done; head -c 512 /dev/zero; for i in 6 7; do record http://w.example/$i | gzip -nc; done; } >hole.warc.gz
seen build -o f hole.warc.gz; seen build --quiet -o f --partial hole.warc.gz; seen check --only seen f http://w.example/{1..9}; kept
{ gzip -nc urls; head -c 512 /dev/zero; } >padded.gz; seen build --quiet -o f --capacity 5000 padded.gz; kept

# ARC: a hole.
arc() { printf 'http://arc.example/%s 192.0.2.1 20080101000000 text/html 9\nHTTP/1.1 \n' "$@"; }
{ printf 'filedesc://a.arc 0.0.0.0 20080101000000 text/plain 65\n1 0 Test\nURL IP-address Archive-date Content-type Archive-length\n\n'; arc $(seq 900); head -c 99 /dev/zero; arc 905 906 907; } >hole.arc
seen build -o f hole.arc; kept
seen build --quiet -o f --partial hole.arc; seen check --only seen f http://arc.example/{899..909}; kept

# A build that goes on knows what was lost before.
seq -f 'http://b.example/%.0f' 200000 >many
seen build --quiet -o g --capacity 1M --threads 1 --checkpoint 0.001 cut.gz many many; ls g*
seen build --quiet --resume -o g --capacity 1M cut.gz many many
seen build --quiet --resume --partial -o g --capacity 1M cut.gz many many; seen info g | tail -1
ls g*
END
