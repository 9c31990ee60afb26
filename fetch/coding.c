/*
 * coding.c - gzip, deflate, br and zstd.
 *
 * All four have the same loop: make room, undo until the room is full or the
 * input used up, stop if there is more than `most`. One byte more than `most`
 * is undone, to know whether there is one.
 */
#include "coding.h"

#include <brotli/decode.h>
#include <string.h>
#include <zstd.h>
#include <zstd_errors.h>

#include "../lib/text/memory.h"
#include "../lib/text/span.h"

enum {
    FIRST_ROOM = 1 << 14,
    PIECE = 1 << 30,    /* bytes per call, at most */
    ROOM = 1 << 20,     /* the same of what is made: then it is paid for */
    ZSTD_WINDOW_LOG = 23,
    CALL = 200, /* steps: of a call, as small members need them, too; */
    BYTE = 2    /* and per byte that is made */
};

static const char followed[] = "the coded bytes are followed by others";

/* Room for more, in *n: at least one byte, unless there are too many already.
   NULL if there is no memory. */
static void *make_room(struct fetch_coded *step, size_t *n)
{
    size_t used = step->out->len, left;

    left = step->most < SIZE_MAX ? step->most + 1 - used : SIZE_MAX - used;
    *n = used ? used : step->in.len * 4;
    *n = *n < FIRST_ROOM ? FIRST_ROOM : *n > ROOM ? ROOM : *n;
    *n = *n < left ? *n : left;
    return buffer_room(step->out, *n);
}

/* Is there enough, with the bytes that were just made? Then the last byte is
   one too many, or the budget is empty. */
static bool enough(struct fetch_coded *step, size_t made)
{
    if (step->budget &&
        !budget_spend(step->budget, CALL + BYTE * (uint64_t)made)) {
        step->fault = "costs too much to unpack";
        if (step->out->len > step->most)
            step->out->len = step->most;
        return step->cut = true;
    }
    if (step->out->len <= step->most)
        return false;
    step->out->len = step->most;
    return step->cut = true;
}

/* --- gzip and deflate --- */

/* One member, from the front of *rest. */
static enum seen_code undo_member(struct inflate *z, struct fetch_coded *step,
                                  struct seen_span *rest,
                                  enum inflate_result *result,
                                  struct seen_error *why)
{
    for (;;) {
        const void *at = rest->text;
        size_t piece = rest->len < PIECE ? rest->len : PIECE, n = piece;
        size_t room, made;
        void *to = make_room(step, &room);

        if (!to)
            return no_memory_for(why, "decoding");
        *result = inflate_some(z, &at, &n, to, room, &made);
        step->out->len += made;
        rest->text += piece - n;
        rest->len -= piece - n;
        if (enough(step, made) || *result != INFLATE_MORE)
            return SEEN_OK;
        if (!made && n == piece) { /* it asks for more input */
            *result = rest->len ? INFLATE_DAMAGE : INFLATE_MORE;
            return SEEN_OK;
        }
    }
}

/* Some servers fill the last block with zeros. */
static bool is_padding(struct seen_span s)
{
    while (s.len && !*s.text)
        s.text++, s.len--;
    return !s.len;
}

static void judge(struct fetch_coded *step, enum inflate_result result,
                  struct seen_span rest, const char *damage)
{
    if (result == INFLATE_MORE)
        step->cut = true;
    else if (result == INFLATE_DAMAGE)
        step->fault = damage;
    else if (!is_padding(rest))
        step->fault = followed;
}

static enum seen_code undo_gzip(struct fetch_coders *coders,
                                struct fetch_coded *step,
                                struct seen_error *why)
{
    struct inflate *z = &coders->inflate;
    struct seen_span rest = step->in;
    enum inflate_result result;
    enum seen_code code;

    do {
        code = inflate_begin(z, INFLATE_GZIP, why);
        if (code == SEEN_OK)
            code = undo_member(z, step, &rest, &result, why);
        if (code != SEEN_OK || step->cut)
            return code;
    } while (result == INFLATE_END && inflate_is_gzip(rest.text, rest.len));
    judge(step, result, rest, "the gzip data is damaged");
    return SEEN_OK;
}

/*
 * "deflate" means zlib (RFC 9110, section 8.4.1.2), but servers were written
 * that send raw deflate. This looks like zlib only if it begins with a stored
 * block and padding bits that are not zero, which no encoder writes.
 */
static enum seen_code undo_deflate(struct fetch_coders *coders,
                                   struct fetch_coded *step,
                                   struct seen_error *why)
{
    enum inflate_form form = inflate_is_zlib(step->in.text, step->in.len)
                                 ? INFLATE_ZLIB
                                 : INFLATE_RAW;
    struct inflate *z = &coders->inflate;
    struct seen_span rest = step->in;
    enum inflate_result result;
    enum seen_code code = inflate_begin(z, form, why);

    if (code == SEEN_OK)
        code = undo_member(z, step, &rest, &result, why);
    if (code == SEEN_OK && !step->cut)
        judge(step, result, rest, "the deflate data is damaged");
    return code;
}

/* --- br --- */

static bool is_no_memory(BrotliDecoderErrorCode code)
{
    return code <= BROTLI_DECODER_ERROR_ALLOC_CONTEXT_MODES &&
           code > BROTLI_DECODER_ERROR_UNREACHABLE;
}

