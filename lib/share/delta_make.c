/*
 * delta_make.c - what changed from one version of a file to the next.
 *
 * Both files are read twice, in blocks of 64 KiB: once to count exactly how
 * many bits each coding takes, and once to write the smallest. So making a
 * delta takes a few hundred kilobytes of memory, whatever the size of the
 * files. (Blocks are read, not mapped: if another program truncates a file
 * meanwhile, that is an error and not a SIGBUS.)
 *
 * Which coding is smallest? If bits changed at random all over a `bloom`,
 * gaps between cells are best. A key of a `blocked` filter changes up to 16
 * bits of one line, so the gap to the line is written once. If most counters
 * of a line changed, the line itself is written. Bytes of changes, for
 * filters of 1,000,000 URLs (1.4 MB at a rate of 1 %) to which more are
 * added:
 *
 *                   more URLs    by cell    by line    in lines
 *     bloom             0.1 %      6,266    228,271       6,775
 *                         1 %     46,456  1,176,890      49,388
 *                        10 %    298,677  1,441,786     311,731
 *     blocked           0.1 %      5,993     63,650       4,781
 *                         1 %     44,785    522,903      42,208
 *                        10 %    292,437  1,471,966     303,293
 */
#include <seen/share.h>

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../disk/disk.h"
#include "../store/paths.h"
#include "../store/cells.h"
#include "../store/text.h"
#include "delta.h"
#include "rice.h"

/* A changed line: which of its cells changed, and their steps. */
struct delta_line {
    uint64_t number;
    const unsigned char *bytes; /* of the new version */
    size_t len;                 /* 64, the last line may be shorter */
    unsigned n;
    uint16_t cell[8 * DELTA_LINE];
    uint64_t step[8 * DELTA_LINE];
};

/* A pass counts the bits of all changed lines, or writes them. */
struct delta_pass {
    struct delta *delta;
    uint64_t cell, line; /* where the next gap begins */

    /* A pass that counts has no writer. */
    struct rice_counts gap, line_gap, many, within, step;
    uint64_t lines, line_bits;

    struct rice_writer *to;
};

/* --- the two things to do with a line ---------------------------------- */

static void count_line(struct delta_pass *p, const struct delta_line *l)
{
    const unsigned width = p->delta->width;
    const uint64_t first = l->number * (8 * DELTA_LINE / width);
    unsigned next = 0;

    p->lines++;
    p->line_bits += 8 * l->len;
    rice_count(&p->line_gap, l->number - p->line);
    rice_count(&p->many, l->n - 1);
    for (unsigned i = 0; i < l->n; i++) {
        rice_count(&p->gap, first + l->cell[i] - p->cell);
        rice_count(&p->within, l->cell[i] - next);
        if (width > 1)
            rice_count(&p->step, l->step[i]);
        p->cell = first + l->cell[i] + 1;
        next = l->cell[i] + 1U;
    }
    p->line = l->number + 1;
}

static void write_line(struct delta_pass *p, const struct delta_line *l)
{
    const struct delta *d = p->delta;
    const uint64_t first = l->number * (8 * DELTA_LINE / d->width);
    unsigned next = 0;

    if (d->coding != BY_CELL)
        rice_put(p->to, l->number - p->line, d->gap);
    if (d->coding == IN_LINES)
        rice_put(p->to, l->n - 1, d->many);
    for (unsigned i = 0; i < l->n && d->coding != BY_LINE; i++) {
        if (d->coding == BY_CELL)
            rice_put(p->to, first + l->cell[i] - p->cell, d->gap);
        else
            rice_put(p->to, l->cell[i] - next, d->within);
        if (d->width > 1)
            rice_put(p->to, l->step[i], d->step);
        p->cell = first + l->cell[i] + 1;
        next = l->cell[i] + 1U;
    }
    for (size_t i = 0; i < l->len && d->coding == BY_LINE; i++)
        rice_bits(p->to, l->bytes[i], 8);
    p->line = l->number + 1;
}

