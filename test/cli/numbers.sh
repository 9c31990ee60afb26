# Numbers are read entirely, or not at all.
seq -f 'http://a.example/%.0f' 100 >urls
plan() {
    seen build --quiet -o f "$@" urls || return
    seen info --json f | grep -oE '"(capacity|bits|probes|seed)": [0-9]+' |
        paste -sd ' '
}
session <<'END'
plan --capacity 1000
plan --capacity 1k
plan --capacity 1M
plan --capacity 1000 --rate 0.1%
plan --capacity 1000 --rate 1e-3
plan --capacity 1000 --rate .001
plan --capacity 1000 --seed 18446744073709551615
plan --capacity 1000 --seed 0xc0ffee
plan --bits 64k
plan --bits 64k --rate 1%
plan --bits 64k --capacity 5000
plan --kind bloom --probes 3 --capacity 1000
plan --kind bloom --probes 3 --multiplier 2 --capacity 1000

# What is no number of URLs.
plan --capacity 0
plan --capacity -5
plan --capacity -0
plan --capacity ''
plan --capacity ' 5'
plan --capacity +5
plan --capacity 5x
plan --capacity 5kk
plan --capacity 5K
plan --capacity 1.5M
plan --capacity 1_000
plan --capacity 1e6
plan --capacity 0x10
plan --capacity nan
plan --capacity k
plan --capacity 18446744073709551616
plan --capacity 99999999999999999999999999
plan --capacity 18446744073709551615k
plan --capacity 18446744T

# What is no rate.
plan --rate 0
plan --rate 0.0
plan --rate 0%
plan --rate 1
plan --rate 100%
plan --rate 1.5
plan --rate -0.01
plan --rate nan
plan --rate inf
plan --rate 0x1p-7
plan --rate ' 0.01'
plan --rate 0.01x
plan --rate 0.01%%
plan --rate ''
plan --rate 1e-400
plan --rate 1e400

# What is no seed, factor, thread.
plan --seed -1
plan --seed 1.5
plan --seed 0x
plan --seed 0xfg
plan --seed 18446744073709551616
plan --multiplier 0
plan --multiplier -1
plan --multiplier nan
plan --multiplier 1e999
plan --multiplier 2x
plan --threads 0
plan --threads -1
plan --threads many
plan --probes 0
plan --probes 4294967296
END