static enum seen_code run_brotli(BrotliDecoderState *state,
                                 struct fetch_coded *step,
                                 struct seen_error *why)
{
    const uint8_t *at = (const uint8_t *)step->in.text;
    size_t left = step->in.len, n, room;
    BrotliDecoderResult result;
    uint8_t *to;

    do {
        to = make_room(step, &n);
        if (!to)
            return no_memory_for(why, "decoding");
        room = n;
        result = BrotliDecoderDecompressStream(state, &left, &at, &n, &to,
                                               NULL);
        step->out->len += room - n;
        if (enough(step, room - n))
            return SEEN_OK;
    } while (result == BROTLI_DECODER_RESULT_NEEDS_MORE_OUTPUT);
    if (result == BROTLI_DECODER_RESULT_NEEDS_MORE_INPUT)
        step->cut = true;
    else if (result == BROTLI_DECODER_RESULT_SUCCESS)
        step->fault = left ? followed : NULL;
    else if (is_no_memory(BrotliDecoderGetErrorCode(state)))
        return no_memory_for(why, "decoding");
    else
        step->fault = "the br data is damaged";
    return SEEN_OK;
}

static enum seen_code undo_brotli(struct fetch_coders *coders,
                                  struct fetch_coded *step,
                                  struct seen_error *why)
{
    BrotliDecoderState *state = BrotliDecoderCreateInstance(NULL, NULL, NULL);
    enum seen_code code;

    (void)coders;
    if (!state)
        return no_memory_for(why, "decoding");
    code = run_brotli(state, step, why);
    BrotliDecoderDestroyInstance(state);
    return code;
}

/* --- zstd --- */

static bool ready_zstd(struct fetch_coders *coders)
{
    if (!coders->zstd)
        coders->zstd = ZSTD_createDCtx();
    return coders->zstd &&
           !ZSTD_isError(
               ZSTD_DCtx_reset(coders->zstd, ZSTD_reset_session_only)) &&
           !ZSTD_isError(ZSTD_DCtx_setParameter(
               coders->zstd, ZSTD_d_windowLogMax, ZSTD_WINDOW_LOG));
}

/*
 * Does a frame of RFC 8878 begin here, or one to be skipped? libzstd also reads
 * the formats that came before the RFC, by code that keeps something of one
 * body for the next; browsers do not.
 */
static bool begins_frame(const ZSTD_inBuffer *in)
{
    static const unsigned char magic[4] = { 0x28, 0xb5, 0x2f, 0xfd };
    static const unsigned char skipped[4] = { 0x50, 0x2a, 0x4d, 0x18 };
    const unsigned char *at = (const unsigned char *)in->src + in->pos;
    size_t n = in->size - in->pos < 4 ? in->size - in->pos : 4;

    return !n || !memcmp(at, magic, n) ||
           ((at[0] & 0xf0) == skipped[0] &&
            !memcmp(at + 1, skipped + 1, n - 1));
}

static enum seen_code undo_zstd(struct fetch_coders *coders,
                                struct fetch_coded *step,
                                struct seen_error *why)
{
    ZSTD_inBuffer in = { step->in.text, step->in.len, 0 };
    ZSTD_outBuffer out;
    size_t result = 0; /* a frame has ended */

    if (!ready_zstd(coders))
        return no_memory_for(why, "decoding");
    do {
        if (!result && !begins_frame(&in)) {
            step->fault = "the zstd data is damaged";
            return SEEN_OK;
        }
        out = (ZSTD_outBuffer){ .pos = 0 };
        out.dst = make_room(step, &out.size);
        if (!out.dst)
            return no_memory_for(why, "decoding");
        result = ZSTD_decompressStream(coders->zstd, &out, &in);
        step->out->len += out.pos;
        if (enough(step, out.pos))
            return SEEN_OK;
    } while (!ZSTD_isError(result) &&
             (in.pos < in.size || (result && out.pos == out.size)));
    if (!ZSTD_isError(result))
        step->cut = result != 0;
    else if (ZSTD_getErrorCode(result) == ZSTD_error_memory_allocation)
        return no_memory_for(why, "decoding");
    else if (ZSTD_getErrorCode(result) ==
             ZSTD_error_frameParameter_windowTooLarge)
        step->fault = "the zstd data needs more memory than RFC 9659 allows";
    else
        step->fault = "the zstd data is damaged";
    return SEEN_OK;
}

/* --- the list --- */

typedef enum seen_code undo_coding(struct fetch_coders *coders,
                                   struct fetch_coded *step,
                                   struct seen_error *why);

static undo_coding *find(struct seen_span name)
{
    static const struct {
        const char *name;
        undo_coding *undo;
    } known[] = {
        { "gzip", undo_gzip },       { "x-gzip", undo_gzip },
        { "deflate", undo_deflate }, { "br", undo_brotli },
        { "zstd", undo_zstd },
    };

    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (span_like(name, known[i].name))
            return known[i].undo;
    return NULL;
}

bool fetch_coding_known(struct seen_span name)
{
    return find(name) != NULL;
}

enum seen_code fetch_coding_undo(struct fetch_coders *coders,
                                 struct seen_span name,
                                 struct fetch_coded *step,
                                 struct seen_error *why)
{
    step->out->len = 0;
    step->cut = false;
    step->fault = NULL;
    return step->in.len ? find(name)(coders, step, why) : SEEN_OK;
}

void fetch_coders_clear(struct fetch_coders *coders)
{
    inflate_clear(&coders->inflate);
    ZSTD_freeDCtx(coders->zstd);
    coders->zstd = NULL;
}
