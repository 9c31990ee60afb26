/* inflate.c - members of gzip, by isa-l. */
#include "inflate.h"

#include <isa-l/igzip_lib.h>
#include <stdlib.h>

bool inflate_is_gzip(const void *head, size_t len)
{
    const unsigned char *h = head;

    return len >= 3 && h[0] == 0x1f && h[1] == 0x8b && h[2] == 8;
}

enum seen_code inflate_begin(struct inflate *z, enum inflate_form form,
                             struct seen_error *why)
{
    if (!z->state)
        z->state = malloc(sizeof *z->state);
    if (!z->state)
        return seen_fail(why, SEEN_NOMEM, 0, "no memory to unpack");
    isal_inflate_init(z->state);
    z->state->crc_flag = form == INFLATE_GZIP ? ISAL_GZIP : ISAL_DEFLATE;
    return SEEN_OK;
}

enum inflate_result inflate_some(struct inflate *z, const void **in,
                                 size_t *in_len, void *out, size_t room,
                                 size_t *made)
{
    struct inflate_state *s = z->state;
    int code;

    s->next_in = (uint8_t *)(uintptr_t)*in;
    s->avail_in = (uint32_t)*in_len;
    s->next_out = out;
    s->avail_out = (uint32_t)room;
    code = isal_inflate(s);
    *made = room - s->avail_out;
    if (code < 0) /* and s->avail_in may be more than there was */
        return INFLATE_DAMAGE;
    *in = (const char *)*in + (*in_len - s->avail_in);
    *in_len = s->avail_in;
    return s->block_state == ISAL_BLOCK_FINISH ? INFLATE_END : INFLATE_MORE;
}

void inflate_clear(struct inflate *z)
{
    free(z->state);
    z->state = NULL;
}
