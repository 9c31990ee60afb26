/* profile.c - an archive profile as text, and packed. */
#include "profile.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <zstd.h>

#include "../lab.h"

/* Sorted lines: a prefix, a blank, its count. */
static char *write_text(struct exact *e, size_t *used)
{
    size_t room = e->used + 12 * e->n + 1;
    char *out = lab_memory(room, 1);

    qsort_r(e->item, e->n, sizeof *e->item, exact_order, e);
    for (size_t i = 0; i < e->n; i++) {
        memcpy(out + *used, exact_text(e, i), e->item[i].len);
        *used += e->item[i].len;
        *used += (size_t)snprintf(out + *used, room - *used, " %u\n",
                                  e->item[i].count);
    }
    exact_clear(e);
    return out;
}

void profile_write(struct exact *prefixes, uint64_t *bytes, uint64_t *packed)
{
    size_t used = 0, size;
    char *out = write_text(prefixes, &used);
    char *zip = lab_memory(ZSTD_compressBound(used), 1);

    size = ZSTD_compress(zip, ZSTD_compressBound(used), out, used, 3);
    if (ZSTD_isError(size))
        lab_fail("zstd: %s", ZSTD_getErrorName(size));
    *bytes = used;
    *packed = size;
    free(zip);
    free(out);
}
