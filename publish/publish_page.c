/* publish_page.c - write the page: first what it needs, index.html last. */
#include "publish_page.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <seen/version.h>

#include "../lib/disk/disk.h"
#include "../lib/disk/walk.h"
#include "../lib/text/json.h"
#include "file.h"
#include "listing.h"

static bool has_reader(void)
{
    for (size_t i = 0; i < publish_page_count; i++)
        if (!strcmp(publish_page_files[i].name, "seen.wasm"))
            return true;
    return false;
}

static char *path_of(const char *folder, const char *name)
{
    char *place = !strcmp(name, "index.html") || !strcmp(name, "filters.json")
                      ? publish_format("%s", name)
                      : publish_format("seen-page/%s", name);
    char *path = place ? walk_path(folder, place) : NULL;

    free(place);
    return path;
}

enum seen_code publish_page_check(const char *folder, bool wanted, bool *write,
                                  struct seen_error *why)
{
    char *page = path_of(folder, "index.html");
    char *list = path_of(folder, "filters.json");
    enum seen_code code = SEEN_OK;
    bool is_there = page && !access(page, F_OK);

    *write = false;
    if (!page || !list)
        code = seen_fail(why, SEEN_NOMEM, 0, "no memory for a path");
    if (code == SEEN_OK && (wanted || is_there))
        code = publish_blame("index.html", publish_listing_check(page, why),
                             why);
    if (code == SEEN_OK && (wanted || is_there))
        code = publish_blame("filters.json", publish_listing_check(list, why),
                             why);
    free(page);
    free(list);
    if (!wanted && (!is_there || code != SEEN_OK || !has_reader()))
        return SEEN_OK; /* there is none, or it is not this program's */
    if (code == SEEN_OK && !has_reader())
        code = seen_fail(
            why, SEEN_UNABLE, 0,
            "--page: this program was built without clang, lld or "
            "wasi-libc, and has no reader for browsers");
    *write = code == SEEN_OK;
    return code;
}

static enum seen_code write_one(const char *folder, const char *name,
                                const void *bytes, size_t len, size_t *written,
                                struct seen_error *why)
{
    char *path = path_of(folder, name);
    bool changed = false;
    enum seen_code code = path ? disk_make_folders(path, why)
                               : seen_fail(why, SEEN_NOMEM, 0,
                                           "no memory for a path");

    if (code == SEEN_OK)
        code = disk_update(path, bytes, len, &changed, why);
    *written += changed;
    free(path);
    return publish_blame(name, code, why);
}

/* {"mark": ..., "version": ..., "filters": [{"path": ..., "length": ...}]} */
static enum seen_code write_list(const char *folder,
                                 const struct publish_state *s,
                                 size_t *written, struct seen_error *why)
{
    struct buffer b = { .bytes = NULL };
    const char *between = "";
    enum seen_code code;

    buffer_text(&b, "{\"mark\": \"" PUBLISH_MARK "\", \"version\": \"");
    buffer_text(&b, SEEN_VERSION);
    buffer_text(&b, "\", \"filters\": [");
    for (size_t i = 0; i < s->items; i++) {
        const struct publish_item *item = &s->item[i];

        if (item->held)
            continue;
        buffer_format(&b, "%s\n{\"path\": ", between);
        buffer_json(&b, item->path, strlen(item->path));
        buffer_format(&b, ", \"length\": %llu}",
                      (unsigned long long)item->length);
        between = ",";
    }
    buffer_text(&b, "\n]}\n");
    code = b.failed ? seen_fail(why, SEEN_NOMEM, 0, "no memory for a list")
                    : write_one(folder, "filters.json", b.bytes, b.len,
                                written, why);
    buffer_clear(&b);
    return code;
}

enum seen_code publish_page_write(const char *folder,
                                  const struct publish_state *s,
                                  size_t *written, struct seen_error *why)
{
    const struct publish_page_file *page = NULL;
    enum seen_code code = write_list(folder, s, written, why);

    for (size_t i = 0; i < publish_page_count && code == SEEN_OK; i++) {
        const struct publish_page_file *file = &publish_page_files[i];

        if (!strcmp(file->name, "index.html"))
            page = file;
        else
            code = write_one(folder, file->name, file->bytes, file->len,
                             written, why);
    }
    if (code == SEEN_OK && page)
        code = write_one(folder, page->name, page->bytes, page->len, written,
                         why);
    return code;
}
