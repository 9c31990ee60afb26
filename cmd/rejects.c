/* rejects.c - count bad lines by cause. */
#include "rejects.h"

#include <stdlib.h>
#include <string.h>

#include <seen/cdx.h>

#include "command.h"
#include "../lib/text/number.h"

static struct cause *cause_of(struct rejects *r, const char *text)
{
    int i = 0;

    while (i < CAUSES - 1 && r->cause[i].count &&
           strcmp(r->cause[i].text, text))
        i++;
    if (!r->cause[i].count)
        snprintf(r->cause[i].text, sizeof r->cause[i].text, "%s",
                 i < CAUSES - 1 ? text : "other causes");
    return &r->cause[i];
}

void rejects_add(struct rejects *r, const char *input, uint64_t line,
                 const char *text)
{
    struct cause *c = cause_of(r, text);

    if (c->count < FIRST) {
        c->at[c->count].input = input;
        c->at[c->count].line = line;
    }
    c->count++;
    r->count++;
}

void rejects_keep(struct rejects *r, const char *text, size_t len)
{
    static const char mark[] = " [cut]";
    size_t marked = len > SEEN_LINE_TEXT ? sizeof mark - 1 : 0;
    char *to;

    if (marked)
        len = SEEN_LINE_TEXT;
    if (r->kept_room - r->kept_len < len + marked + 1) {
        size_t room = 2 * r->kept_room + len + marked + 1;
        char *more = realloc(r->kept, room);

        if (!more)
            return;
        r->kept = more;
        r->kept_room = room;
    }
    to = r->kept + r->kept_len;
    memcpy(to, text, len);
    memcpy(to + len, mark, marked);
    to[len + marked] = '\n';
    r->kept_len += len + marked + 1;
}

void rejects_fold(struct rejects *r, struct rejects *from, uint64_t before,
                  FILE *file)
{
    for (int i = 0; i < CAUSES; i++) {
        struct cause *c = &from->cause[i];

        for (uint64_t j = 0; j < c->count && j < FIRST; j++)
            rejects_add(r, c->at[j].input, before + c->at[j].line, c->text);
        if (c->count > FIRST) {
            cause_of(r, c->text)->count += c->count - FIRST;
            r->count += c->count - FIRST;
        }
    }
    if (file && from->kept_len)
        fwrite(from->kept, 1, from->kept_len, file);
    from->kept_len = 0;
    memset(from->cause, 0, sizeof from->cause);
    from->count = 0;
}

/* "line 17, 20, 41", or "a.txt line 17, b.txt line 3". */
static void places(const struct cause *c, char *text, size_t room)
{
    uint64_t n = c->count < FIRST ? c->count : FIRST;
    const char *last = NULL;
    size_t len = 0;

    for (uint64_t i = 0; i < n && len < room; i++) {
        const char *input = c->at[i].input;
        bool named = input && (!last || strcmp(input, last));

        len += (size_t)snprintf(text + len, room - len, "%s%s%s%s%llu",
                                i ? ", " : "", named ? input : "",
                                named ? " " : "", named || !i ? "line " : "",
                                (unsigned long long)c->at[i].line);
        last = input;
    }
    if (c->count > FIRST && len < room)
        snprintf(text + len, room - len, ", ...");
}

static void report_first(const struct rejects *r)
{
    const struct cause *c = &r->cause[0];

    if (c->at[0].input)
        trouble("%s line %llu: %s", c->at[0].input,
                (unsigned long long)c->at[0].line, c->text);
    else
        trouble("line %llu: %s", (unsigned long long)c->at[0].line, c->text);
}

void rejects_report(const struct rejects *r, bool strict)
{
    char text[1024];

    if (strict && r->count) {
        report_first(r);
        return;
    }
    for (int i = 0; i < CAUSES && r->cause[i].count; i++) {
        const struct cause *c = &r->cause[i];

        places(c, text, sizeof text);
        warning("%s line%s left out: %s (%s)", show_count(c->count),
                c->count == 1 ? "" : "s", c->text, text);
    }
}

void rejects_clear(struct rejects *r)
{
    free(r->kept);
    memset(r, 0, sizeof *r);
}
