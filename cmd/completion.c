/*
 * completion.c - completion for bash and zsh: commands, options, the choices
 * of an option, kinds of filter, and files where a file is meant.
 */
#include "command.h"

#include <string.h>

#include <seen/kind.h>

#include "output.h"

/* What a KIND begins with; more is typed behind a colon or a slash. */
/* Kinds that can stand as they are, or what those begin with that cannot. */
static void kinds(bool whole)
{
    struct seen_kind_entry kind;

    for (unsigned i = 0; seen_kind_list(i, &kind); i++) {
        char next = kind.synopsis[strlen(kind.name)];

        if (next != ':')
            next = strchr(kind.synopsis, '/') ? '/' : ' ';
        if (whole == (next == ' '))
            output_format(" %s%.1s", kind.name, whole ? "" : &next);
    }
}

static bool is_kind(const struct option *o)
{
    return o->takes == TEXT && !strcmp(o->arg, "KIND");
}

static bool is_profile(const struct option *o)
{
    return o->takes == TEXT && !strcmp(o->name, "profile");
}

static bool is_choice(const struct option *o)
{
    return is_profile(o) || o->takes == WORD_OR_NONE ||
           (o->takes == TEXT && strchr(o->arg, '|'));
}

static bool is_file(const struct option *o)
{
    return o->takes == PATH || o->takes == PATHS;
}

/* "new|seen" as "new seen", and the names of profiles. */
static void choices(const struct option *o)
{
    struct seen_profile_entry profile;

    for (unsigned i = 0; is_profile(o) && seen_profile_list(i, &profile); i++)
        output_format("%s%s", i ? " " : "", profile.name);
    for (const char *at = o->arg; !is_profile(o) && *at; at++)
        output_bytes(*at == '|' ? " " : at, 1);
}

static bool wants_command(const struct command *cmd)
{
    return strstr(cmd->synopsis, "COMMAND") != NULL;
}

/* --- bash --- */

/* After the options that take a value: which values there are. */
static void bash_values(const struct command *cmd)
{
    for (const struct option *o = cmd->options; o->name; o++) {
        if (o->takes == FLAG || !o->help)
            continue;
        output_format("    %s/--%s", cmd->name, o->name);
        if (o->letter)
            output_format("|%s/-%c", cmd->name, o->letter);
        output_text(") ");
        if (is_choice(o)) {
            output_text("_seen_words \"");
            choices(o);
            output_text("\"; return ;;\n");
        } else if (is_kind(o)) {
            output_text("_seen_kinds; return ;;\n");
        } else {
            output_text(is_file(o) ? "_seen_files; return ;;\n"
                                   : "return ;;\n");
        }
    }
}

static void bash(void)
{
    output_text(
        "# bash completion for seen; from: seen help --completion bash\n"
        "_seen_words()\n"
        "{\n"
        "    mapfile -t COMPREPLY < <(compgen -W \"$1\" -- \"$cur\")\n"
        "}\n\n"
        "_seen_files()\n"
        "{\n"
        "    compopt -o filenames 2>/dev/null\n"
        "    mapfile -t COMPREPLY < <(compgen -f -- \"$cur\")\n"
        "}\n\n"
        "# The kind after the last slash; a space ends only whole ones.\n"
        "_seen_kinds()\n"
        "{\n"
        "    local name=${cur##*/}\n"
        "    mapfile -t COMPREPLY < <(compgen -P \"${cur%\"$name\"}\" \\\n"
        "        -W \"");
    kinds(true);
    kinds(false);
    output_text(
        "\" -- \"$name\")\n"
        "    if [[ ${COMPREPLY[0]-} == *[:/] ]]; then\n"
        "        compopt -o nospace 2>/dev/null\n"
        "    fi\n"
        "}\n\n"
        "_seen()\n"
        "{\n"
        "    local cur=${COMP_WORDS[COMP_CWORD]} last=$((COMP_CWORD - 1))\n"
        "    local command=${COMP_WORDS[1]} commands=\"");
    for (int i = 0; commands[i]; i++)
        output_format("%s%s", i ? " " : "", commands[i]->name);
    output_text("\"\n\n"
                "    COMPREPLY=()\n"
                "    if ((COMP_CWORD == 1)); then\n"
                "        _seen_words \"$commands\"\n"
                "        return\n"
                "    fi\n"
                "    # --name=value comes in three words.\n"
                "    if [[ $cur == = ]]; then\n"
                "        cur=\n"
                "    elif [[ ${COMP_WORDS[last]} == = ]]; then\n"
                "        ((last--))\n"
                "    fi\n"
                "    case $command/${COMP_WORDS[last]} in\n");
    for (int i = 0; commands[i]; i++)
        bash_values(commands[i]);
    output_text("    esac\n"
                "    case $command/$cur in\n");
    for (int i = 0; commands[i]; i++) {
        output_format("    %s/-*) _seen_words \"", commands[i]->name);
        for (const struct option *o = commands[i]->options; o->name; o++)
            if (o->help)
                output_format("--%s ", o->name);
        output_text("--help\" ;;\n");
    }
    for (int i = 0; commands[i]; i++)
        if (wants_command(commands[i]))
            output_format("    %s/*) _seen_words \"$commands\" ;;\n",
                          commands[i]->name);
    output_text("    *) _seen_files ;;\n"
                "    esac\n"
                "}\n"
                "complete -F _seen seen\n");
}

