# Few URLs of a large filter: only the blocks that they need are verified.
seq 1000 | sed 's,^,http://a.example/,' >urls
seen build --quiet --profile raw --kind blocked --capacity 2M -o f urls
cp f whole

# Invert the first byte of block $1 of a filter.
cells=$(od -An -tu8 -j96 -N8 f | tr -d ' ')
damage() {
    local at=$((cells + $1 * 65536)) byte
    byte=$(od -An -tu1 -j$at -N1 f | tr -d ' ')
    printf "\\x$(printf %x $((byte ^ 255)))" |
        dd of=f bs=1 seek=$at conv=notrunc status=none
}
damage 7

echo "== each URL gets the right answer, or none"
for i in $(seq 1 4 400); do
    seen check f http://a.example/$i 2>&1 || echo "[exit $?]"
done | sed 's,/[0-9]*$,/N,' | sort | uniq -c | awk '{ n += $1; $1 = ""; print } END { print n, "lines" }'

echo "== what verifies everything refuses it"
session <<'END'
seen check --verify f http://a.example/1
seen check --count f <urls
seen add --verify f http://b.example/
seen add --sync no f http://b.example/
seen add f -i urls
seen info f
END

echo "== info verifies what is small, and all that it is told to"
session <<'END'
seen build --quiet --capacity 16M -o large urls
seen info large | grep -e entries -e verified
printf x | dd of=large bs=1 seek=9000000 conv=notrunc status=none; seen info large | grep -e verified
seen info --verify large
seen build --quiet --capacity 16M -o large urls; seen info --verify --json large | grep -o '"verified": [a-z]*'; seen info --json large | grep -o '"verified": [a-z]*'
END
rm large

echo "== an add elsewhere leaves the damage as it is"
added=
for i in $(seq 100); do
    seen add f http://c.example/$i >/dev/null 2>&1 && added="$added $i"
done
[ $(echo $added | wc -w) -gt 80 ] && [ $(echo $added | wc -w) -lt 100 ] && echo most were added
seen info f 2>&1 || echo "[exit $?]"
damage 7
for i in $added; do echo http://c.example/$i; done >more
seen check --only new --count f -i urls -i more
seen add whole -i more >/dev/null
cmp f whole && echo as if it had never been damaged
