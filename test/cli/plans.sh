# Plans that cannot be are refused by name, before anything is read, and
# nothing is written.
seq -f 'http://a.example/%.0f' 100 >urls
b() { seen build --quiet -o f "$@" urls; }
session <<'END'
b --kind nonsense
b --kind ''
b --kind bloom:nonsense
b --kind blocked:5
b --kind blocked/bloom
b --kind growing
b --kind growing/growing/bloom
b --kind growing/fuse
b --kind growing/fuse --capacity 200
b --kind routed:4/growing/fuse --capacity 200
b --kind routed:3/bloom
b --kind routed:0/bloom
b --kind routed/bloom
b --kind spatial:2/spatial:2/bloom
b --kind counting:5
b --kind counting:8,nonsense
b --kind layered:0
b --kind layered:17
b --kind fuse:7
b --kind ribbon:0
b --kind ribbon:33
b --kind ribbon:1 --rate 0.01
b --kind ribbon:6 --rate 0.01
b --kind dynamic:1000000/bloom
b --kind "$(head -c 200 /dev/zero | tr '\0' x)"
b --profile nonsense
b --profile a-name-that-is-longer-than-any

# Too large, too small, at odds with itself.
b --capacity 300T
b --capacity 18446744073709551615
b --bits 1000T --rate 0.01
b --capacity 100 --rate 1e-300
b --kind blocked --rate 1e-5
b --capacity 1000 --rate 0.01 --bits 512
b --kind bloom --capacity 1000 --probes 2 --bits 512 --rate 0.001
b --probes 1000
b --bits 1 --rate 1e-9
b --multiplier 2 --bits 512 --capacity 1000 --probes 3
b --multiplier 2
ls f*

# More URLs than it was planned for.
b --capacity 10
b --capacity 10 --over && seen check --count f -i urls
b --capacity 10 --kind bloom
b --capacity 10 --kind growing/bloom && seen check --count f -i urls

# Without --rate, the bits of a kind decide.
for n in 1 2 6 7 16; do b --kind ribbon:$n && seen info f | grep '^rate now'; done
for k in fuse:8 fuse:16 routed:4/ribbon:2 spatial:2/ribbon:1; do b --kind $k && seen info f | grep '^rate now'; done
b --kind ribbon:6 --rate 0.02 && seen info f | grep '^rate now'
b --kind ribbon && seen info f | grep '^rate now'
END
