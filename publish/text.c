/*
 * text.c - text forms beside filters.
 *
 * A text form is ours if it begins as one. The name alone would not do: a
 * folder of filters may have CSV files of its own, and replacing or sweeping
 * them would destroy somebody's work. Whether it is up to date is known from
 * the state, by the length that was written, without reading it.
 */
#include "text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../lib/disk/walk.h"
#include "file.h"

char *publish_text_path(const char *path)
{
    return publish_format("%.*s.csv", (int)(strlen(path) - strlen(".seen")),
                          path);
}

static char *file_of(const char *folder, const char *path)
{
    char *name = publish_text_path(path);
    char *file = name ? walk_path(folder, name) : NULL;

    free(name);
    return file;
}

bool publish_text_there(const char *folder, const struct publish_item *item)
{
    char *file = file_of(folder, item->path);
    struct stat it;
    bool there = item->text.made && file && !stat(file, &it) &&
                 (uint64_t)it.st_size == item->text.length;

    free(file);
    return there;
}

/* Is it a text form, or does it not exist? */
static bool ours(const char *file)
{
    static const char start[] = "seen,1\nchecksum,";
    char bytes[sizeof start] = "";
    bool good;
    int fd;

    if (publish_open(&fd, file, NULL) != SEEN_OK)
        return false;
    if (fd < 0)
        return true;
    good = read(fd, bytes, sizeof start - 1) == sizeof start - 1 &&
           !memcmp(bytes, start, sizeof start - 1);
    close(fd);
    return good;
}

static enum seen_code write_form(const char *filter, const char *file,
                                 struct seen_error *why)
{
    const struct seen_access options = { .unverified = true };
    struct seen_filter *f;
    enum seen_code code = seen_store_map(&f, filter, &options, why);

    if (code == SEEN_OK)
        code = seen_csv_save(f, file, why);
    seen_filter_free(f);
    return code;
}

enum seen_code publish_text_write(const char *folder, const char *filter,
                                  struct publish_item *item,
                                  struct seen_error *why)
{
    char *file = file_of(folder, item->path);
    enum seen_code code;

    memset(&item->text, 0, sizeof item->text);
    if (!file)
        code = seen_fail(why, SEEN_NOMEM, 0, "no memory for a path");
    else if (!ours(file))
        code = seen_fail(
            why, SEEN_MISMATCH, 0,
            "a file with its name is not the text form of a filter");
    else
        code = write_form(filter, file, why);
    if (code == SEEN_OK)
        code = seen_digest_file(file, item->text.digest, &item->text.length,
                                why);
    item->text.made = code == SEEN_OK;
    free(file);
    return code;
}

void publish_text_sweep(const char *folder, const struct publish_state *was,
                        const struct publish_state *now)
{
    for (size_t i = 0; i < was->items; i++) {
        const struct publish_item *old = &was->item[i];
        const struct publish_item *new = publish_state_find(now, old->path);
        char *file;

        if (!old->text.made || (new &&new->text.made))
            continue;
        file = file_of(folder, old->path);
        if (file && ours(file))
            unlink(file);
        free(file);
    }
}
