/*
 * man.c - man pages, as source for scdoc.
 *
 * seen(1) is the overview with what all commands share, seen-check(1) and so
 * on are one command each.
 */
#include "command.h"

#include <ctype.h>
#include <string.h>

#include <seen/version.h>

#include "output.h"

/* Text, with characters escaped that mean something to scdoc. */
static void plain_bytes(const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        if (strchr("\\*_<>#[]|~`+.-", text[i]) && text[i])
            output_text("\\");
        output_bytes(&text[i], 1);
    }
}

static void plain(const char *text)
{
    plain_bytes(text, strlen(text));
}

/* Placeholders are in capitals: FILTER, URL, N. */
static void synopsis(const char *text)
{
    while (*text) {
        size_t len = 0;

        while (isupper((unsigned char)text[len]))
            len++;
        if (len) {
            output_text("_");
            output_bytes(text, len);
            output_text("_");
            text += len;
        } else {
            plain_bytes(text++, 1);
        }
    }
}

static void option(const struct option *o)
{
    if (o->letter)
        output_format("*-%c*, ", o->letter);
    output_format("*--%s*", o->name);
    if (o->arg) {
        output_text(o->takes == WORD_OR_NONE ? " [_" : " _");
        plain(o->arg);
        output_text(o->takes == WORD_OR_NONE ? "_]" : "_");
    }
    output_text("\n\t");
    plain(o->help);
    output_text(".\n\n");
}

static const char *const chapters[] = {
    "FILTERS",
    "A filter is a file. It answers \"no\" for certain, and \"yes\" with a "
    "small planned chance of being wrong: its rate, the probability of a "
    "false positive. It is made from a plan: a kind, a capacity in distinct "
    "URLs, and a rate. Kinds are written name[:arg,...], joined by a slash "
    "from the outside in: blocked (the default), bloom, counting:8 (to "
    "remove and count), ribbon (the smallest; built once), shards (the same "
    "in blocks of 64 KiB), fuse (small and faster; built once), layered:4 (answers for prefixes), growing/blocked (goes on past its capacity), "
    "routed:16/blocked (in parts), spatial:2/blocked (several, all of which "
    "must agree), dynamic:8/bloom.",

    "URLS",
    "URLs are operands, or come from standard input or from files and folders: "
    "lists with one URL per line, and the files of archives as seen-build(1) "
    "reads them, recognised by their bytes. Lines end with a line feed, or a "
    "carriage return and a line feed. A byte order mark is skipped, and so are "
    "empty lines where no answer is expected. A line is bad if it is longer "
    "than 8192 bytes, has control bytes (below 0x20, or 0x7f), or is not a URL. "
    "Bad lines are counted by cause and reported at the end with the numbers of "
    "the first ones. Commands that answer every line (check, count, remove) "
    "answer an empty or bad one with bad, a tab and the line, and exit with 2. "
    "Other commands leave bad lines out, which does not change the exit code "
    "unless every line was bad (add, dedup). With --strict the first bad line "
    "ends the command with exit code 2.",

    "NUMBERS",
    "Numbers of URLs and bits are whole, and may end with k, M, G or T, for "
    "10^3, 10^6, 10^9 and 10^12. Rates are written 0.01, 1% or 1e-2.",

    "KEYED FILTERS",
    "An attacker who can compute the hash of a filter can choose URLs that are "
    "false positives. A keyed filter uses SipHash with a secret, which is not "
    "in the filter but in a file of 16 bytes or 32 hexadecimal digits. To make "
    "one: (umask 077; head -c16 /dev/urandom >KEYFILE). Without its key a keyed "
    "filter can only be inspected, merged and converted.",

    "JSON",
    "With --json answers are JSON objects, one per line. A URL is bytes and "
    "JSON is Unicode: bytes that are not UTF-8 become U+FFFD, and the whole "
    "value is repeated in hexadecimal, as url_hex.",

    "FILES",
    "While a command adds to crawl.seen, the file crawl.seen.journal has the "
    "URLs that are not in it yet, and crawl.seen.lock keeps other writers out. "
    "A command that is killed leaves them; the next one continues from them. "
    "To copy a filter in use, run seen merge -o copy.seen crawl.seen: a copy "
    "without the journal is refused. crawl.seen.keys, with mode 0600, has 16 "
    "bytes per URL of a filter that seen add made; it is read when the filter "
    "is full, to build a larger one. What was fetched of filters on web servers "
    "is in $XDG_CACHE_HOME/seen, or ~/.cache/seen, and the secret of --decoys in "
    "$XDG_DATA_HOME/seen, or ~/.local/share/seen.",
};

static const char exits[] =
    "0 yes, or done; 1 no; 2 trouble: standard error says what.";

static void program(void)
{
    output_text(
        "seen(1) \"seen " SEEN_VERSION "\"\n\n"
        "# NAME\n\nseen - have we seen this URL?\n\n"
        "# SYNOPSIS\n\n"
        "*seen* _COMMAND_ \\[_OPTION_...] \\[_OPERAND_...]\n\n"
        "# DESCRIPTION\n\n"
        "*seen* remembers URLs in about ten bits each, and reports which "
        "URLs it has seen. It is for crawlers, web archives and "
        "aggregators.\n\n"
        "# COMMANDS\n\n");
    for (int i = 0; commands[i]; i++) {
        output_format("*seen-%s*(1)\n\t", commands[i]->name);
        plain(commands[i]->summary);
        output_text(".\n\n");
    }
    for (size_t i = 0; i < sizeof chapters / sizeof chapters[0]; i += 2) {
        output_format("# %s\n\n", chapters[i]);
        plain(chapters[i + 1]);
        output_text("\n\n");
    }
    output_text("# EXIT STATUS\n\n");
    plain(exits);
    output_text("\n\n# SEE ALSO\n\n*seen-format*(5)\n");
}

void help_man(const struct command *cmd)
{
    if (!cmd) {
        program();
        return;
    }
    output_format("seen-%s(1) \"seen " SEEN_VERSION "\"\n\n", cmd->name);
    output_format("# NAME\n\nseen-%s - ", cmd->name);
    plain(cmd->summary);
    output_format("\n\n# SYNOPSIS\n\n*seen %s*", cmd->name);
    output_text(cmd->passes ? " " : " \\[_OPTION_...] ");
    synopsis(cmd->synopsis);
    output_text("\n\n# DESCRIPTION\n\n");
    plain(cmd->about);
    output_text("\n\n");
    if (cmd->options->name)
        output_text("# OPTIONS\n\n");
    for (const struct option *o = cmd->options; o->name; o++)
        if (o->help)
            option(o);
    output_text("# EXIT STATUS\n\n");
    plain(cmd->exits ? cmd->exits : exits);
    if (cmd->examples)
        output_format("\n\n# EXAMPLES\n\n```\n%s```\n", cmd->examples);
    output_text("\n\n# SEE ALSO\n\n*seen*(1)\n");
}
