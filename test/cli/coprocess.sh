# Through a pair of pipes, an answer comes before the next question.
seq -f 'http://a.example/%.0f' 1000 >urls
seen build --quiet -o f --capacity 2000 urls
ask() {
    coproc ask { exec "$@"; }
    local url answer
    for url in http://a.example/1 http://b.example/ http://a.example/1000; do
        echo "$url" >&"${ask[1]}"
        read -r -t 20 answer <&"${ask[0]}" || { echo "no answer"; return; }
        echo "$answer"
    done
    eval "exec ${ask[1]}>&-"
    wait $!; echo "[exit $?]"
}
ask seen check f
ask seen dedup --filter g
ask seen check --json f
