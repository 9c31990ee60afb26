# What holds no URLs is recognised and refused, not read as a list.
seq -f 'http://a.example/%.0f' 1000 >urls
seen build --quiet -o f --capacity 2000 urls
mkdir in; cd in
printf '<!DOCTYPE html>\n<html><body>http://a.example/</body></html>\n' >page.html
printf '\n  <html lang="hr">\n' >page2.html
printf '\xef\xbb\xbf<?xml version="1.0"?>\n<urlset/>\n' >sitemap.xml
printf '\x7fELF\2\1\1\0\0\0\0\0' >program
printf '%%PDF-1.4\n%%\xe2\xe3\n' >paper.pdf
printf '\x89PNG\r\n\x1a\n\0\0\0\rIHDR' >image.png
printf '\xff\xd8\xff\xe0\0\x10JFIF' >image.jpg
printf 'GIF89a' >image.gif
printf 'BZh91AY&SY1234567890' >list.bz2
printf '\xfd7zXZ\0\0' >list.xz
printf 'PAR1\x15\0' >index.parquet
printf '\xff\xfeh\0t\0' >utf16.txt
head -c 3000 /dev/zero >zeros
cp "$(command -v seen)" seen-itself
gzip -nc page.html >page.gz
tar -cf list.tar ../urls 2>/dev/null
/usr/bin/python3 -c 'import random; random.seed(1); open("random", "wb").write(random.randbytes(5000))'
/usr/bin/python3 - <<'END'
import zipfile
def make(name, members):
    with zipfile.ZipFile(name, "w") as z:
        for member, text in members:
            z.writestr(member, text)
make("other.zip", [("a.txt", "http://a.example/\n"), ("b/c.txt", "x")])
make("index.wacz", [("indexes/index.cdx.gz", b"\x89PNG\r\n\x1a\n"), ("archive/a.warc", "WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: http://a.example/1\r\nContent-Length: 0\r\n\r\n\r\n\r\n")])
make("damaged", [("indexes/index.cdxj", "a)/ 20200101000000 {}\n" * 100)])
with open("damaged", "rb") as f: whole = f.read()
open("cut.wacz", "wb").write(whole[:1000])
END
rm damaged
cd ..
session <<'END'
for file in in/*; do seen check --count f -i $file 2>&1; done
seen build -o g in/page.html
seen add f -i in/image.png
cat in/page.html | seen dedup
seen count f -i in/paper.pdf
seen remove f -i in/program
seen key <in/seen-itself
cat in/other.zip | seen check f

# Below a folder it is left out, and the rest is read; not with --strict.
mkdir some; cp in/page.html urls some
seen check --count f -i some
seen check --count --strict f -i some

# But what is not recognised may be an archive's, unless its name says what it is.
mkdir lost; cp urls lost; for name in a.PNG b.warc.seen.journal c.db-wal d.mp4.gz; do cp in/random lost/$name; done
seen check --count f -i lost
seen build --quiet -o g lost 2>/dev/null
for name in e.warc.gz f g.txt h.gz; do cp in/random lost/$name; done; rm lost/[ac].*
seen check --count f -i lost
seen build --quiet -o h lost 2>&1 | tail -1; ls | grep h
seen build --quiet --partial -o h lost 2>/dev/null; seen info h | tail -1
seen add f -i lost 2>/dev/null
seen dedup --count lost 2>/dev/null
seen key -i lost 2>&1 >answer | tail -1

# What only looks odd is a list.
printf '<http://a.example/1>\n' | seen check f
printf '%s\n' a.example 'x y' '%PDF' 'PK' '{"url": 1}' | seen key --profile raw
printf 'http://a.example/\xe9\n' | seen key --profile raw | od -c | head -2
END
