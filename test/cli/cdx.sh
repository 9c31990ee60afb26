# What archives have, told apart by content: the same captures every time.
# All of it is made up.
page() { # URL path, host, time, status, type
    printf 'hr,%s)%s %s http://www.%s.hr%s %s %s ABCDEFGHIJKLMNOPQRSTUVWXYZ234567 - - 812 %s a.warc.gz\n' \
        "$2" "$1" "$3" "$2" "$1" "$5" "$4" "$((RANDOM))"
}
RANDOM=7
{
    page / nsk 20190101000000 200 text/html
    page / nsk 20200101000000 200 text/html
    page /a nsk 20200301000000 301 text/html
    page /b.png nsk 20210301000000 200 image/png
    page / vijesti 20200601120000 200 text/html
    page /sport vijesti 20200602120000 404 text/html
} >lines
{ echo ' CDX N b a m s k r M S V g'; cat lines; } >legend.cdx
awk '{ print $1, $2, $3, $4, $5, $6, $7, $10, $11 }' lines >nine
awk '{ print $1, $2, $3, $4, $5, $6, $7, $8, $10, $11 }' lines >ten
awk '{ print $0, "812", "5", "b.warc.gz" }' lines >fourteen
{ echo ' CDX A b e a m s c k r V v D d g M n'; awk '{ print "www.x.hr/", $2, "192.0.2.1", $3, $4, $5, "-", $6, "-", 1, 2, 3, 4, $11, "-", 5 }' lines; } >alexa
{ echo ' CDX a b a m s k r M V g u'; awk '{ print $3, $2, $3, $4, $5, $6, "-", "-", 1, $11, "<urn:uuid:1>" }' lines; } >wget
awk '{ print $3, "192.0.2.1", $2, $4, 812, $11, 77 }' lines >netarchive
awk '{ print $1, $2, "{\"url\": \"" $3 "\", \"mime\": \"" $4 "\", \"status\": \"" $5 "\", \"languages\": \"hrv,eng\"}" }' lines >cdxj
{ echo '!OpenWayback-CDXJ 1.0'; awk '{ sub(/\)/, ",)", $1); print "(" $1, "2020-01-01T00:00:00Z response {\"uri\":\"" $3 "\"}" }' lines; } >openwayback
awk '{ print $3 }' lines >urls
gzip -nc legend.cdx >a.gz
split -l 2 --filter='gzip -nc' legend.cdx >members.gz
zstd -qc lines >a.zst
while read -r key time url type status rest; do
    printf 'WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: %s\r\nWARC-Date: %s-%s-%sT00:00:00Z\r\nContent-Length: 44\r\n\r\nHTTP/1.1 %s OK\r\nContent-Type: %-9.9s\r\n\r\n\r\n\r\n' \
        "$url" ${time:0:4} ${time:4:2} ${time:6:2} "$status" "$type"
done <lines >a.warc
split -b 226 --filter='gzip -nc' a.warc >a.warc.gz
mkdir cluster
gzip -nc lines >cluster/cdx-00000.gz
printf 'hr,nsk)/ 20190101000000\tcdx-00000.gz\t0\t%s\t1\n' $(stat -c %s cluster/cdx-00000.gz) >cluster/cluster.idx
notime() { sed -E 's/ in [0-9.]+ s$/ in TIME/; s/, [0-9.]+ [kM]?B.*, [0-9.]+ bits per URL, rate .*/, SIZE/; s/, [0-9]+ bytes, .*/, SIZE/'; }
for file in legend.cdx lines nine ten fourteen alexa wget netarchive cdxj \
        openwayback urls a.gz members.gz a.zst a.warc a.warc.gz \
        cluster/cluster.idx cluster; do
    echo "$file: $(seen build -o f --kind bloom --rate 1e-6 --capacity 100 $file 2>&1 | notime)"
    cells=$(seen info --text f | grep ^set=)
    [ "${first=$cells}" = "$cells" ] || echo "$file: $cells, not $first"
    seen check --count --only new f -i urls || true
done
session <<'END'

# From a pipe, too.
cat members.gz | seen build --quiet -o f --capacity 100 - && seen check --count f -i urls
cat a.warc | seen build --quiet -o f --capacity 100 - && seen check --count f -i urls

# A collection.
seen build -o f --status 200 lines 2>&1 | notime
seen build -o f --status 301,404 lines 2>&1 | notime
seen build -o f --status 200 --mime text/html cdxj 2>&1 | notime
seen build -o f --mime 'image/*' a.warc 2>&1 | notime
seen build -o f --from 2020 --to 2020-03 lines 2>&1 | notime
seen build -o f --from 20200601120000 a.gz 2>&1 | notime
seen build -o f --prefix hr,nsk, lines 2>&1 | notime
seen build -o f --prefix 'hr,vijesti)/s' --profile raw lines 2>&1 | notime
echo nsk.hr >hosts; seen build -o f --hosts hosts lines 2>&1 | notime
seen build -o f --language hrv cdxj 2>&1 | notime
seen build -o f --language deu cdxj 2>&1 | notime
seen build -o f --where digest=ABCDEFGHIJKLMNOPQRSTUVWXYZ234567 --where s=200 lines 2>&1 | notime
seen build -o f --where status=404 cdxj 2>&1 | notime
seen build -o f --where x lines
seen build -o f --from yesterday lines
seen build -o f --hosts nonesuch lines

# Keys that others wrote are put right, or derived.
printf 'hr,nsk,)/a/ 20200101000000 http://nsk.hr/a/ t 200 K - - 1 2 g\nnsk.hr/b 20200101000000 http://nsk.hr/b t 200 K - - 1 2 g\nhr,nsk)/c 20200101000000 http://nsk.hr/C t 200 K - - 1 2 g\n' >odd
seen build -o f odd 2>&1 | notime
seen check f http://nsk.hr/a http://nsk.hr/b
seen build -o f --keys derived odd 2>&1 | notime
seen build --quiet -o f --profile raw odd && seen check f http://nsk.hr/a/ http://nsk.hr/C

# Adding what came since.
seen build --quiet -o f --capacity 100 --kind bloom --rate 1e-6 nine
seen add f -i cdxj -i a.warc.gz | sed 's/rate.*//'
printf 'hr,nsk)/new 20220101000000 {"url": "http://nsk.hr/new"}\n' | seen add f -i - | sed 's/rate.*//'
seen check f http://nsk.hr/new
END
