/* write.c - a filter open for writing. */
#include <seen/store.h>

enum seen_code seen_store_open(struct seen_filter **out, const char *path,
                               const struct seen_access *how,
                               struct seen_error *why)
{
    (void)path, (void)how;
    *out = NULL;
    return seen_fail(why, SEEN_UNABLE, 0, "writing is yet to come");
}

enum seen_code seen_store_verify(const struct seen_filter *f,
                                 struct seen_error *why)
{
    (void)f, (void)why;
    return SEEN_OK;
}

enum seen_code seen_store_refresh(struct seen_filter *f, bool *changed,
                                  struct seen_error *why)
{
    (void)f, (void)why;
    if (changed)
        *changed = false;
    return SEEN_OK;
}

enum seen_code seen_store_checkpoint(struct seen_filter *f,
                                     struct seen_error *why)
{
    (void)f;
    return seen_fail(why, SEEN_UNABLE, 0, "writing is yet to come");
}

enum seen_code seen_store_close(struct seen_filter *f, struct seen_error *why)
{
    (void)why;
    seen_filter_free(f);
    return SEEN_OK;
}
