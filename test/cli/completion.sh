# Completion parses, and completes commands, options, choices and files.
seen help --completion bash >bash.sh
bash -n bash.sh
touch 'a file' another.seen
source ./bash.sh
# What is offered for a line whose words are given, the last to be completed,
# sorted: files come in the order of the folder.
offer() {
    COMP_WORDS=("$@")
    COMP_CWORD=$(($# - 1))
    _seen
    printf '%s: ' "$*"
    printf '%s\n' "${COMPREPLY[@]}" | LC_ALL=C sort | tr '\n' ','
    echo
}
offer seen ''
offer seen c
offer seen check --
offer seen check --o
offer seen check --only ''
offer seen check --only = ''
offer seen check --only = n
offer seen check --only =
offer seen add --sync e
offer seen build --kind ''
offer seen build --kind = b
offer seen build --kind growing/b
offer seen build --profile ''
offer seen build -o a
offer seen check -i a
offer seen check a
offer seen help ch
offer seen help --completion ''
offer seen bench ''
if command -v zsh >/dev/null; then
    seen help --completion zsh >_seen
    zsh -n _seen
    for word in check --only 'new seen' build:make ':KIND:_seen_kinds'; do
        grep -q -e "$word" _seen || echo "zsh: no $word"
    done
fi
