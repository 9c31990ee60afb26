# Progress is for people at a terminal; `script` lends one.
script -qec true /dev/null </dev/null >/dev/null 2>&1 || exit 77  # no terminals here
seq -f "http://a.example/%.0f" 5000 >urls
show() { script -qec "$1" /dev/null </dev/null | tr -d '\r' | grep -aoE '(reading|building) [^/]*lines/s' | sed -E 's/[0-9,.]+ (M )?lines/N lines/g' | head -1; }
show '(cat urls; sleep 0.7; cat urls; sleep 0.2; cat urls) | seen build --quiet -o f --capacity 6000 -'
show '(cat urls; sleep 0.7; cat urls; sleep 0.2; cat urls) | seen check --count f'
(cat urls; sleep 0.7; cat urls) | seen check --count f
