# seen check: answers, exit codes, JSON.
seq -f 'http://a.example/%.0f' 1000 >urls
seen build --quiet -o f --kind bloom --rate 1e-9 --profile raw urls
printf '%s\n' http://a.example/1 http://b.example/ http://a.example/2 >some
session <<'END'
seen check f http://a.example/1 http://a.example/2
seen check f http://a.example/1 http://b.example/
seen check f <some
seen check f -i some
seen check f -i - <some
seen check f -i some -i urls --count
seen check --only new f -i some
seen check --only seen f -i some
seen check --count f -i some
seen check --count --only new f -i some
seen check --count --only seen f -i some
seen check --json f -i some
seen check --json --only new f -i some
seen check --json --count f -i some
seen check --json --count --only new f -i some

# In an if, as grep.
if seen check f http://a.example/1 >/dev/null; then echo yes; else echo no; fi
if seen check f http://b.example/ >/dev/null; then echo yes; else echo no; fi

# Nothing asked, nothing new.
seen check f </dev/null
seen check --count f </dev/null

# Every line gets an answer; a bad one is neither seen nor new.
printf 'http://a.example/1\n\n\001\r\nhttp://b.example/\n' >bad
seen check f -i bad
seen check --json f -i bad
seen check --count f -i bad
seen check --only bad f -i bad
seen check --only bad --count f -i bad
seen check --only bad --json f -i bad
seen check --only new f -i bad
seen check --strict f -i bad

# An operand is a URL even if it is odd; if it cannot be one, that is trouble.
# The name of a file is probably not meant as a URL.
seen check f 'http://a.example/ö'
seen check f -
seen check f some
seen check f ''
seen check f http://a.example/1 '' http://a.example/2
seen check f $'http://a.example/\n1'
seen check f $'http://a.example/\x7f'
seen check f "$(head -c 8192 /dev/zero | tr '\0' x)" | cut -c 1-20
seen check f "$(head -c 8193 /dev/zero | tr '\0' x)" | cut -c 1-20

# Files.
seen check nonesuch http://a.example/1
seen check . http://a.example/1
seen check urls http://a.example/1
seen check f -i nonesuch
seen check f -i some -i nonesuch
seen check --count f -i .
seen check f <&-

# The profile of the question must be that of the filter.
seen check --profile raw f http://a.example/1
seen check --profile nonsense f http://a.example/1
END
