/*
 * report.c - the findings as a page.
 *
 * Sections are kept, and the whole page is written again after each: whatever
 * happens to a later experiment, what was found before is there. Files are
 * composed in memory and replaced by renaming.
 *
 *     DIR/index.html    contents, summary, chapters by paper
 *     DIR/NAME.svg      figures
 *     DIR/NAME.tsv      tables, and the points of figures
 */
#include "report.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "../lib/disk/clock.h"
#include "../lib/disk/disk.h"
#include "../lib/disk/walk.h"
#include "draw.h"
#include "exact.h"
#include "page.h"

struct report {
    const char *folder;
    struct report_page page;
    bool complete; /* everything could be written so far */
    struct exact files; /* names that are in use */
};

/* --- files --- */

static void complain(struct report *r, const char *name, const char *what)
{
    fprintf(stderr, "seen: lab: %s/%s: %s\n", r->folder, name, what);
    r->complete = false;
}

/* Put a file in the place of an older one, whole or not at all, and clear the
   buffer; false after a message, with the reason in *why. */
static bool write_file(struct report *r, const char *name, struct buffer *b,
                       struct seen_error *why)
{
    char *path = b->failed ? NULL : walk_path(r->folder, name);
    enum seen_code code;

    if (!path)
        lab_fail("no memory for the report");
    code = disk_replace(path, b->bytes, b->len, why);
    free(path);
    buffer_clear(b);
    if (code != SEEN_OK)
        complain(r, name, why->text);
    return code == SEEN_OK;
}

/* --- tables and figures as files --- */

/* A cell of a TSV file, in which no tab or line end may be. */
static void put_plain(struct buffer *to, const char *text)
{
    for (; *text; text++)
        buffer_byte(to, (unsigned char)*text < 0x20 ? ' ' : *text);
}

static void put_table(struct buffer *to, const struct table *t)
{
    buffer_text(to, "# ");
    put_plain(to, t->title);
    for (size_t i = 0; i < t->columns; i++) {
        buffer_byte(to, i ? '\t' : '\n');
        put_plain(to, t->head[i]);
    }
    for (size_t i = 0; i < t->cells; i++) {
        buffer_byte(to, i % t->columns ? '\t' : '\n');
        put_plain(to, t->cell[i].text);
    }
    buffer_byte(to, '\n');
}

static void put_points(struct buffer *to, const struct plot *p)
{
    buffer_text(to, "# ");
    put_plain(to, p->title);
    buffer_text(to, "\nseries\tdrawn\t");
    put_plain(to, p->x);
    buffer_byte(to, '\t');
    put_plain(to, p->y);
    buffer_byte(to, '\n');
    for (size_t i = 0; i < p->count; i++)
        for (size_t j = 0; j < p->series[i].points; j++) {
            put_plain(to, series_title(p, i));
            buffer_format(to, "\t%s\t%.10g\t%.10g\n",
                          style_word(p->series[i].style),
                          p->series[i].point[j].x, p->series[i].point[j].y);
        }
}

static void write_tsv(struct report *r, const struct part *part)
{
    const char *base = part->table ? part->table->name : part->plot->points;
    struct buffer b = { .bytes = NULL };
    struct seen_error why;
    char name[NAME_MAX];

    if (part->table)
        put_table(&b, part->table);
    else
        put_points(&b, part->plot);
    snprintf(name, sizeof name, "%s.tsv", base);
    write_file(r, name, &b, &why);
}

static void write_svg(struct report *r, struct plot *p)
{
    struct buffer svg = { .bytes = NULL };
    struct seen_error why;
    char name[NAME_MAX];

    snprintf(name, sizeof name, "%s.svg", p->name);
    if (!draw_plot(p, &svg, &p->failed))
        complain(r, name, p->failed ? p->failed : "no memory");
    else if (!write_file(r, name, &svg, &why))
        p->failed = strdup(why.text);
    else
        return;
    if (!p->failed)
        lab_fail("no memory for the report");
}

/* --- the report --- */

/* Is there an index.html that is not ours? */
static bool foreign(const char *folder)
{
    char path[PATH_MAX], begin[4096];
    FILE *file;
    size_t n;

    if (snprintf(path, sizeof path, "%s/index.html", folder) >= PATH_MAX)
        return false;
    file = fopen(path, "re");
    if (!file)
        return false;
    n = fread(begin, 1, sizeof begin - 1, file);
    begin[n] = '\0';
    fclose(file);
    return !strstr(begin, "<title>seen lab");
}

struct report *report_open(const char *folder, const struct lab *lab,
                           unsigned count)
{
    struct report *r = lab_memory(1, sizeof *r);

    if (mkdir(folder, 0777) && errno != EEXIST) {
        fprintf(stderr, "seen: lab: %s: %s\n", folder, strerror(errno));
        free(r);
        return NULL;
    }
    if (foreign(folder)) {
        fprintf(stderr,
                "seen: lab: %s/index.html: is not a report of seen lab; not "
                "replaced\n",
                folder);
        free(r);
        return NULL;
    }
    r->folder = folder;
    r->complete = true;
    r->page.lab = lab;
    r->page.count = count;
    r->page.section = lab_memory(count, sizeof *r->page.section);
    r->page.begin = clock_seconds();
    r->files.way = HASHED;
    return r;
}

/* --- names of files --- */

/* A name that no file with this ending has in the report yet: `name`, or
   `name`-2, -3 and so on; it belongs to the caller. */
static char *name_apart(struct report *r, const char *name, const char *ending)
{
    char base[NAME_MAX - 32], file[NAME_MAX], *own;
    int i = 1;

    snprintf(base, sizeof base, "%.150s", name);
    snprintf(file, sizeof file, "%s%s", base, ending);
    while (!exact_add(&r->files, file, strlen(file))) {
        snprintf(base, sizeof base, "%.150s-%d", name, ++i);
        snprintf(file, sizeof file, "%s%s", base, ending);
    }
    own = strdup(base);
    if (!own)
        lab_fail("no memory for the report");
    return own;
}

/* Two tables, or two figures, must not share a file. */
static void name_part(struct report *r, struct part *p)
{
    char **name = p->table ? &p->table->name : &p->plot->name, *was = *name;

    *name = name_apart(r, was, p->table ? ".tsv" : ".svg");
    if (p->plot)
        p->plot->points = name_apart(r, was, ".tsv");
    free(was);
}

bool report_add(struct report *r, struct section *s)
{
    bool was = r->complete, good;
    struct buffer page = { .bytes = NULL };
    struct seen_error why;

    r->complete = true;
    r->page.section[r->page.sections++] = s;
    for (size_t i = 0; i < s->parts; i++) {
        struct part *p = &s->part[i];

        if (p->table || p->plot) {
            name_part(r, p);
            write_tsv(r, p);
        }
        if (p->plot)
            write_svg(r, p->plot);
    }
    page_write(&r->page, &page);
    write_file(r, "index.html", &page, &why);
    good = r->complete;
    r->complete = was && good;
    return good;
}

bool report_close(struct report *r)
{
    bool good = r->complete;

    for (size_t i = 0; i < r->page.sections; i++)
        section_free(r->page.section[i]);
    exact_clear(&r->files);
    free(r->page.section);
    free(r);
    return good;
}
