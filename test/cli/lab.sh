# seen lab runs the program beside it, lists experiments, and runs those named.
session <<'END'
seen lab --help
seen lab | grep '^  table-5.9 '
seen lab --json | grep '"table-5.9"'
seen lab --json | python3 -c 'import json, sys; print(all(e["title"] for e in json.load(sys.stdin)["experiments"]))'
own() { grep -o -e '^ *\(-., \)*--[a-z]* [A-Z]*' | sed 's/-., //; s/ //g'; }; diff <(seen lab --help | own) <(seen help lab | own) && echo the same options
seen lab table-5.9 --n 1k --runs=2 --seed 7 --threads 2 | grep -o -e '^Table.*' -e '^ *3  1.7 *8.7927'
seen lab table-5.9 table-5.9 --n 1k --runs 1 | grep -c 'thesis, table-5.9$'

# What is wrong is said.
seen lab table-59
seen lab nonsense
seen lab table-5.9 nonsense
seen lab --rnus 3
seen lab --wrong
seen lab --n
seen lab table-5.9 --n 0
seen lab table-5.9 --n 1x
seen lab table-5.9 --runs 9M
seen lab table-5.9 --quick=1
seen lab table-5.9 --quick --full
seen lab table-5.9 --urls nowhere
seen lab table-5.9 --urls ''
seen lab table-5.9 --n 1k --runs 1 --report nowhere/at/all
printf 'http://a/\n' >one; seen lab table-5.9 --urls one
seen lab table-5.9 --n 1k --runs 1 >/dev/full

# A list of one's own: what comes again is left out.
seq 2000 | sed 's|.*|http://a.example/page/&|' >list; head -50 list >>list; echo >>list
seen lab table-5.9 --urls list --runs 2 | grep -c -e ' agrees  *agrees$' -e ' agrees  *differs$'
END
mkdir alone
cp "$SEEN" alone/seen
session <<'END'
PATH=/usr/bin:/bin alone/seen lab
END