/* --- a pass over both files --------------------------------------------- */

/* Find changed bits one word at a time, changed counters one by one. */
static void find_bits(struct delta_line *l, const unsigned char *old)
{
    for (size_t i = 0; i < l->len; i += 8) {
        size_t some = l->len - i < 8 ? l->len - i : 8;
        uint64_t a = 0, b = 0;

        memcpy(&a, old + i, some);
        memcpy(&b, l->bytes + i, some);
        for (a ^= b; a; a &= a - 1)
            l->cell[l->n++] = (uint16_t)(8 * i + (size_t)__builtin_ctzll(a));
    }
}

static void find_counters(struct delta_line *l, const unsigned char *old,
                          unsigned width)
{
    for (unsigned i = 0; i < 8 * l->len / width; i++) {
        uint64_t a = cell_get(old, i, width);
        uint64_t b = cell_get(l->bytes, i, width);

        if (a == b)
            continue;
        l->step[l->n] = step_of(a, b, width);
        l->cell[l->n++] = (uint16_t)i;
    }
}

/* Find all lines in which two blocks differ. */
static void compare(struct delta_pass *p, uint64_t number,
                    const unsigned char *old, const unsigned char *new,
                    size_t len)
{
    struct delta_line l;

    for (size_t at = 0; at < len; at += DELTA_LINE, number++) {
        l.number = number;
        l.bytes = new + at;
        l.len = len - at < DELTA_LINE ? len - at : DELTA_LINE;
        l.n = 0;
        if (!memcmp(old + at, l.bytes, l.len))
            continue;
        if (p->delta->width == 1)
            find_bits(&l, old + at);
        else
            find_counters(&l, old + at, p->delta->width);
        if (p->to)
            write_line(p, &l);
        else
            count_line(p, &l);
    }
}

/* An open version: its file, everything before its cells, and its plan. */
struct delta_side {
    int fd;
    struct store_front front;
    struct seen_filter *plan;
    unsigned char block[BLOCK];
};

static enum seen_code walk(struct delta_pass *p, struct delta_side *from,
                           struct delta_side *to, struct seen_error *why)
{
    const struct store_head *h = &to->front.head;
    uint64_t old_at = from->front.head.cells_at;
    enum seen_code code = SEEN_OK;

    for (uint64_t at = 0; at < h->cells_len && code == SEEN_OK; at += BLOCK) {
        uint64_t left = h->cells_len - at;
        size_t len = left < BLOCK ? (size_t)left : BLOCK;

        code = disk_read(from->fd, from->block, len, old_at + at, why);
        if (code == SEEN_OK)
            code = disk_read(to->fd, to->block, len, h->cells_at + at, why);
        if (code == SEEN_OK && memcmp(from->block, to->block, len))
            compare(p, at / DELTA_LINE, from->block, to->block, len);
    }
    return code;
}

/* --- which coding ------------------------------------------------------- */

/* Count the bits of all codings and choose the smallest. */
static enum seen_code choose(struct delta *d, struct delta_side *from,
                             struct delta_side *to, struct seen_error *why)
{
    struct delta_pass p = { .delta = d };
    enum seen_code code = walk(&p, from, to, why);
    uint64_t cells, steps, lines, many, within;
    unsigned char gap, line_gap;

    if (code != SEEN_OK)
        return code;
    gap = (unsigned char)rice_best(&p.gap, &cells);
    line_gap = (unsigned char)rice_best(&p.line_gap, &lines);
    d->step = (unsigned char)rice_best(&p.step, &steps);
    d->many = (unsigned char)rice_best(&p.many, &many);
    d->within = (unsigned char)rice_best(&p.within, &within);

