# seen merge: the union, of what belongs together.
seq -f 'http://a.example/%.0f' 1000 >one
seq -f 'http://a.example/%.0f' 501 1500 >two
seq -f 'http://a.example/%.0f' 1501 9000 >many
b() { seen build --quiet -o "$@"; }
b 1 --capacity 2000 one; b 2 --capacity 2000 two; b both --capacity 2000 one two
session <<'END'
seen merge -o m 1 2 2>&1 | sed 's/about .*/.../'
seen check --count m -i one -i two
seen merge --quiet -o m 1 2 1; seen check --count m -i one -i two
seen merge --quiet -o 1 1; seen check --count 1 -i one
# The cells are those of a filter built from both lists.
cmp <(tail -c +4097 both) <(seen merge --quiet -o m 1 2; tail -c +4097 m) && echo equal

# Of every kind that can.
for k in bloom counting:8 layered:2 routed:4/blocked spatial:2/bloom growing/blocked dynamic:4/bloom; do b x --kind $k --capacity 2000 one; b y --kind $k --capacity 2000 two; echo $k; seen merge --quiet -o z x y && seen check --count --only new z -i one -i two; done
b x --kind counting:8 --rate 1e-6 --capacity 2000 one; seen merge --quiet -o z x x x; seen count z http://a.example/1
b x --kind fuse one; seen merge -o z x x
b x --kind counting:8,minimal --capacity 2000 one; seen merge -o z x x

# What does not belong together, by name.
b x --capacity 2000 --kind bloom one; seen merge -o z 1 x
b x --capacity 2000 --seed 1 one; seen merge -o z 1 x
b x --capacity 3000 one; seen merge -o z 1 x
b x --bits 19968 --probes 5 --capacity 1500 one; b y --bits 19968 --probes 4 --capacity 1500 two; seen merge -o z x y
seen merge -o z 1 nonesuch
seen merge -o z nonesuch 1
seen merge -o z 1 one
seen merge -o . 1 2
seen merge -o nonesuch/z 1 2
rm -f z; ls z

# Past the capacity.
b x --capacity 2000 --over many; seen merge -o z 1 x 2>&1 | sed 's/about .* URLs/about N URLs/; s/rate would be [0-9.e-]*/rate would be X/'
seen merge --over --quiet -o z 1 x; seen check --count z -i one -i many
END
