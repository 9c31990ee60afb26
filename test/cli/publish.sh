# publish.sh - seen publish, as a person sees it.
seq 1000 | sed 's|^|http://a.example/|' >urls
mkdir -p site/sub
seen build --quiet -o site/haw.seen --capacity 20k --meta title=HAW urls
seen build --quiet -o site/sub/old.seen --kind fuse urls
session <<'END'
# Nothing is known before the first time.
seen publish site
seen publish
seen publish nowhere --url http://a.example/
seen publish site --url ftp://a.example/
seen publish site --url https:///x
seen publish site --url 'https://a.example/x?y'
seen publish site --url 'https://me:secret@a.example/'
seen publish site --url 'https://a.example/x y'

# Told, not done.
seen publish site --url https://a.example/filters --dry-run
ls -A site

# Done; the slash is added.
seen publish site --url https://a.example/filters --deltas 2
ls -A site site/.well-known

# Again: nothing is new, URL and number of deltas are remembered.
seen publish site

# At the root of a host, nobody need be told about .well-known.
seen publish site --url https://a.example/ | tail -2

# More, with a delta; for programs.
seq 1001 1100 | sed 's|^|http://a.example/|' | seen add site/haw.seen -i - 2>&1
seen publish site --json | grep -o '"what": "[a-z]*"\|"changed": [0-9]*\|"deltas": [0-9]*'

# One that holds nothing is announced only on request.
mv site/haw.seen kept.seen
head -1 urls | seen build --quiet -o site/haw.seen --kind counting --capacity 20k -
seen remove site/haw.seen http://a.example/1 2>/dev/null
seen publish site
seen publish site --allow-empty
seen publish site --quiet
mv kept.seen site/haw.seen
seen publish site --quiet

# One goes, one is broken, one has a name that cannot be a URL's.
rm site/sub/old.seen
head -c 20000 site/haw.seen >site/cut.seen
cp site/haw.seen site/$'a\001b.seen'
seen publish site --quiet 2>&1 | cat -v
seen publish site --quiet 2>/dev/null
grep -c '<loc>' site/sitemap.xml
grep -A 1 'old.seen' site/changelist.xml | grep -o 'change="[a-z]*"'

# Metadata of the archive: misspelt, of the wrong type, no JSON.
rm site/cut.seen site/$'a\001b.seen'
echo '{"titel": "x", "rights": "CC0-1.0"}' >site/archive.json
seen publish site >/dev/null
seen publish site --quiet
grep -c '<dc:rights>CC0-1.0<' site/sitemap.xml
echo '{"files": {"haw.seen": {"title": 5}}}' >site/archive.json
seen publish site
printf '{\n "title": "x",\n}' >site/archive.json
seen publish site
rm site/archive.json

# A sitemap of someone else is not replaced.
mkdir other; echo '<urlset/>' >other/sitemap.xml
seen publish other --url http://a.example/
cat other/sitemap.xml

# A registry: places of a list, and the folder itself.
printf '# Adriatic\nhttps://B.example:443/f/  # Slovenia & <more>\nhttp://a.example/own.txt\nnot a URL\n' >list
seen publish site --registry list
seen publish site --registry list 2>&1 | tail -1
cat site/registry.txt
grep -c '<a href="https://b.example/f/">' site/registry.html
grep -o 'Slovenia.*<' site/registry.html
seen publish site list
seen publish site --registry --deltas 3
seen publish site --registry missing; grep -c b.example site/registry.txt
echo https://c.example/ >other/registry.txt
seen publish other --registry list 2>&1 | tail -1; ls other
seen publish site --registry --json; rm site/registry.*

# No more deltas.
seen publish site --deltas 0 --quiet
ls -A site
END
