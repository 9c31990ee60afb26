# Man pages are valid scdoc, one a command and one for all.
command -v scdoc >/dev/null || exit 77
export SOURCE_DATE_EPOCH=0
for command in '' $(seen help --commands); do
    seen help --man $command | scdoc >page || echo "seen $command: exit $?"
    for section in NAME SYNOPSIS DESCRIPTION 'EXIT STATUS'; do
        grep -q "^.SH $section" page || echo "seen $command: no $section"
    done
    # Every option is there.
    [ -z "$command" ] || seen help "$command" |
        sed -nE 's/^  (-., |    )--([a-z-]+).*/\2/p' | grep -v help |
        while read -r option; do
            grep -qF -e "--$(sed 's/-/\\-/g' <<<"$option")" -e "--$option" page ||
                echo "seen $command: no --$option"
        done
done
seen help --man check
