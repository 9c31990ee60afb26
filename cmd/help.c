/*
 * help.c - seen help, and the --help of every command.
 *
 *     $ seen help check                  what --help prints
 *     $ seen help --man check | scdoc    the man page
 *     $ seen help --completion bash      completion for a shell
 *
 * Everything is printed from the descriptions of the commands.
 */
#include "command.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <seen/kind.h>

#include "output.h"

enum { WIDTH = 79, COLUMN = 22 };

static void spaces(int n)
{
    for (int i = 0; i < n; i++)
        output_text(" ");
}

/* Print words from column `at` on, later lines indented by `indent`. */
static void wrap(const char *text, int indent, int at)
{
    while (*text) {
        int word = (int)strcspn(text, " \n");

        if (at > indent && at + 1 + word > WIDTH) {
            output_text("\n");
            spaces(indent);
            at = indent;
        } else if (at > indent) {
            output_text(" ");
            at++;
        }
        output_bytes(text, (size_t)word);
        at += word;
        text += word;
        if (*text == '\n' && text[1]) {         /* a paragraph ends */
            output_text("\n\n");
            spaces(indent);
            at = indent;
        }
        text += strspn(text, " \n");
    }
    output_text("\n");
}

static void print_option(const struct option *o)
{
    char left[96];
    int len;

    if (o->letter)
        len = snprintf(left, sizeof left, "  -%c, --%s", o->letter, o->name);
    else
        len = snprintf(left, sizeof left, "      --%s", o->name);
    if (o->arg)
        len += snprintf(left + len, sizeof left - (size_t)len,
                        o->takes == WORD_OR_NONE ? " [%s]" : " %s", o->arg);
    output_text(left);
    if (len >= COLUMN + 4) {
        output_text("\n");
        len = 0;
    }
    spaces(COLUMN + 4 - len);
    wrap(o->help, COLUMN + 4, COLUMN + 4);
}

/* Commands stand in the order of the table, under what they are about. */
static void print_heading(const char *first)
{
    static const struct {
        const char *first, *title;
    } group[] = {
        { "build", "Filters" },
        { "serve", "Filters for others, and of others" },
        { "crawl", "A crawl" },
        { "schedule", "Many workers, and what has changed" },
        { "template", "Documents of the web, tried one by one" },
        { "lab", "This program" },
    };

    for (size_t i = 0; i < sizeof group / sizeof *group; i++)
        if (!strcmp(group[i].first, first))
            output_format("%s%s:\n", i ? "\n" : "", group[i].title);
}

static void print_program(void)
{
    output_text("seen - have we seen this URL?\n\n"
                "usage: seen COMMAND [OPTION...] [OPERAND...]\n\n");
    for (int i = 0; commands[i]; i++) {
        print_heading(commands[i]->name);
        output_format("  %-10s%s\n", commands[i]->name, commands[i]->summary);
    }
    output_text(
        "\n"
        "A filter answers \"no\" for certain, and \"yes\" with a small planned "
        "chance of\n"
        "being wrong, in about ten bits per URL. To begin:\n\n"
        "  $ seen build -o crawl.seen urls.txt\n"
        "  $ seen check crawl.seen http://a.example/\n\n"
        "See seen help COMMAND. Exit codes: 0 yes or done, 1 no, 2 trouble.\n");
}

void help_print(const struct command *cmd)
{
    static const struct option help = { "help", 'h', FLAG,
                                        NULL,   0,   "print this text" };

    if (!cmd) {
        print_program();
        return;
    }
    output_format("seen %s - %s\n\nusage: seen %s%s%s%s\n\n", cmd->name,
                  cmd->summary, cmd->name, cmd->passes ? "" : " [OPTION...]",
                  *cmd->synopsis ? " " : "", cmd->synopsis);
    wrap(cmd->about, 0, 0);
    output_text("\n");
    for (const struct option *o = cmd->options; o->name; o++)
        if (o->help)
            print_option(o);
    if (!cmd->passes)
        print_option(&help);
    if (cmd->exits) {
        output_text("\nexit code:");
        wrap(cmd->exits, 0, 10);
    }
    if (cmd->examples)
        output_format("\nexamples:\n%s", cmd->examples);
}

/* --- the command --- */

struct help {
    bool man, commands, kinds;
    const char *completion;
};

static const struct option options[] = {
    { "man", 0, FLAG, NULL, offsetof(struct help, man),
      "print the man page instead, as source for scdoc" },
    { "completion", 0, TEXT, "bash|zsh", offsetof(struct help, completion),
      "print completion for this shell" },
    { "commands", 0, FLAG, NULL, offsetof(struct help, commands),
      "print the names of all commands, one per line" },
    { "kinds", 0, FLAG, NULL, offsetof(struct help, kinds),
      "print the kinds of filter, for --kind, one per line" },
    { .name = NULL }
};

static void print_kinds(void)
{
    struct seen_kind_entry kind;

    for (unsigned i = 0; seen_kind_list(i, &kind); i++)
        output_format("%-24s%s\n", kind.synopsis, kind.summary);
}

static enum outcome run(void *settings, char **operand)
{
    const struct help *h = settings;
    const struct command *cmd = NULL;

    if (h->man + h->commands + h->kinds + (h->completion != NULL) > 1)
        return trouble("help: give only one of --man, --completion, "
                       "--commands and --kinds");
    if (*operand && (h->commands || h->kinds || h->completion))
        return trouble("%s: one operand too many", *operand);
    if (*operand && !(cmd = command_find(*operand)))
        return command_other(operand - 1); /* behind the name of the program */
    if (h->completion)
        help_completion(h->completion);
    else if (h->man)
        help_man(cmd);
    else if (h->kinds)
        print_kinds();
    else if (!h->commands)
        help_print(cmd);
    for (int i = 0; h->commands && commands[i]; i++)
        output_format("%s\n", commands[i]->name);
    return YES;
}

const struct command cmd_help = {
    .name = "help",
    .summary = "explain a command",
    .synopsis = "[COMMAND]",
    .most = 1,
    .settings = sizeof(struct help),
    .options = options,
    .about = "Explains a command, or lists them all. The man pages and the "
             "completion for shells are printed from the same definitions.",
    .examples = "$ seen help check\n"
                "$ seen help --kinds\n"
                "$ seen help --man check | scdoc >seen-check.1\n"
                "$ source <(seen help --completion bash)\n",
    .run = run,
};
