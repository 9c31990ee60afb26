# Inputs that can be read only once, and inputs that end too early.
seq -f 'http://a.example/%.0f' 20000 >urls
seen build --quiet -o f --kind counting:8 urls
gzip -nc urls >urls.gz
head -c 20000 urls.gz >cut.gz
mkfifo one two
(cat urls >one; cat urls >two) &
session <<'END'
# Two FIFOs whose writer fills one after the other.
timeout 60 seen check --count f -i one -i two

# One bad line costs that line, whatever it looks like.
printf '<b\nPAR1.example\nhttp://a.example/1\n' | seen check f
printf '<!DOCTYPE html>\n<p>http://a.example/1\n' | seen check f

# Standard input is read once, and to its end.
seen dedup --count - - <urls
(seen check --count f; wc -l) <urls

# An input that is cut short is trouble, not an answer.
seen check --count f -i cut.gz
seen dedup --count cut.gz
seen count f -i cut.gz | tail -1
END
wait
