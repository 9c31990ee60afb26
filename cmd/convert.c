/*
 * convert.c - seen convert: a filter in another form.
 *
 *     $ seen convert haw.seen -o haw.csv
 *     $ seen convert haw.csv -o haw.seen
 *
 * The first bytes of IN decide its form; the form of OUT follows from its name
 * or from --to.
 */
#include "command.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include <seen/kind.h>
#include <seen/share.h>

#include "../lib/disk/disk.h"
#include "../lib/text/number.h"
#include "access.h"
#include "input.h"
#include "json.h"
#include "secret.h"

struct convert {
    const char *output, *to, *kind, *keyed;
    uint64_t capacity; /* 0: not given */
    double rate;       /* 0: not given */
    bool json, quiet;

    unsigned char secret[SEEN_SECRET];
};

static const struct option options[] = {
    { "output", 'o', PATH, "OUT", offsetof(struct convert, output),
      "write to this file, which is replaced; - is standard output" },
    { "to", 0, TEXT, "seen|text|orestes", offsetof(struct convert, to),
      "the form of OUT, if its name does not say it" },
    { "kind", 'k', TEXT, "KIND", offsetof(struct convert, kind),
      "convert it to this kind, if that gives the same answers; growing/... "
      "for a second generation; or any kind, if IN keeps its keys" },
    { "rate", 0, RATE, "RATE", offsetof(struct convert, rate),
      "build it anew with this rate, if IN keeps its keys" },
    { "capacity", 0, COUNT, "N", offsetof(struct convert, capacity),
      "build it anew for N distinct URLs, if IN keeps its keys; default: as "
      "many as it has, and 2 %" },
    { "keyed", 0, PATH, "KEYFILE", offsetof(struct convert, keyed),
      "the key of a keyed filter that is built anew" },
    JSON_OPTION(struct convert, json,
                "print the report as a JSON object on standard output"),
    QUIET_OPTION(struct convert, quiet),
    { .name = NULL }
};

/* --- the forms -------------------------------------------------------- */

static enum seen_code load_seen(struct seen_filter **out, const char *path,
                                struct seen_error *why)
{
    return seen_store_load(out, path, NULL, why);
}

static enum seen_code load_text(struct seen_filter **out, const char *path,
                                struct seen_error *why)
{
    return seen_csv_load(out, path, NULL, why);
}

/* A form by its name, the end of its files' names, and how they begin. */
static const struct convert_form {
    const char *name, *suffix, *says;
    const char *begins;
    enum seen_code (*load)(struct seen_filter **out, const char *path,
                           struct seen_error *why);
    enum seen_code (*save)(const struct seen_filter *f, const char *path,
                           struct seen_error *why);
    enum seen_code (*write)(const struct seen_filter *f, int fd,
                            struct seen_error *why);
} forms[] = {
    { "seen", ".seen", "filter", "\x89seen\r\n", load_seen, seen_store_save,
      NULL },
    { "text", ".csv", "text form", "seen,", load_text, seen_csv_save,
      seen_csv_write },
    { "orestes", ".json", "Orestes JSON", "{", seen_orestes_load,
      seen_orestes_save, seen_orestes_write },
};
enum { FORMS = sizeof forms / sizeof forms[0] };

/* A filter on a server: its address says so, no bytes and no ending. */
static const struct convert_form remote_form = { .name = "remote",
                                                 .says = "filter",
                                                 .load = access_load,
                                                 .save = access_save };