/* --- zsh --- */

/* Inside '...[...]': quotes, brackets and colons mean something. */
static void zsh_text(const char *text)
{
    for (; *text; text++) {
        if (*text == '\'')
            output_text("'\\''");
        else if (strchr("[]:\\", *text))
            output_format("\\%c", *text);
        else
            output_bytes(text, 1);
    }
}

static void zsh_option(const struct option *o)
{
    bool many = o->takes == TEXTS || o->takes == PATHS;

    output_text("        ");
    if (o->letter)
        output_format("'%s'{-%c,--%s}'[", many ? "*" : "", o->letter, o->name);
    else
        output_format("'%s--%s[", many ? "*" : "", o->name);
    zsh_text(o->help);
    output_text("]");
    if (o->arg) {
        output_text(o->takes == WORD_OR_NONE ? "::" : ":");
        zsh_text(o->arg);
        output_text(":");
        if (is_choice(o)) {
            output_text("(");
            choices(o);
            output_text(")");
        } else if (is_kind(o)) {
            output_text("_seen_kinds");
        } else if (is_file(o)) {
            output_text("_files");
        }
    }
    output_text("' \\\n");
}

static void zsh(void)
{
    output_text("#compdef seen\n"
                "# zsh completion for seen; from: seen help --completion zsh\n"
                "_seen()\n"
                "{\n"
                "    local -a commands=(\n");
    for (int i = 0; commands[i]; i++) {
        output_format("        '%s:", commands[i]->name);
        zsh_text(commands[i]->summary);
        output_text("'\n");
    }
    output_text("    )\n\n"
                "    if ((CURRENT == 2)); then\n"
                "        _describe command commands\n"
                "        return\n"
                "    fi\n"
                "    local command=$words[2]\n"
                "    shift words\n"
                "    ((CURRENT--))\n"
                "    case $command in\n");
    for (int i = 0; commands[i]; i++) {
        output_format("    %s)\n        _arguments \\\n", commands[i]->name);
        for (const struct option *o = commands[i]->options; o->name; o++)
            if (o->help)
                zsh_option(o);
        output_text("        '(-h --help)'{-h,--help}'[print help]' \\\n");
        output_text(wants_command(commands[i])
                        ? "        ':command:_seen_commands'\n"
                        : "        '*:file:_files'\n");
        output_text("        ;;\n");
    }
    output_text("    esac\n"
                "}\n\n"
                "_seen_commands()\n"
                "{\n"
                "    compadd");
    for (int i = 0; commands[i]; i++)
        output_format(" %s", commands[i]->name);
    output_text("\n}\n\n"
                "_seen_kinds()\n"
                "{\n"
                "    compset -P '*/'\n"
                "    compadd");
    kinds(true);
    output_text("\n"
                "    compadd -S ''");
    kinds(false);
    output_text("\n"
                "}\n\n"
                "if [[ $funcstack[1] == _seen ]]; then\n"
                "    _seen \"$@\"\n"
                "else\n"
                "    compdef _seen seen\n"
                "fi\n");
}

void help_completion(const char *shell)
{
    if (!strcmp(shell, "bash"))
        bash();
    else
        zsh();
}
