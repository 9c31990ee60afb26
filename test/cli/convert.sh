# seen convert: another form of the same filter.
seq -f 'http://a.example/%.0f' 1000 >one
seen build --quiet -o a.seen --meta 'title=Example, "one"' one
seen build --quiet -o c.seen --kind routed:4/counting --capacity 1500 one
seen build --quiet -o g.seen --kind growing/blocked --capacity 1500 one
seen build --quiet -o o.seen --kind bloom:orestes --profile raw --capacity 20 --bits 200 one --over
session <<'END'
# There and back: the same file, byte for byte.
seen convert a.seen -o a.csv
cut -c 1-60 a.csv | sed '2s/:.*/:.../'
test "$(sed -n 2p a.csv)" = "checksum,sha-256:$(sed 2d a.csv | sha256sum | cut -d ' ' -f 1)" && echo verified
seen convert a.csv -o b.seen && cmp a.seen b.seen && echo equal
seen convert --json a.csv -o b.seen
seen convert --quiet a.seen --to text -o - | cmp - a.csv && echo equal
seen convert --quiet --to text a.seen -o a.txt && cmp a.txt a.csv && echo equal
seen convert a.seen -o - --to text 2>&1 >/dev/full
seen convert a.seen -o - --to text --quiet | head -n 1
seen add a.seen http://b.example/ 2>/dev/null; seen convert --quiet a.seen -o a.csv; sed -n 4p a.csv; seen convert --quiet a.csv -o b.seen; cmp a.seen b.seen && echo equal

# By a pipe, any form; what was copied for that is gone again.
export TMPDIR=$PWD/temporary; mkdir temporary
gzip -c a.csv | zcat | seen convert - -o b.seen; cmp a.seen b.seen && echo equal
seen convert --quiet <(cat a.csv) -o b.seen && cmp a.seen b.seen && echo equal
cat a.csv | seen convert --quiet /dev/stdin -o b.seen && cmp a.seen b.seen && echo equal
seen convert --quiet - -o - --to text <a.seen | cmp - a.csv && echo equal
head -c 700 a.csv | seen convert - -o b.seen
echo nothing | seen convert - -o b.seen
seen convert - -o b.seen </dev/null
TMPDIR=/nonesuch seen convert - -o b.seen <a.csv
ls temporary; rmdir temporary

# Orestes.
seen convert o.seen -o o.json; cut -c 1-30 o.json
seen convert o.json -o p.seen; seen check --count --profile raw p.seen -i one
seen convert p.seen -o p.json && cmp o.json p.json && echo equal
seen convert a.seen -o a.json
ls a.json

# Another kind with the same answers.
seen convert c.seen --kind routed:4/bloom -o r.seen; seen info r.seen | grep '^kind'; seen check --count r.seen -i one
seen convert g.seen --kind blocked -o x.csv; grep '^kind' x.csv
seen convert a.seen --kind bloom -o x.seen
seen convert c.seen --kind routed:8/counting -o x.seen
seen convert a.seen --kind blom -o x.seen
ls x.seen

# A second generation of a filter that is full.
seen build --quiet -o f.seen --kind routed:4/blocked --capacity 1000 one
seq -f 'http://b.example/%.0f' 5000 >two
seen add f.seen -i two
seen convert f.seen --kind routed:4/growing/blocked -o n.seen
seen add n.seen -i two >/dev/null 2>&1; seen check --count n.seen -i one -i two
seen info n.seen | grep -e ^kind -e ^capacity -e ^planned
seen convert f.seen --kind growing/routed:4/blocked -o n.csv --quiet && seen convert n.csv --quiet -o n.seen && seen add n.seen -i two >/dev/null 2>&1; seen check --count n.seen -i one -i two
seen convert f.seen --kind routed:8/growing/blocked -o x.seen
seen convert f.seen --kind spatial:2/blocked -o x.seen
seen build --quiet -o f.seen --kind fuse one; seen convert f.seen --kind growing/fuse -o x.seen

# What cannot be.
seen convert
seen convert a.seen
seen convert a.seen -o a.seen
ln -s a.seen l.seen; seen convert a.seen --to text -o l.seen
seen convert a.seen -o b
seen convert a.seen -o b --to csv
seen convert a.seen -o -
seen convert a.seen -o - --to text --json
seen convert one -o x.seen
seen convert nonesuch -o x.seen
seen convert . -o x.seen
seen convert a.seen -o nonesuch/x.csv
seen convert a.seen -o /dev/null --to text

# What was changed, with its line; and what was there stays.
cp a.seen keep.seen
sed 's/^rate,0.01/rate,0.02/' a.csv >bad.csv; seen convert bad.csv -o keep.seen
sed 's/^rate,0.01/rate,.01/' a.csv >bad.csv; seen convert bad.csv -o keep.seen
sed '$d' a.csv >bad.csv; seen convert bad.csv -o keep.seen
head -c 1000 a.csv >bad.csv; seen convert bad.csv -o keep.seen
sed 's/^192,/193,/' a.csv >bad.csv; seen convert bad.csv -o keep.seen
sed 's/^cells,.*/cells,99999999999/' a.csv >bad.csv; seen convert bad.csv -o keep.seen
sed 's/^seen,1/seen,9/' a.csv >bad.csv; seen convert bad.csv -o keep.seen
sed 's/$/\r/' a.csv >crlf.csv; seen convert --quiet crlf.csv -o b.seen && cmp a.seen b.seen && echo equal
echo '{"m":100,"h":3,"b":"AAAA' >bad.json; seen convert bad.json -o keep.seen
echo '{"m":8000000000,"h":3,"b":"AAAA"}' >bad.json; seen convert bad.json -o keep.seen
echo '{"title":"x"}' >bad.json; seen convert bad.json -o keep.seen
cmp a.seen keep.seen && ls
END
