# Options are what they are called, no less and no more.
seq -f 'http://a.example/%.0f' 100 >urls
seen build --quiet -o f urls
session <<'END'
# Where they may stand, and how.
seen check --only new f http://b.example/
seen check --only=new f http://b.example/
seen check f --only new http://b.example/
seen check f http://b.example/ --only new
seen check f -i urls --count
seen check f -iurls --count
seen check f --input urls --count
seen check f --input=urls --count
seen check f -- --only
seen check -- f http://a.example/1
seen build --quiet -og urls && seen check g http://a.example/1
cp f ./--f && seen check -- --f http://a.example/1

# Names are not abbreviated, and a slip is met with advice.
seen check --onl new f
seen check --cuont f
seen check --nonsense f
seen check --only=new --nonsense=5 f
seen check -x f
seen check --help=yes f
seen check --count=5 f

# The parts of commands, and their options.
seen queue
seen queue stat
seen queue stats --id x
seen crawl statsu site
seen crawl status site --pages 3
seen work stauts
seen work status --drain
seen help chek
seen robots ''

# Values.
seen check f --only
seen check f --only old
seen check f --only=
seen check f --only ''
seen check f -i
seen add f --sync sometimes
seen build -o '' urls

# Operands.
seen check
seen info
seen info f g
seen build -o g
seen build urls
seen merge f
seen merge -o g
seen check f http://a.example/1 -i urls
END
