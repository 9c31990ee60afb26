# An index whose keys differ from ours: its own URLs must be found.
line() { printf '%s 20200101000000 %s text/html 200 K - - 1 2 g\n' "$1" "$2"; }
for i in $(seq 600); do line "hr,nsk)/a$i" "http://www.nsk.hr/a$i"; done >same.cdx
# Queries that are not sorted, letters that are not in lower case.
for i in $(seq 300); do
    line "hr,site)/p$i?b=2&a=1" "http://site.hr/p$i?b=2&a=1"
    line "hr,site)/Page$i" "http://site.hr/Page$i"
done >odd.cdx
awk '{ print $3 }' odd.cdx >odd.urls
awk '{ print $1, $2, "{\"url\": \"" $3 "\"}" }' odd.cdx >odd.cdxj
sed 's|http://|http:\\/\\/|' odd.cdxj >escaped.cdxj
gzip -nc odd.cdx >odd.gz
# URLs that differ, with one key; a small file of another tool among many.
for i in $(seq 300); do for n in 1 2 3; do line "hr,site)/one$i" "http://site.hr/one$i?n=$n"; done; done >one.cdx
awk '{ print $3 }' one.cdx >one.urls
awk '{ print $1, $2, "{\"url\": \"" $3 "\"}" }' one.cdx | sed 's|http://|http:\\/\\/|' >one.cdxj
sed 's/^hr,site)/site.hr/' one.cdx >other.cdx
mkdir many; for i in $(seq -w 30); do sed "s/a/b$i/g" same.cdx >many/$i.cdx; done; head -3 odd.cdx >many/27.cdx
mkdir cluster; gzip -nc odd.cdx >cluster/a.gz; printf 'hr,site)/ 2020\ta.gz\t0\t9\t1\n' >cluster/cluster.idx
notime() { sed -E 's/ in [0-9.]+ s$/ in TIME/; s/, [0-9.]+ [kM]?B.*, [0-9.]+ bits per URL, rate .*/, SIZE/; s/, [0-9]+ bytes, .*/, SIZE/'; }
keys() { seen info --json "$1" | grep -o '"keys": [^,]*'; }
session <<'END'
seen build -o same same.cdx 2>&1 | notime; keys same
seen build -o f odd.cdx 2>&1 | notime; keys f
seen check --count f -i odd.urls
seen check --count f -i odd.cdx
seen build --json -o f --capacity 2000 odd.cdx 2>/dev/null | grep -o '"keys.*"differ": [0-9]*'

# As asked for.
seen build -o f --keys trusted odd.cdx 2>&1 | notime; keys f
seen check --count f -i odd.urls
seen check --count f -i odd.cdx
seen check --count f --keys derived -i odd.cdx
seen check --count f --keys trusted -i odd.cdx
seen build -o f --keys derived same.cdx 2>&1 | notime; keys f
seen build --quiet -o f --keys derived same.cdx; keys f
seen build --quiet -o f --recanonicalise same.cdx
seen build --quiet -o f same.cdx odd.cdx 2>&1 | head -1; seen check --count f -i odd.urls -i same.cdx
seen build -o f --keys sometimes odd.cdx
seen build -o f --keys trusted --profile raw odd.cdx
seen build --quiet -o f --profile whatwg odd.cdx; keys f; seen check --count f -i odd.urls
seen build --quiet -o f odd.urls; keys f; seen check --count f -i odd.cdx

# Whatever it is packed in, however it is read.
for i in odd.cdxj escaped.cdxj odd.gz cluster; do seen build --quiet -o f $i; seen check --count --only new f -i odd.urls; keys f; done
for k in growing/bloom fuse counting:8 routed:4/blocked; do seen build --quiet -o f --kind $k odd.cdx 2>/dev/null; seen check --count --only new f -i odd.urls; done
seen build --quiet -o f --profile surt:1 odd.cdx 2>/dev/null; seen check --count --only new f -i odd.urls
for t in 1 2 3; do seen build --quiet -o t$t --threads $t --capacity 9000 same.cdx odd.cdx same.cdx odd.gz 2>told$t; sed -i s/t$t:// told$t; done; cmp t1 t2; cmp t1 t3; cmp told1 told2; cmp told1 told3

