# Progress is for people at a terminal; `script` lends one.
script -qec true /dev/null </dev/null >/dev/null 2>&1 || exit 77  # no terminals here
seq -f "http://a.example/%.0f" 5000 >urls
# Lines come until there is some to see; at most for a minute.
# A script, not a function: a plain sh, which `script` runs where SHELL is not set, drops exported functions.
cat >more <<'END'
for i in {1..300}; do cat urls; grep -aqs 'lines/s' screen && break; sleep 0.2; done
END
show() { rm -f screen; script -qefc "bash -c '$1'" screen </dev/null | tr -d '\r' | grep -aoE '(reading|building) [^/]*lines/s' | sed -E 's/[0-9,.]+ (M )?lines/N lines/g' | head -1; }
show 'bash more | seen build --quiet -o f --capacity 6000 -'
show 'bash more | seen check --count f'
(cat urls; sleep 0.7; cat urls) | seen check --count f