    d->coding = BY_CELL;
    d->count = p.gap.n;
    d->gap = gap;
    d->bits = cells + steps;
    if (lines + p.line_bits < d->bits) {
        d->coding = BY_LINE;
        d->bits = lines + p.line_bits;
    }
    if (lines + many + within + steps < d->bits) {
        d->coding = IN_LINES;
        d->bits = lines + many + within + steps;
    }
    if (d->coding != BY_CELL) {
        d->count = p.lines;
        d->gap = line_gap;
    }
    d->length = delta_length(&to->front.head, d->bits);
    if (d->length >= d->to.length)
        return seen_fail(why, SEEN_UNABLE, 0,
                         "so much changed that a delta would not be smaller "
                         "than the file");
    return SEEN_OK;
}

/* --- the two files ------------------------------------------------------ */

static enum seen_code side_open(struct delta_side *s, const char *path,
                                struct delta_version *version,
                                struct seen_error *why)
{
    enum seen_code code = seen_digest_file(path, version->digest,
                                           &version->length, why);

    if (code != SEEN_OK)
        return code;
    s->fd = open(path, O_RDONLY | O_CLOEXEC);
    if (s->fd < 0)
        return seen_fail(why, SEEN_IO, 0, "cannot be opened");
    code = store_front_read(&s->front, s->fd, why);
    if (code == SEEN_OK && s->front.head.state != SEALED)
        code = seen_fail(why, SEEN_UNABLE, 0,
                         "a writer has it open, or was killed");
    if (code == SEEN_OK)
        code = store_plan_read(&s->plan, &s->front, NULL, why);
    return code;
}

/* A delta has one head for both of the new file. */
static enum seen_code check_heads(const struct delta_side *to,
                                  struct seen_error *why)
{
    const uint64_t second = store_head_second(&to->front.head);
    unsigned char bytes[HEAD];
    enum seen_code code = SEEN_OK;

    if (second)
        code = disk_read(to->fd, bytes, HEAD, second, why);
    if (code == SEEN_OK && second && memcmp(bytes, to->front.bytes, HEAD))
        code = seen_fail(why, SEEN_UNABLE, 0,
                         "one of its two heads is damaged");
    return code;
}

static void side_close(struct delta_side *s)
{
    int system = errno;

    if (!s)
        return;
    seen_filter_free(s->plan);
    store_front_clear(&s->front);
    if (s->fd >= 0)
        close(s->fd);
    free(s);
    errno = system;
}

/* The length of the plan in a text; metadata follows it. */
static size_t plan_len(const char *text)
{
    const char *line = text;

    while (*line && store_text_taken(line, strcspn(line, "=\n")))
        line += strcspn(line, "\n") + 1;
    return (size_t)(line - text);
}

/* The width of the cells if all leaves have the same, or 1: cells of any width
   can be compared as bits. 0 if a leaf cannot be changed cell by cell. */
static unsigned width_of(const struct seen_filter *f)
{
    unsigned width = f->cell_bits;

    if (f->traits & SEEN_BUILT_ONCE)
        return 0;
    if (!f->kind->combines)
        return width == 4 || width == 8 || width == 16 || width == 32 ? width
                                                                      : 1;
    width = 1;
    for (unsigned i = 0; i < f->parts; i++) {
        unsigned w = width_of(f->part[i]);

        if (!w)
            return 0;
        width = i && w != width ? 1 : w;
    }
    return width;
}

static enum seen_code check_plans(struct delta *d,
                                  const struct delta_side *from,
                                  const struct delta_side *to,
                                  struct seen_error *why)
{
    size_t len = plan_len(to->front.text);

    if (plan_len(from->front.text) != len ||
        memcmp(from->front.text, to->front.text, len) ||
        from->front.head.cells_len != to->front.head.cells_len ||
        from->front.head.leaves != to->front.head.leaves)
        return seen_fail(why, SEEN_UNABLE, 0, "the plan has changed");
    d->width = width_of(to->plan);
    if (!d->width)
        return seen_fail(why, SEEN_UNABLE, 0,
                         "%s cannot be changed cell by cell",
                         to->plan->plan.kind);
    return SEEN_OK;
}

