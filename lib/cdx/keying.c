/*
 * keying.c - the key of a capture.
 *
 *     profile   has a SURT as its key        has not
 *     surt      the key, put right           the SURT of the URL
 *     surt:1    the key, cut                 the SURT of the URL, cut
 *     others    from the URL, always
 *
 * Trusting the key makes an index fast to read: nothing is parsed, and the URL
 * is not even searched for. It is right if the index was canonicalised as the
 * profile does; otherwise `derive` is needed.
 */
#include <seen/cdx.h>

#include <string.h>

#include <seen/url.h>

static bool surt_like(const char *profile)
{
    return !strncmp(profile, "surt", 4);
}

/* Called once per capture, where a call of strcmp() would be measurable. */
static inline bool is_surt(const char *p)
{
    return p[0] == 's' && p[1] == 'u' && p[2] == 'r' && p[3] == 't' && !p[4];
}

enum seen_detail seen_keying_detail(const struct seen_keying *how)
{
    return surt_like(how->profile) && !how->derive ? SEEN_DETAIL_KEY
                                                   : SEEN_DETAIL_URL;
}

enum seen_code seen_capture_key(struct seen_key *key, char *text,
                                const struct seen_capture *c,
                                const struct seen_keying *how,
                                enum seen_made *made, struct seen_error *why)
{
    const char *from = c->key.text, *out;
    size_t len = c->key.len, out_len;
    struct seen_span url = c->url;
    struct seen_error unasked;
    enum seen_code code;

    if (c->surt && !how->derive && is_surt(how->profile)) {
        *made = SEEN_MADE_TRUSTED;
        seen_key_hash(key, from, len);
        return SEEN_OK;
    }
    *made = SEEN_MADE_ASKED;
    why = why ? why : &unasked;
    if (len && surt_like(how->profile) && (!how->derive || !url.len)) {
        *made = SEEN_MADE_TRUSTED;
        if (*from == '(') { /* OpenWayback's: "(com,example,)/" */
            from++;
            len--;
            *made = SEEN_MADE_REPAIRED;
        }
        code = seen_url_surt_key(&out, &out_len, text, from, len, why);
        if (code == SEEN_OK) {
            if (out != from)
                *made = SEEN_MADE_REPAIRED;
            if (how->profile[4])
                return seen_key_make(key, text, from, len, how->profile, why);
            seen_key_hash(key, out, out_len);
            return SEEN_OK;
        }
        if (code != SEEN_MISMATCH)
            return code;
        *made = SEEN_MADE_DERIVED;
    }
    if (!url.len && c->layout->format == SEEN_FORMAT_CDX) {
        struct seen_span found; /* only the key was looked for */

        if (seen_capture_field(c, "url", NULL, 0, &found) ||
            seen_capture_field(c, "A", NULL, 0, &found))
            url = found;
    } else if (!url.len && c->json.len) {
        static const char *const names[] = { "url", "u", "original", "uri" };

        for (int i = 0; i < 4 && !url.len; i++) {
            char room[SEEN_KEY_TEXT];
            struct seen_span found;

            if (!seen_capture_field(c, names[i], room, sizeof room, &found) ||
                !found.len)
                continue;
            if (found.text == room) /* escaped: made now, since room ends */
                return seen_key_make(key, text, found.text, found.len,
                                     how->profile, why);
            url = found;
        }
    }
    if (!url.len && c->json.len && len)
        return seen_fail(why, SEEN_RANGE, 0,
                         "the key is not a SURT, and there is no URL");
    if (!url.len)
        return seen_fail(why, SEEN_RANGE, 0, "neither a key nor a URL");
    return seen_key_make(key, text, url.text, url.len, how->profile, why);
}
