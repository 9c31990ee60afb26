# seen dedup: each URL the first time only.
printf 'http://%s.example/\n' b a b c a d b >urls
seq -f 'http://a.example/%.0f' 100000 >many
session <<'END'
seen dedup urls
seen dedup <urls
seen dedup - <urls
seen dedup urls urls - <urls
seen dedup --count urls
seen dedup --json urls
seen dedup --count --json urls | sed 's/"lost": [^}]*/"lost": X/'
seen dedup --verbose urls 2>&1 | sed 's/about .* were/about X were/'
printf 'a\r\na\n\nb\na' | seen dedup --profile raw
printf 'http://a.example\nHTTP://A.example:80/#top\n' | seen dedup
printf 'a\nb\001\nc\n' | seen dedup --profile raw
printf 'a\nb\001\nc\n' | seen dedup --profile raw --strict
seen dedup </dev/null

# Many; the filter grows, and loses one in ten thousand at most.
seen dedup --capacity 100 many many | awk '!(/^http:\/\/a.example\/[0-9]+$/) { print "what is this? " $0 } { n++ } END { print (n > 99950 && n <= 100000) ? "well" : n " of 100000" }'
seen dedup many | cmp - <(seen dedup many many)
seen dedup --rate 1e-9 many many | cmp - many

# Across runs.
seen dedup --filter f urls
seen dedup --filter f urls
printf 'http://%s.example/\n' a e e | seen dedup --filter f
seen dedup --filter f --count many; seen dedup --filter f --count many
seen dedup --filter f --capacity 5 urls
seen dedup --filter g --capacity 5 --rate 1% urls && seen info g | grep -e kind -e capacity -e planned
ls

# What goes wrong.
seen dedup nonesuch
seen dedup urls nonesuch
seen dedup --count --rate 1e-9 .
seen dedup --filter . urls
seen dedup --filter nonesuch/f urls
seen dedup --filter urls urls
seen dedup --rate 0 urls
seen dedup --profile nonsense urls
seen dedup --keyed key urls

# What could not be printed is not remembered.
seen dedup --filter h urls >/dev/full
seen dedup --filter h urls

# A filter that does not grow gets full: more are printed than remembered.
seen build --quiet -o k --capacity 100 --rate 1e-6 --kind bloom urls
head -1000 many >some; seen dedup --filter k some 2>&1 >printed; wc -l <printed
seen dedup --filter k --count some 2>&1
END
