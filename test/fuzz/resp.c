/*
 * resp.c - fuzz the parser of the Redis protocol.
 *
 * Whatever the bytes are: the commands that are found in them are the same
 * if they come in pieces, of sizes that the first byte chooses, into a
 * buffer that moves; and all words lie within what came. Each word is also a
 * pattern for the next one (KEYS).
 */
#include <stdlib.h>
#include <string.h>

#include "serve/redis/glob.h"
#include "serve/redis/resp.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { WORDS = 32 };

static const struct resp_limit limit = { WORDS, 512, 2048 };

static uint64_t fold(uint64_t sum, const char *bytes, size_t n)
{
    sum = (sum ^ n) * UINT64_C(0x100000001b3);
    while (n--)
        sum = (sum ^ (unsigned char)*bytes++) * UINT64_C(0x100000001b3);
    return sum;
}

/* A number that stands for all that was found, in steps of `step` bytes. */
static uint64_t read_all(const char *bytes, size_t size, size_t step)
{
    struct resp_reader r = { 0 };
    struct seen_span word[WORDS];
    uint64_t sum = 0;
    size_t from = 0, to = 0;

    while (from < size) {
        const char *fault = NULL;
        size_t words = 0, used = 0, len;
        enum resp_state state;
        char *text;

        to = size - to < step ? size : to + step;
        len = to - from;
        text = malloc(len ? len : 1);
        if (!text)
            abort();
        memcpy(text, bytes + from, len);
        for (char *at = text;;) {
            state = resp_parse(&r, at, len, &limit, word, &words, &used,
                               &fault);
            if (state == RESP_PARTIAL || state == RESP_FAULT)
                break;
            if (!used || used > len || words > WORDS)
                abort();
            sum = fold(sum, (const char *)&state, sizeof state);
            for (size_t i = 0; state == RESP_WHOLE && i < words; i++) {
                if (word[i].text < at || word[i].text > at + used ||
                    word[i].len > (size_t)(at + used - word[i].text))
                    abort();
                sum = fold(sum, word[i].text, word[i].len);
                if (i)
                    sum += redis_glob(word[i - 1], word[i]);
            }
            at += used;
            len -= used;
            from += used;
        }
        if (state == RESP_FAULT) {
            sum = fold(sum, fault, strlen(fault));
            free(text);
            break;
        }
        free(text);
        if (to == size)
            break;
    }
    return sum;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *bytes = (const char *)data + 1;

    if (!size--)
        return 0;
    if (read_all(bytes, size, size + 1) !=
        read_all(bytes, size, 1 + data[0] % 64u))
        abort();
    return 0;
}