/* --- the delta ---------------------------------------------------------- */

static enum seen_code write_front(int fd, const struct delta *d,
                                  const struct store_front *to, uint64_t *at,
                                  struct seen_error *why)
{
    const size_t text_len = (size_t)to->head.text_len;
    const size_t sets_len = 8 * (size_t)to->head.leaves;
    unsigned char head[DELTA_HEAD + HEAD];
    enum seen_code code;

    delta_put(head, d);
    memcpy(head + DELTA_HEAD, to->bytes, HEAD);
    code = disk_write(fd, head, sizeof head, 0, why);
    *at = sizeof head;
    if (code == SEEN_OK)
        code = disk_write(fd, to->text, text_len, *at, why);
    *at += text_len;
    if (code == SEEN_OK)
        code = disk_write(fd, to->table, sets_len, *at, why);
    *at += sets_len;
    return code;
}

struct delta_versions {
    struct delta *delta;
    struct delta_side *from, *to;
};

static enum seen_code write_delta(void *whose, int fd, struct seen_error *why)
{
    struct delta_versions *v = whose;
    const struct delta *d = v->delta;
    struct rice_writer *w = malloc(sizeof *w);
    struct delta_pass p = { .delta = v->delta, .to = w };
    enum seen_code code;
    uint64_t at, sum = 0;

    if (!w)
        return seen_fail(why, SEEN_NOMEM, 0, "no memory for a block");
    code = write_front(fd, d, &v->to->front, &at, why);
    rice_begin(w, fd, at, why);
    if (code == SEEN_OK)
        code = walk(&p, v->from, v->to, why);
    if (code == SEEN_OK)
        code = rice_end(w);
    if (code == SEEN_OK && w->at + DELTA_SUM != d->length)
        code = seen_fail(why, SEEN_BUSY, 0,
                         "was changed while the delta was made");
    free(w);
    if (code == SEEN_OK)
        code = delta_sum(fd, d->length - DELTA_SUM, &sum, why);
    if (code == SEEN_OK)
        code = disk_write(fd, &sum, sizeof sum, d->length - DELTA_SUM, why);
    return code;
}

/* No lock: a folder has one publisher. */
static enum seen_code save_delta(const char *path, struct delta *d,
                                 struct delta_side *from,
                                 struct delta_side *to, struct seen_error *why)
{
    struct delta_versions v = { d, from, to };
    struct store_paths paths;
    enum seen_code code = store_paths_init(&paths, path, why);
    int system;

    if (code == SEEN_OK)
        code = store_replace(&paths, paths.path, write_delta, &v, NULL, why);
    system = errno;
    store_paths_clear(&paths);
    errno = system;
    return code;
}

enum seen_code seen_delta_make(const char *from, const char *to,
                               const char *path, uint64_t *bytes,
                               struct seen_error *why)
{
    struct delta_side *old = calloc(1, sizeof *old),
                      *new = calloc(1, sizeof *new);
    struct delta d = { .width = 0 };
    enum seen_code code;

    if (!old || !new) {
        free(old);
        free(new);
        return seen_fail(why, SEEN_NOMEM, 0, "no memory for two blocks");
    }
    old->fd = new->fd = -1;
    code = side_open(old, from, &d.from, why);
    if (code == SEEN_OK)
        code = side_open(new, to, &d.to, why);
    if (code == SEEN_OK)
        code = check_heads(new, why);
    if (code == SEEN_OK)
        code = check_plans(&d, old, new, why);
    if (code == SEEN_OK)
        code = choose(&d, old, new, why);
    if (code == SEEN_OK)
        code = save_delta(path, &d, old, new, why);
    if (code == SEEN_OK && bytes)
        *bytes = d.length;
    side_close(new);
    side_close(old);
    return code;
}