# No URL is left out because the one before it has the same key.
for k in auto derived; do for i in one.cdx one.cdxj other.cdx; do seen build --quiet -o f --keys $k $i 2>/dev/null; seen check --count --only new f -i one.urls; done; done
for p in whatwg raw; do for i in one.cdx one.cdxj; do seen build --quiet -o f --profile $p $i; seen check --count --only new f -i one.urls; done; done
seen build --quiet -o f --profile whatwg --capacity 5000 same.cdx; seen add f -i one.cdx | sed 's/; rate.*//'
seen build --quiet -o f --keys trusted one.cdx; seen check --count --only seen f -i one.urls

# A small file of another tool, among many.
seen build --quiet -o f many; seen check --count --only new f -i many/27.cdx

# A pipe is read once, and each line of it is compared.
cat odd.cdx | seen build --quiet -o p --capacity 2000 -; seen check --count --only new p -i odd.urls; keys p
cat odd.gz | seen build --quiet -o p --capacity 2000 - 2>/dev/null; seen check --count --only new p -i odd.urls
rm p; cat same.cdx same.cdx odd.cdx odd.cdx odd.cdx odd.cdx | seen build -o p --capacity 9000 - 2>&1 | notime; seen check --count --only new p -i odd.urls
cat same.cdx same.cdx odd.cdx odd.cdx odd.cdx odd.cdx | seen build --quiet -o p --capacity 9000 --keys derived -; seen check --count --only new p -i odd.urls

# One line in 5,000, somewhere: its URL is found.
for i in $(seq 5000); do line "hr,nsk)/b$i" "http://www.nsk.hr/b$i"; done | sed '3333s/hr,nsk)/hr,nsk,www)/' >one.cdx
seen build -o f one.cdx 2>&1 | notime; seen check f http://nsk.hr/b3333

# What a filter says is obeyed by those who add to it and ask it.
seen build --quiet -o f --capacity 5000 odd.cdx 2>/dev/null; seen add f -i odd.cdx | sed 's/; rate.*//'; seen add f --keys trusted -i odd.cdx
seen build --quiet -o f --capacity 5000 same.cdx; seen add f -i odd.cdx | sed 's/; rate.*//'
seen check --count --only new f -i odd.urls; seen add f --keys derived -i odd.cdx | sed 's/; rate.*//'; seen check --count --only new f -i odd.urls
seen build --quiet -o f --capacity 5000 odd.urls; seen add f -i odd.cdx | sed 's/; rate.*//'
seen build --quiet -o c --kind counting:8 --capacity 5000 odd.cdx 2>/dev/null; seen count c -i odd.cdx | cut -f 1 | sort | uniq -c; seen remove --count c -i odd.cdx
seen dedup --profile surt --count odd.urls odd.cdx

# Bad lines and excluded URLs; a build that goes on.
{ head -700 same.cdx; echo bad; tail -100 same.cdx; cat odd.cdx; } >mixed.cdx
seen build -o f --capacity 2000 --rejects bad mixed.cdx 2>&1 | notime; cat bad
seen build -o f --capacity 2000 --exclude odd.cdx mixed.cdx 2>&1 | notime; seen check --count --only seen f -i odd.urls
seen build --quiet -o g --capacity 1M --threads 1 --checkpoint 0.0001 odd.cdx same.cdx mixed.cdx 2>/dev/null; seen build --quiet -o h --capacity 1M odd.cdx same.cdx mixed.cdx 2>/dev/null; cmp g h

# No SURT; the body of a request; no URL.
{ line 'hr,nsk)/api?__wb_method=post&a=1' http://nsk.hr/api; line dns:nsk.hr dns:nsk.hr; line 'hr,nsk,)/x/' http://nsk.hr/x; line 'nsk.hr/y' http://nsk.hr/Y; line 'hr,nsk)/z' -; cat same.cdx; } >good.cdx
seen build -o f good.cdx 2>&1 | notime
END
