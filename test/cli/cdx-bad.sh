# What is wrong with an index costs a line or a file, and is told.
good() { printf 'hr,nsk)/%s 20200101000000 http://nsk.hr/%s text/html 200 K - - 1 2 g\n' $1 $1; }
{
    good 1
    printf 'hr,nsk)/a b 20200101000000 http://nsk.hr/a b text/html 200 K - - 1 2 g\n'
    printf 'hr,nsk)/c 20200101000000 http://nsk.hr/c\n'
    printf 'java.lang.OutOfMemoryError: Java heap space\n'
    good 2 | tr -d '\n'; printf '\r\n'
    printf 'hr,nsk)/\0 20200101000000 http://nsk.hr/ text/html 200 K - - 1 2 g\n'
    printf '01_03_03).pdf 20200101000000 http://nsk.hr/01_03_03).pdf a 200 K - - 1 2 g\n'
    printf 'dns:nsk.hr 20200101000000 dns:nsk.hr text/dns - K - - 1 2 g\n'
    printf 'hr,nsk)/\346 - - text/html - K - - 1 2 g\n'
    printf 'hr,nsk)/h 20200101000000 http://nsk.hr/h <a html> K - - 1 2 g\n'
    head -c 3000000 /dev/zero | tr '\0' x; echo
    good 3
    good 4 | tr -d '\n'
} >some.cdx
gzip -nc some.cdx >whole.gz
head -c 300 whole.gz >cut.gz
{ cat whole.gz; head -c 5000 /dev/zero; } >padded.gz
{ cat whole.gz; echo junk; } >junk.gz
head -c 40000000 /dev/zero | gzip -nc >zeros.gz
head -c 40000000 /dev/zero | tr '\0' x | gzip -nc >bomb.gz
zstd -qc some.cdx | head -c 200 >cut.zst
notime() { sed -E 's/ in [0-9.]+ s$/ in TIME/; s/, [0-9.]+ [kM]?B.*, [0-9.]+ bits per URL, rate .*/, SIZE/; s/, [0-9]+ bytes, .*/, SIZE/'; }
session <<'END'
seen build -o f --rejects bad some.cdx 2>&1 | notime
cut -c 1-60 bad
tail -c 20 bad

# Lines up to the limit of a line are kept whole; of a longer one the cut is marked, and it is no better the second time.
for n in 8192 20000 65536 65537; do head -c $n /dev/zero | tr '\0' x; echo; done >long; { echo ' CDX N b a m s k r M S V g'; cat long; } >long.cdx
seen build --quiet -o f --rejects bad long.cdx; cmp <(head -3 bad) <(head -3 long); awk '{ print length, substr($0, 65530) }' bad
{ echo ' CDX N b a m s k r M S V g'; cat bad; } >again.cdx; seen build --quiet -o f --rejects worse again.cdx; cmp bad worse

seen build -o f --status 200 some.cdx 2>&1 | notime
seen build -o f padded.gz 2>&1 | notime | head -1
seen build -o f whole.gz junk.gz 2>&1 | notime
seen build -o f --partial cut.gz 2>&1 | notime
seen build -o f cut.zst 2>&1 | notime
seen build -o f bomb.gz 2>&1 | notime
seen build -o f zeros.gz
rm f; seen build -o f --strict whole.gz; ls f
seen build -o f --strict cut.gz; ls f

# A folder with what cannot be read; root reads everything, so a link to nothing.
mkdir dir; cp some.cdx dir; ln -s nonesuch dir/lost
seen build -o f --partial dir 2>&1 | notime
seen build -o f --strict dir

# Indexes put together, of which the second has other columns.
{ echo ' CDX N b a m s k r M S V g'; good 1; good 2; echo ' CDX N b a m s k r V g'; echo 'hr,nsk)/3 20200101000000 http://nsk.hr/3 text/html 200 K - 1 g'; echo ' CDX N b a m s k r M S V g'; good 4; } >together.cdx
seen build -o f together.cdx 2>&1 | notime
seen build -o f --strict together.cdx

# The same in three pieces, with any number of threads.
{ cat together.cdx; seq 150000 | awk '{ print "hr,nsk)/" $1 " 20200101000000 http://nsk.hr/" $1 " text/html 200 ABCDEFGHIJKLMNOPQRSTUVWXYZ234567 - - 1 2 some-file-with-a-long-name.warc.gz" }' | tee half; cat together.cdx half; } >large.cdx
seen build -o one --threads 1 --capacity 1M large.cdx 2>&1 | notime
seen build -o two --threads 2 --capacity 1M large.cdx 2>&1 | notime
cmp one two
END
