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
 * profile does, which seen_capture_check() finds out; otherwise all keys must
 * be derived.
 */
#include <seen/cdx.h>

#include <string.h>
#include <strings.h>

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
    return surt_like(how->profile) && how->keys != SEEN_KEYS_DERIVED
               ? SEEN_DETAIL_KEY
               : SEEN_DETAIL_URL;
}

/* The URL, also if only the key was looked for. What JSON has escaped is
   written to `room`, of SEEN_KEY_TEXT bytes. */
static struct seen_span find_url(const struct seen_capture *c, char *room)
{
    static const char *const names[] = { "url", "u", "original", "uri" };
    struct seen_span url = c->url;

    if (!url.len && c->layout->format == SEEN_FORMAT_CDX) {
        if (!seen_capture_field(c, "url", NULL, 0, &url))
            seen_capture_field(c, "A", NULL, 0, &url);
    } else if (!url.len && c->json.len) {
        for (int i = 0; i < 4 && !url.len; i++)
            if (!seen_capture_field(c, names[i], room, SEEN_KEY_TEXT, &url))
                url.len = 0;
    }
    return url;
}

/* Hash the urlkey as it stands, or put right. SEEN_MISMATCH: not a SURT. */
static enum seen_code trust(struct seen_key *key, char *text,
                            struct seen_span from, const char *profile,
                            enum seen_made *made, struct seen_error *why)
{
    const char *out;
    size_t out_len;
    enum seen_code code;

    *made = SEEN_MADE_TRUSTED;
    if (*from.text == '(') { /* OpenWayback's: "(com,example,)/" */
        from.text++;
        from.len--;
        *made = SEEN_MADE_REPAIRED;
    }
    code = seen_url_surt_key(&out, &out_len, text, from.text, from.len, why);
    if (code != SEEN_OK)
        return code;
    if (out != from.text)
        *made = SEEN_MADE_REPAIRED;
    if (profile[4])
        return seen_key_make(key, text, from.text, from.len, profile, why);
    seen_key_hash(key, out, out_len);
    return SEEN_OK;
}

/* Apart, so that the way of most keys needs no room. */
static __attribute__((noinline)) enum seen_code make_key(
    struct seen_key *key, char *text, const struct seen_capture *c,
    const struct seen_keying *how, enum seen_made *made,
    struct seen_error *why)
{
    bool derive = how->keys == SEEN_KEYS_DERIVED;
    char room[SEEN_KEY_TEXT];
    struct seen_span url;
    struct seen_error unasked;
    enum seen_code code;

    *made = SEEN_MADE_ASKED;
    why = why ? why : &unasked;
    if (c->key.len && surt_like(how->profile) && (!derive || !c->url.len)) {
        code = trust(key, text, c->key, how->profile, made, why);
        if (code != SEEN_MISMATCH)
            return code;
        *made = SEEN_MADE_DERIVED;
    }
    url = find_url(c, room);
    if (!url.len && c->json.len && c->key.len)
        return seen_fail(why, SEEN_RANGE, 0,
                         "the key is not a SURT, and there is no URL");
    if (!url.len)
        return seen_fail(why, SEEN_RANGE, 0, "neither a key nor a URL");
    code = seen_key_make(key, text, url.text, url.len, how->profile, why);
    if (code == SEEN_OK && key->text >= room && key->text < room + sizeof room)
        key->text = memcpy(text, key->text, key->len);
    return code;
}

enum seen_code seen_capture_key(struct seen_key *key, char *text,
                                const struct seen_capture *c,
                                const struct seen_keying *how,
                                enum seen_made *made, struct seen_error *why)
{
    if (!c->surt || how->keys == SEEN_KEYS_DERIVED || !is_surt(how->profile))
        return make_key(key, text, c, how, made, why);
    *made = SEEN_MADE_TRUSTED;
    seen_key_hash(key, c->key.text, c->key.len);
    return SEEN_OK;
}

/* --- are they alike? --- */

static bool is_http(struct seen_span url)
{
    return url.len > 7 && !strncasecmp(url.text, "http", 4) &&
           memchr(url.text, ':', 6);
}

/* Of the body of a POST, pywb makes parameters of the key. */
static bool has_body(struct seen_span key)
{
    return memmem(key.text, key.len, "__wb_", 5) != NULL;
}

enum seen_code seen_capture_check(const struct seen_capture *c, char *text,
                                  struct seen_key key[2])
{
    char room[SEEN_KEY_TEXT];
    struct seen_span url;
    enum seen_made made;

    if (!c->key.len || has_body(c->key) ||
        trust(&key[0], text, c->key, "surt", &made, NULL) != SEEN_OK)
        return SEEN_UNABLE;
    url = find_url(c, room);
    text += SEEN_KEY_TEXT;
    if (!is_http(url) || seen_key_make(&key[1], text, url.text, url.len,
                                       "surt", NULL) != SEEN_OK)
        return SEEN_UNABLE;
    return key[0].lo == key[1].lo && key[0].hi == key[1].hi ? SEEN_OK
                                                            : SEEN_MISMATCH;
}
