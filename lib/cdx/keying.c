/*
 * keying.c - the key of a capture.
 *
 *     profile   has a SURT as its key                        has not
 *     surt      the key, if it is that of the URL; else      the SURT of the
 *               the SURT of the URL                          URL
 *     surt:1    the same, cut                                the same, cut
 *     others    from the URL, always
 *
 * "No is certain" must hold for URLs: the key of a line is what a lookup of
 * its URL makes. For most lines a comparison proves that the urlkey is that
 * (proof.h), which makes an index fast to read. Keys of other tools, of which
 * one line in thousands may be written, are not trusted unless this is asked
 * for.
 *
 * The urlkey counts where the line has no URL to ask about: "-", or what is
 * none for us. A word without "://" is not compared either; in old indexes it
 * is the name of the host.
 */
#include <seen/cdx.h>

#include <string.h>
#include <strings.h>

#include <seen/url.h>

#include "../url/text.h"
#include "line.h"

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
    return surt_like(how->profile) && how->keys == SEEN_KEYS_TRUSTED
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

static bool is_http(struct seen_span url)
{
    return url.len > 7 && !strncasecmp(url.text, "http", 4) &&
           memchr(url.text, ':', 6);
}

bool cdx_asks(struct seen_span url)
{
    const char *end, *colon;

    if (!url.len)
        return false;
    end = url.text + url.len;
    while (url.len && (*url.text == ' ' || is_stray(*url.text))) {
        url.text++;
        url.len--;
    }
    colon = url_find_scheme(url.text, end);
    return is_http(url) ||
           (colon && end - colon >= 3 && !memcmp(colon, "://", 3));
}

/* The SURT of the URL. What the urlkey is beside it goes to *made. */
static enum seen_code correct(struct seen_key *key, char *text,
                              const struct seen_capture *c,
                              struct seen_span url, const char *profile,
                              enum seen_made *made, struct seen_error *why)
{
    char room[SEEN_KEY_TEXT];
    struct seen_key theirs;
    const char *ours;
    size_t len;
    enum seen_code code = seen_url_surt(&ours, &len, text, url.text, url.len,
                                        why);

    if (code != SEEN_OK)
        return code;
    *made = SEEN_MADE_DERIVED;
    code = trust(&theirs, room, c->key, "surt", made, why);
    if (code == SEEN_MISMATCH)
        *made = SEEN_MADE_DERIVED;
    else if (code != SEEN_OK || theirs.len != len ||
             memcmp(theirs.text, ours, len))
        *made = SEEN_MADE_CORRECTED;
    if (profile[4])
        return seen_key_make(key, text, url.text, url.len, profile, why);
    seen_key_hash(key, ours, len);
    return SEEN_OK;
}

/* What was made in `room` goes to `text`. */
static enum seen_code own_text(struct seen_key *key, char *text,
                               const char *room)
{
    if (key->text >= room && key->text < room + SEEN_KEY_TEXT)
        key->text = memcpy(text, key->text, key->len);
    return SEEN_OK;
}

/* Apart, so that the way of most keys needs no room. */
static __attribute__((noinline)) enum seen_code make_key(
    struct seen_key *key, char *text, const struct seen_capture *c,
    const struct seen_keying *how, enum seen_made *made,
    struct seen_error *why)
{
    bool surt = surt_like(how->profile) && c->key.len;
    char room[SEEN_KEY_TEXT];
    struct seen_span url = { "", 0 };
    struct seen_error unasked, other;
    enum seen_code code;

    *made = SEEN_MADE_ASKED;
    why = why ? why : &unasked;
    if (!surt || how->keys != SEEN_KEYS_TRUSTED)
        url = find_url(c, room);
    if (surt && cdx_asks(url)) {
        code = correct(key, text, c, url, how->profile, made, why);
        if (code == SEEN_OK)
            return own_text(key, text, room);
        if (code == SEEN_NOMEM ||
            trust(key, text, c->key, how->profile, made, &other) != SEEN_OK)
            return code;
        return SEEN_OK; /* nobody can ask about that URL */
    }
    if (surt) {
        code = trust(key, text, c->key, how->profile, made, why);
        if (code != SEEN_MISMATCH)
            return code;
        *made = SEEN_MADE_DERIVED;
        url = find_url(c, room);
    }
    if (!url.len && c->json.len && c->key.len)
        return seen_fail(why, SEEN_RANGE, 0,
                         "the key is not a SURT, and there is no URL");
    if (!url.len)
        return seen_fail(why, SEEN_RANGE, 0, "neither a key nor a URL");
    code = seen_key_make(key, text, url.text, url.len, how->profile, why);
    return code == SEEN_OK ? own_text(key, text, room) : code;
}

enum seen_code seen_capture_key(struct seen_key *key, char *text,
                                const struct seen_capture *c,
                                const struct seen_keying *how,
                                enum seen_made *made, struct seen_error *why)
{
    if (!c->surt || how->keys != SEEN_KEYS_TRUSTED || !is_surt(how->profile))
        return make_key(key, text, c, how, made, why);
    *made = SEEN_MADE_TRUSTED;
    seen_key_hash(key, c->key.text, c->key.len);
    return SEEN_OK;
}

/* --- are they alike? --- */

/* Does the key have parameters that pywb made of the body of a POST? */
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
