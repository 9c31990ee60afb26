# seen key: the text that a URL is hashed as.
printf '%s\n' 'HTTP://A.example/x/../y' '' 'no scheme' 'http://b.example/z' >urls
printf 'http://a.example/\001\nhttp://a.example/ b\n' >odd
session <<'END2'
seen key HTTP://www.Example.com:80/a/../b?c#d
seen key --profile whatwg http://a.example
seen key --profile raw HTTP://A.example
seen key --profile surt HTTP://www.Example.com:80/a/../b?z=1\&a=2#d
seen key --profile surt:host http://www.example.com:8080/a/b/c?d
seen key --profile surt:1 http://www.example.com/a/b/c?d
seen key --profile surt:2 http://www.example.com/a/b/c?d
seen key --profile surt 'com,example,)/a/' dns:www.example.com http://1.2.3.4/
seen key http://a.example/ 'http://b.example/x y'

# Lines; answers stay beside questions.
seen key <urls
seen key -i urls 2>/dev/null | paste urls -
seen key -i urls -i urls 2>&1 >/dev/null
seen key --profile surt <urls
seen key --profile surt -i - <urls 2>/dev/null
seen key <odd
seen key --strict <urls
printf 'http://a.example\r\nhttp://b.example' | seen key
seen key </dev/null

# Tabs and line ends are not part of a URL; a line cannot have them.
seen key $'ht\ntp://a.exam\tple/b\rc' $'\n http://a.example/d\x01\t\n'
seen key --profile surt $'http://www.a.exam\tple/b\nc'
seen key --profile raw $'http://a.example/\n'
printf 'http://a.example/b\tc\n' | seen key
printf 'example,a)/ 20200101000000 {"url": "http://a.exam\\tple/b\\nc\\u000ad"}\n' | seen key
seen build --quiet -o j --profile whatwg --capacity 10 - <<<'example,a)/ 2020 {"url": "http://a.exam\tple/b\nc"}'; seen check j $'http://a.example/\nbc'
seen check j -i - <<<'example,a)/ 2020 {"url": "http://a.exam\tple/b\nc"}'

# Names of ASCII are as they are.
seen key http://xn--a/ http://XN--8I7CAA.example/ http://xn--a.ö/

# Relative to a base.
seen key --base http://a.example/b/c?d e ../f /g //h '?i' '#j' http://k.example
seen key --base http://www.a.example/b/c --profile surt ../F/
seen key --base nonsense x
seen key --base mailto:a x
seen key --base http://a.example/ --profile raw x

# JSON has the hash, of which the filters use 128 bits.
seen key --json https://haw.nsk.hr/en
seen key --json --profile surt:host http://www.example.com/a/b nonsense://:x
seen key --json http://a.example/$'\xff'

# A filter of a profile meets every spelling, and no other profile.
seen build -o f --profile surt --capacity 10 - <<<http://www.example.com/a/?b=1\&a=2 2>/dev/null
seen check f 'https://example.com:443/A?a=2&b=1#x' 'com,example)/a?a=2&b=1' http://example.com/a
seen build -o g --profile surt:1 --capacity 10 - <<<http://www.example.com/a/b/c 2>/dev/null
seen check g http://example.com/a http://example.com/a/x?y http://example.com/b
seen check --profile whatwg f http://example.com/a

# An address that is asked about is a URL like any other, with its password.
seen key 'redis://foo:bar@host/0' 'postgresql://foo:bar@host/x?password=y'
seen build --quiet -o r --profile whatwg --capacity 10 - <<<'redis://foo:bar@host/0'
seen add r 'bf://foo:bar@host/0'
seen check r 'redis://foo:bar@host/0' 'bf://foo:bar@host/0' 'bf://foo:***@host/0'
seen check -f r 'redis://foo:bar@host/0'

# What goes wrong.
seen key --profile nonesuch x
seen key --profile surt:0 x
seen key --profile surt:100 x
seen key --profile surt: x
seen key -i nonesuch
seen key -i urls http://a.example/
END2