/* The form of a file, by its first bytes after white space; NULL: none. */
static const struct convert_form *form_of(const struct input *in)
{
    char text[64] = "";
    int fd = open(in->path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
    const char *at = text + strspn(text, " \t\r\n");

    if (n < 0)
        trouble("%s: cannot be %s: %s", in->name, fd < 0 ? "opened" : "read",
                strerror(errno));
    if (fd >= 0)
        close(fd);
    if (n < 0)
        return NULL;
    for (int i = 0; i < FORMS; i++)
        if (!strncmp(*forms[i].begins == '{' ? at : text, forms[i].begins,
                     strlen(forms[i].begins)))
            return &forms[i];
    trouble("%s: neither a filter, nor the text form of one, nor the JSON of "
            "Orestes",
            in->name);
    return NULL;
}

/* The form of OUT, by --to or by its name. */
static const struct convert_form *form_for(const struct convert *c)
{
    size_t len = strlen(c->output);

    if (access_is_remote(c->output) && !c->to)
        return &remote_form;
    for (int i = 0; i < FORMS; i++) {
        size_t end = strlen(forms[i].suffix);

        if (c->to ? !strcmp(c->to, forms[i].name)
                  : len > end &&
                        !strcasecmp(c->output + len - end, forms[i].suffix))
            return &forms[i];
    }
    trouble(
        "%s: unknown form; end the name with .seen, .csv or .json, or give "
        "--to",
        c->output);
    return NULL;
}

/* --- the work --------------------------------------------------------- */

static bool to_stdout(const struct convert *c)
{
    return !strcmp(c->output, "-");
}

static void report(const struct convert *c, const char *in,
                   const struct convert_form *from,
                   const struct convert_form *to, const struct seen_filter *f,
                   double planned)
{
    const char *out = to_stdout(c) ? "standard output" : c->output;
    struct stat it = { .st_size = 0 };

    if (to == &remote_form)
        it.st_size = (off_t)seen_filter_bytes(f);
    else if (!to_stdout(c))
        stat(c->output, &it);
    if (c->json) {
        cmd_json_open(NULL, '{');
        cmd_json_word("output", c->output);
        cmd_json_word("form", to->name);
        cmd_json_word("input", in);
        cmd_json_word("input_form", from->name);
        cmd_json_word("kind", seen_filter_plan(f)->kind);
        cmd_json_count("bytes", (uint64_t)it.st_size);
        cmd_json_shut('}');
    } else if (!c->quiet && to_stdout(c)) {
        warning("%s: %s of %s", out, to->says, in);
    } else if (!c->quiet) {
        warning("%s: %s of %s, %s", out, to->says, in,
                show_bytes((uint64_t)it.st_size));
    }
    if (!c->quiet && !c->json && seen_filter_planned(f) > planned)
        warning("%s: planned rate %s, before %s", out,
                show_rate(seen_filter_planned(f)), show_rate(planned));
}

static enum outcome save(const struct convert *c, const char *in,
                         const struct convert_form *to,
                         const struct seen_filter *f)
{
    struct seen_error why;
    enum seen_code code = to_stdout(c) ? to->write(f, STDOUT_FILENO, &why)
                                       : to->save(f, c->output, &why);

    if (code == SEEN_IO && to_stdout(c) && why.system == EPIPE)
        return YES;
    if (code == SEEN_UNABLE || code == SEEN_CORRUPT)
        return trouble_with(in, &why); /* it is not OUT that is wrong */
    if (code != SEEN_OK)
        return trouble_with(to_stdout(c) ? "standard output" : c->output,
                            &why);
    return YES;
}

/* --- anew from the keys ------------------------------------------------- */

/* Metadata of the old filter; the new one has no log. */
static enum seen_code copy_meta(struct seen_filter *to,
                                const struct seen_filter *from,
                                struct seen_error *why)
{
    const char *name, *value;
    enum seen_code code = SEEN_OK;

    for (size_t i = 0; code == SEEN_OK && seen_meta_at(from, i, &name, &value);
         i++)
        if (strcmp(name, "keys-log") != 0)
            code = seen_meta_set(to, name, value, why);
    return code;
}

static enum seen_code plan_anew(const struct convert *c,
                                const struct seen_filter *f,
                                struct seen_plan *plan, struct seen_error *why)
{
    const struct seen_plan *old = seen_filter_plan(f);
    const char *kind = c->kind ? c->kind : old->kind;

    if (strlen(kind) >= sizeof plan->kind)
        return seen_fail(why, SEEN_RANGE, 0, "--kind is too long");
    *plan = (struct seen_plan){ .rate = c->rate > 0 ? c->rate : old->rate,
                                .seed = old->seed,
                                .keys = old->keys };
    strcpy(plan->kind, kind);
    strcpy(plan->profile, old->profile);
    if (c->capacity)
        plan->capacity = c->capacity;
    else if (!seen_kind_can(kind, SEEN_SIZES_ITSELF))
        plan->capacity = 1 + (uint64_t)(1.02 * seen_filter_entries(f));
    return SEEN_OK;
}

/* Any kind, rate and capacity, of a filter that keeps its keys. */
static enum seen_code build_anew(const struct convert *c, const char *path,
                                 const struct seen_filter *f,
                                 struct seen_filter **out,
                                 struct seen_error *why)
{
    const bool keyed = seen_filter_plan(f)->keyed;
    const struct seen_access access = { .secret = keyed ? c->secret : NULL };
    struct seen_filter *writer = NULL;
    struct seen_plan plan;
    enum seen_code code = plan_anew(c, f, &plan, why);

    if (code == SEEN_OK && keyed && !c->keyed)
        code = seen_fail(why, SEEN_MISMATCH, 0,
                         "is keyed: to build it anew takes --keyed");
    if (code == SEEN_OK)
        code = seen_store_open(&writer, path, &access, why);
    if (code == SEEN_OK)
        code = seen_store_rebuild(writer, &plan, out, why);
    if (code == SEEN_OK)
        code = copy_meta(*out, f, why);
    seen_filter_free(writer);
    return code;
}

/* The same answers if that gives the kind, or else anew from the keys. */
static enum seen_code other_kind(const struct convert *c, const char *path,
                                 const struct seen_filter *f,
                                 struct seen_filter **out,
                                 struct seen_error *why)
{
    const bool anew = c->capacity || c->rate > 0;
    enum seen_code code;

    if (anew && !path)
        return seen_fail(why, SEEN_UNABLE, 0,
                         "a filter on a server keeps no keys");
    if (anew)
        return build_anew(c, path, f, out, why);
    code = c->kind ? seen_filter_recast(out, f, c->kind, why) : SEEN_OK;
    return code != SEEN_OK && path && seen_store_keeps(f)
               ? build_anew(c, path, f, out, why)
               : code;
}

static enum outcome convert(const struct convert *c, struct input *input,
                            const struct convert_form *to)
{
    const struct convert_form *from = input->path ? form_of(input)
                                                  : &remote_form;
    const char *in = input->name;
    struct seen_filter *f, *other = NULL;
    struct seen_error why;
    enum seen_code code;
    enum outcome out = YES;

    if (!from)
        return TROUBLE;
    code = from->load(&f, input->path ? input->path : in, &why);
    if (code == SEEN_OK && other_kind(c, input->path, f, &other, &why))
        out = trouble_with(in, &why);
    if (input->path)
        input_close(input); /* a copy has done its duty */
    if (code != SEEN_OK)
        return trouble_with(in, &why);
    if (out == YES)
        out = save(c, in, to, other ? other : f);
    if (out == YES)
        report(c, in, from, to, other ? other : f, seen_filter_planned(f));
    seen_filter_free(other);
    seen_filter_free(f);
    return out;
}

static enum outcome run(void *settings, char **operand)
{
    struct convert *c = settings;
    const char *path = *operand;
    const struct convert_form *to;
    struct input in;
    enum outcome out;

    if (!c->output)
        return trouble("-o OUT is missing; usage: seen convert %s",
                       cmd_convert.synopsis);
    to = form_for(c);
    if (!to || (c->keyed && !secret_read(c->keyed, c->secret)))
        return TROUBLE;
    if (to_stdout(c) && !to->write)
        return trouble("-o -: a filter is binary; give --to text or --to "
                       "orestes");
    if (to_stdout(c) && c->json)
        return trouble("--json and -o - would both write to standard output");
    if (disk_same_file(path, c->output))
        return trouble("%s: is the input, too; give another name", c->output);
    if (access_is_remote(path)) {
        in = (struct input){ .name = path };
        return convert(c, &in, to);
    }
    if (!input_open(&in, path))
        return TROUBLE;
    out = convert(c, &in, to);
    input_close(&in);
    return out;
}

const struct command cmd_convert = {
    .name = "convert",
    .summary = "turn a filter into text and back",
    .synopsis = "IN -o OUT",
    .operands = 1,
    .most = 1,
    .filters = 1,
    .settings = sizeof(struct convert),
    .options = options,
    .about =
        "Writes the filter IN in another form. The first bytes of IN decide "
        "its form; the form of OUT follows from its name or from --to. IN may "
        "be - for standard input, or a pipe, which is first copied to a "
        "temporary file in $TMPDIR or /tmp.\n"
        "\n"
        "seen (.seen): the file that all other commands use.\n"
        "\n"
        "text (.csv): text/csv that a person can open and a script can read: "
        "rows of name,value with plan, counts and metadata, then the cells in "
        "base64. Nothing is lost, for any kind: converted back, it gives the "
        "same file, byte for byte. Its second line is the SHA-256 of all "
        "others; sed 2d OUT | sha256sum verifies it.\n"
        "\n"
        "orestes (.json): {\"m\", \"h\", \"b\"}, the JSON of the library "
        "Orestes, which is read as a bloom:orestes of profile raw. Only such a "
        "filter can be written in this form, without its metadata.\n"
        "\n"
        "--kind also converts it to another kind, if that gives the same "
        "answers: counting becomes bloom, also inside others "
        "(routed:16/counting:4 becomes routed:16/bloom), and a growing, "
        "dynamic or spatial filter of one part becomes that part. Others must "
        "be built again from their source.\n"
        "\n"
        "A filter that seen add made keeps its keys. Of them --kind, --rate "
        "and --capacity build any filter without the URLs: for example a "
        "ribbon, which is smaller, to publish. OUT has no keys.\n"
        "\n"
        "--kind growing/... gives a filter that is full a second generation: "
        "bloom becomes growing/bloom, and routed:16/bloom becomes "
        "routed:16/growing/bloom or growing/routed:16/bloom. The old filter is "
        "the first part, with the same cells, so nothing that was seen becomes "
        "new, and seen add works again. The later parts together may err as "
        "often as the first: the planned rate is twice the old one.\n"
        "\n"
        "IN and OUT may be addresses of filters in Redis, such as "
        "redis://HOST:PORT/NAME: see doc/remote.md. The cells stay the same, "
        "byte for byte. A copy that was stopped is continued by the same "
        "command.\n"
        "\n"
        "Keyed filters are converted without their key.\n",
    .exits = "0 if OUT was written, 2 if not; OUT is then unchanged.",
    .examples =
        "$ seen convert haw.seen -o haw.csv\n"
        "$ sed 2d haw.csv | sha256sum\n"
        "$ seen convert haw.csv -o copy.seen\n"
        "$ seen convert haw.seen -o - --to text | gzip >haw.csv.gz\n"
        "$ zcat haw.csv.gz | seen convert - -o copy.seen\n"
        "$ seen convert full.seen --kind growing/blocked -o next.seen\n"
        "$ seen add next.seen -i new-urls.txt\n"
        "$ seen convert grown.seen --kind ribbon --rate 0.1% -o small.seen\n",
    .run = run,
};
