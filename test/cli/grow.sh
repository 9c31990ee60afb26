# A filter that nobody planned: seen add makes it, and it grows.
seq -f 'http://a.example/%.0f' 5000 >urls
norate() { sed -E 's/(rate now |rate of |"rate": |"entries": )[0-9.e-]+/\1X/g'; }
session <<'END'
seen add --capacity 1000 new.seen http://a.example/1 http://b.example/ 2>&1 | norate
seen add new.seen -i urls | norate
ls; stat -c %a new.seen.keys
seen check --count new.seen -i urls
seen info new.seen | grep -E 'kind|apacity|grows'
seen add --rate 0.1% new.seen http://c.example/
seen add --rate 1% --capacity 1000 new.seen http://a.example/1 | norate

# Very low rates are another kind.
seen add --rate 1e-6 low.seen http://a.example/ 2>&1 | norate
seen info low.seen | grep -E '^ *kind' | head -1

# Another kind, rate or capacity, without the URLs.
seen meta new.seen title=Grown
seen convert new.seen --kind ribbon --rate 0.1% -o small.seen 2>&1 | sed -E 's/[0-9.]+ kB/N kB/'
seen check --count small.seen -i urls
seen info small.seen | grep -E '^(kind|title)'
seen convert new.seen --capacity 9000 -o large.seen 2>&1 | sed -E 's/[0-9.]+ kB/N kB/'
seen check --count large.seen -i urls; seen info large.seen | grep '^capacity'
seen convert small.seen --rate 1% -o again.seen
seen convert new.seen --kind layered:3 -o again.seen
seen check --count new.seen -i urls; ls

# A copy answers, and says that it cannot grow.
cp new.seen copy.seen
seen check copy.seen http://a.example/77
seen add copy.seen http://d.example/ 2>&1 | norate
seq -f 'http://e.example/%.0f' 9000 | seen add copy.seen 2>&1 | sed -E 's/after [0-9,]+ of/after N of/' | norate

# The keys are never published, and a log that would be is reported.
mkdir site; cp new.seen new.seen.keys site
seen publish site --url https://a.example/ 2>&1 | grep keys
grep -rl new.seen.keys site; grep -rc new.seen site/sitemap.xml

# A union that replaces the file has no log.
cp new.seen other.seen; cp site/new.seen* .
seen merge -o new.seen new.seen other.seen 2>&1 | grep union; ls new.seen*
seen meta new.seen; seen add new.seen http://a.example/1 | norate
cp site/new.seen* .

# The keys can be removed.
seen meta --forget-keys new.seen
ls
seen check --count new.seen -i urls
seen meta --forget-keys new.seen
seen meta --forget-keys new.seen title

# Keyed: with the key of the one who adds.
echo 0123456789abcdef0123456789abcdef >key; chmod 600 key
seen add --keyed key keyed.seen -i urls 2>&1 | norate
seen check --keyed key --count keyed.seen -i urls
seen convert keyed.seen --kind ribbon -o ribbon.seen
seen convert --keyed key keyed.seen --kind ribbon --quiet -o ribbon.seen
seen check --keyed key --count ribbon.seen -i urls
echo 1123456789abcdef0123456789abcdef >other; chmod 600 other
seen convert --keyed other keyed.seen --rate 0.1 -o ribbon.seen
END
