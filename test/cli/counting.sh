# seen count and seen remove, on counters.
printf '%s\n' a b a c a >urls
seen build --quiet -o f --kind counting:8 --rate 1e-6 --capacity 100 urls
seen build --quiet -o g --kind routed:4/counting:8 --rate 1e-6 --capacity 100 urls
seen build --quiet -o m --kind counting:8,minimal --rate 1e-6 --capacity 100 urls
seen build --quiet -o plain urls
seen build --quiet -o p --kind counting:8 --rate 1e-6 --capacity 100 urls
seq 1000 | seen build --quiet -o t --kind counting:8 --rate 1e-6 --capacity 1000 -
# Run a command and complain if it wrote more than 1 MB, where Linux can tell.
written() { awk '/wchar/ { print $2 }' /proc/$$/io 2>/dev/null || echo 0; }
little() {
    local before=$(written) code=0 bytes
    "$@" || code=$?
    bytes=$(($(written) - before))
    [ $bytes -lt 1000000 ] || echo "$bytes bytes were written"
    return $code
}
session <<'END'
seen count f a b c
seen count f a d
seen count f -i urls
seen count --json f a d
seen remove f a d b
seen count f a b
seen remove f a a a
seen count f a
seen remove --json f c d
seen remove --count f b b c
seen remove --count --json f b
seen check f a b c
printf 'a\nx\ty\n' | seen count g
printf 'a\nx\ty\n' | seen count --strict g
seen remove g a && seen count g a
seen count m a b
seen remove m a
seen count plain a
seen remove plain a
seen count nonesuch a
seen remove nonesuch a
seen count f ''
seen count f </dev/null
seen remove f </dev/null

# Many at once, some of them absent.
seq 1000 >many; seen build --quiet -o n --kind counting:8 --rate 1e-6 many
seq 2 3 2000 >some; seen remove --count n -i some
seen count n -i many | cut -f 1 | sort | uniq -c
seen remove n -i many --count
seen info n | grep -e entries

# Absent URLs do not fill the journal, nor do those given more often than they
# were added.
seq 1000000 1020000 >absent; little seen remove --count --sync no n -i absent
sed p many >twice; little seen remove --count --sync no t -i twice
seen remove p a a b a a c b

# What cannot remove says so of absent URLs as well.
seen remove m nonesuch
seen remove plain nonesuch
END
