# Through a pair of pipes, an answer comes before the next question.
seq -f 'http://a.example/%.0f' 1000 >urls
seen build --quiet -o f --capacity 2000 urls
ask() {
    coproc ask { exec "$@"; }
    local url answer
    for url in "${questions[@]}"; do
        echo "$url" >&"${ask[1]}"
        IFS= read -r -t 20 answer <&"${ask[0]}" || { echo "no answer"; return; }
        echo "$answer"
    done
    eval "exec ${ask[1]}>&-"
    wait $!; echo "[exit $?]"
}
questions=(http://a.example/1 http://b.example/ http://a.example/1000)
ask seen check f
ask seen dedup --filter g
ask seen check --json f

# Bad and empty lines get their answers, too, and are not "seen".
questions=(http://a.example/1 '' $'http://a.example/\001' http://b.example/)
ask seen check f
ask seen check --json f
seen build --quiet -o c --kind counting:8 --capacity 2000 urls
ask seen count c
ask seen remove c
ask seen add --ack c
ask seen add --ack --json c
ask seen key
ask seen key --json
ask seen dedup --keep-bad
