/*
 * json_tree.c - the memory of jansson.
 *
 * While a text is read, each block that jansson has is in a list of this
 * thread, by a head in front of it. An allocation that fails jumps out of
 * jansson, and the list is freed: that is why a jump is safe here, where it
 * would leak or leave a lock anywhere else. When the reading is done the heads
 * leave the list, and the blocks live as long as their tree.
 *
 * All memory of jansson comes from here from the first call on (a constructor),
 * since a block of malloc() has no head.
 */
#include "json_tree.h"

#include <setjmp.h>
#include <stdalign.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "buffer.h"

void *(*json_tree_malloc)(size_t size) = malloc;

/* In front of what jansson has. In a list while a text is read, else NULL. */
struct json_block {
    alignas(max_align_t) struct json_block *next;
    struct json_block *previous;
};

struct json_reading {
    jmp_buf give_up;
    struct json_block all; /* the ends of the list */
};

static _Thread_local struct json_reading *reading;

static void *take(size_t size)
{
    struct json_block *b = NULL;

    if (size <= SIZE_MAX - sizeof *b)
        b = json_tree_malloc(sizeof *b + size);
    if (!b && reading)
        longjmp(reading->give_up, 1);
    if (!b)
        return NULL;
    b->next = b->previous = NULL;
    if (reading) {
        b->next = reading->all.next;
        b->previous = &reading->all;
        b->next->previous = b->previous->next = b;
    }
    return b + 1;
}

static void give(void *memory)
{
    struct json_block *b = memory;

    if (!b)
        return;
    b--;
    if (b->next) {
        b->next->previous = b->previous;
        b->previous->next = b->next;
    }
    free(b);
}

/* Before anybody can have memory of another kind. */
static void __attribute__((constructor)) prepare(void)
{
    json_set_alloc_funcs(take, give);
}

struct json_source {
    struct seen_span text; /* or, if that is NULL, */
    int fd;
    size_t flags;
};

/* NULL if there is a mistake, or no memory. */
static json_t *parse(const struct json_source *s, json_error_t *mistake,
                     bool *no_memory)
{
    struct json_reading own;
    struct json_block *next;
    json_t *root;

    own.all.next = own.all.previous = &own.all;
    *no_memory = false;
    reading = &own;
    if (setjmp(own.give_up)) {
        reading = NULL;
        for (struct json_block *b = own.all.next; b != &own.all; b = next) {
            next = b->next;
            free(b);
        }
        *no_memory = true;
        return NULL;
    }
    root = s->text.text
               ? json_loadb(s->text.text, s->text.len, s->flags, mistake)
               : json_loadfd(s->fd, s->flags, mistake);
    reading = NULL;
    for (struct json_block *b = own.all.next; b != &own.all; b = next) {
        next = b->next;
        b->next = b->previous = NULL;
    }
    return root;
}

static enum seen_code read_source(json_t **root, const struct json_source *s,
                                  json_error_t *mistake,
                                  struct seen_error *why)
{
    json_error_t ignored;
    bool no_memory;

    *root = parse(s, mistake ? mistake : &ignored, &no_memory);
    if (no_memory)
        return seen_fail(why, SEEN_NOMEM, 0, "no memory for JSON");
    return *root ? SEEN_OK : seen_fail(why, SEEN_CORRUPT, 0, "not JSON");
}

enum seen_code json_tree_read(json_t **root, struct seen_span text,
                              size_t flags, json_error_t *mistake,
                              struct seen_error *why)
{
    const struct json_source s = {
        .text = { text.text ? text.text : "", text.len }, .flags = flags
    };

    return read_source(root, &s, mistake, why);
}

enum seen_code json_tree_read_file(json_t **root, int fd, size_t flags,
                                   json_error_t *mistake,
                                   struct seen_error *why)
{
    const struct json_source s = { .fd = fd, .flags = flags };

    return read_source(root, &s, mistake, why);
}

static int append(const char *text, size_t len, void *to)
{
    buffer_bytes(to, text, len);
    return 0;
}

char *json_tree_text(const json_t *root, size_t flags)
{
    struct buffer b = { .bytes = NULL };

    if (!json_dump_callback(root, append, &b, flags))
        return buffer_take(&b);
    buffer_clear(&b);
    return NULL;
}
