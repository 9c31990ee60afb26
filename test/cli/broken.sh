# A broken filter answers neither yes nor no.
seq -f 'http://a.example/%.0f' 20000 >urls
seen build --quiet -o f --capacity 20k urls
size=$(wc -c <f)
ask() { seen check "$1" http://a.example/1; }
# Copy f to g with one byte at $1 changed.
alter() { cp f g; printf "\\x$(printf %x $((0x$(od -An -tx1 -j "$1" -N1 f | tr -d ' ') ^ 1)))" | dd of=g bs=1 seek="$1" conv=notrunc status=none; }
session <<'END'
ask f
ask /dev/null
ask urls
ask nonesuch
ask .
ask ''
head -c 100 f >g; ask g
head -c 4096 f >g; ask g
head -c 20000 f >g; ask g
head -c -1 f >g; ask g
(cat f; echo) >g; ask g
seen info g
seen add g http://a.example/1
seen merge -o h f g; ls h
seen dedup --filter g urls
seen count g a

# Any byte between its two heads. Only that something is said, and 2 returned, is of interest.
for at in $(seq 128 1 199) $(seq 200 397 $((size - 129))) $((size - 129)); do alter $at; ask g >out 2>&1; [ $? = 2 ] && grep -q '^seen: g: ' out || { echo "byte $at:"; cat out; }; done

# One head is enough; both are not broken by one byte.
for at in $(seq 0 9 127) $(seq $((size - 128)) 9 $((size - 1))); do alter $at; ask g >out 2>&1 && grep -q '^seen' out || { echo "byte $at:"; cat out; }; done
alter 77; seen add g http://a.example/x; head -c 128 g | cmp - <(tail -c 128 g) && ask g
(head -c $((size - 1)) f; printf x) >g; printf x | dd of=g conv=notrunc status=none; ask g

# Of a later version.
test -d "$DATA" && for x in "$DATA"/broken/*.seen; do [ ! -e "$x" ] || { ask "$x" >out 2>&1; [ $? = 2 ] || echo "$x"; }; done; true
END
