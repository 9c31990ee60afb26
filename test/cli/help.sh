# Help comes from the descriptions of the commands, for every one of them.
session <<'END'
seen help
seen --help | diff - <(seen help) && echo the same
seen -h | diff - <(seen help) && echo the same
seen help check
seen check --help | diff - <(seen help check) && echo the same
seen check -h | diff - <(seen help check) && echo the same
seen help version
seen version
seen --version
seen help --commands
seen help --kinds

# Every command explains itself, within 79 columns, and names its options.
for c in $(seen help --commands); do seen help $c | awk -v c=$c 'length > 79 { print c ": " $0 }'; done
for c in $(seen help --commands); do [ $c = bench ] || [ $c = lab ] || seen $c --help | cmp - <(seen help $c); done
for c in $(seen help --commands); do seen help $c | grep -q "^seen $c - " || echo $c; done

# An option has the same letter in every command that has it.
for c in $(seen help --commands); do seen help $c | grep -o '^  \(-., \|    \)--[a-z0-9-]*'; done | sort -u | awk '{ print $NF }' | uniq -d

# What is wrong is said.
seen
seen chekc
seen chcek
seen nonsense
seen --nonsense
seen help nonsense
seen help check add
seen help --man --commands
seen help --completion fish
seen help --completion=bash check
seen version now
END
