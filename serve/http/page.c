/* page.c - find a file of the page. There are three: no need for more. */
#include "page.h"

const struct page_file *page_find(struct span path)
{
    for (size_t i = 0; i < page_count; i++)
        if (span_is(path, page_files[i].path))
            return &page_files[i];
    return NULL;
}
