/*
 * select.c - conditions on captures.
 *
 * Conditions are tested in text, as the index has them, and the cheap ones
 * first: most captures of a selection by time or status never get a key. Hosts
 * of --hosts are a set of hashes of their SURTs; a capture is looked up there
 * once per label, from the whole host up to its domain, so a list of a million
 * hosts costs what a list of one does.
 *
 * Only what conditions need is read from the index (select_detail()).
 * select_print() is a number for all of them: a build that goes on from a
 * checkpoint must have the same.
 */
#include "select.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <seen/url.h>

#include "exclude.h"

enum { TIME = 14 };

struct select {
    const struct select_options *how;
    char from[TIME + 1], to[TIME + 1]; /* digits; "": any time */
    struct exclude hosts;              /* as SURTs: "hr,nsk" */
};

/* --- making --- */

/* The digits of "2019-06-30T12:00:00Z"; NULL if there is anything else. */
static const char *digits(char out[TIME + 1], const char *text, size_t len)
{
    size_t n = 0;

    for (size_t i = 0; i < len; i++) {
        if (text[i] >= '0' && text[i] <= '9') {
            if (n < TIME)
                out[n++] = text[i];
        } else if (text[i] == '.') {
            break; /* fractions of a second */
        } else if (!strchr("-:TZ ", text[i]) || !text[i]) {
            return NULL;
        }
    }
    out[n] = '\0';
    return n >= 4 ? out : NULL;
}

static int two(const char *digit)
{
    return 10 * (digit[0] - '0') + digit[1] - '0';
}

/* Does the calendar have this time? Not "20210631", nor "2019063025". */
static bool exists(const char *time)
{
    static const int days[] = {
        31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31
    };
    int year = 100 * two(time) + two(time + 2);
    bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    size_t len = strlen(time);
    int month = len >= 6 ? two(time + 4) : 1;

    return month >= 1 && month <= 12 &&
           (len < 8 ||
            (two(time + 6) >= 1 &&
             two(time + 6) <= days[month - 1] + (month == 2 && leap))) &&
           (len < 10 || two(time + 8) <= 23) &&
           (len < 12 || two(time + 10) <= 59) &&
           (len < 14 || two(time + 12) <= 60); /* a leap second */
}

static enum outcome read_time(char out[TIME + 1], const char *option,
                              const char *text)
{
    if (!text)
        return YES;
    if (!digits(out, text, strlen(text)) || strlen(out) % 2)
        return trouble(
            "%s: %s is not a time; write 2019, 201906 or 2019-06-30", option,
            text);
    if (!exists(out))
        return trouble("%s: %s: there is no such time", option, text);
    return YES;
}

/* The host of a SURT, up to its ")" or port. */
static size_t host_len(const char *surt, size_t len)
{
    size_t n = 0;

    while (n < len && surt[n] != ')' && surt[n] != ':' && surt[n] != '/')
        n++;
    while (n && surt[n - 1] == ',')
        n--;
    return n;
}

static enum outcome read_hosts(struct select *s, const char *path)
{
    FILE *file = fopen(path, "re");
    enum outcome out = YES;
    char *line = NULL, text[SEEN_KEY_TEXT];
    size_t room = 0;
    uint64_t number = 0;
    ssize_t n;

    if (!file)
        return trouble("%s: %s", path, strerror(errno));
    while (out == YES && (n = getline(&line, &room, file)) > 0) {
        struct seen_key key;
        struct seen_error why;
        const char *surt;
        size_t len;

        number++;
        while (n && (line[n - 1] == '\n' || line[n - 1] == '\r' ||
                     line[n - 1] == ' '))
            n--;
        if (!n || line[0] == '#')
            continue;
        if (seen_url_surt(&surt, &len, text, line, (size_t)n, &why) !=
            SEEN_OK) {
            out = trouble("%s line %llu: not a host: %s", path,
                          (unsigned long long)number, why.text);
            break;
        }
        seen_key_hash(&key, surt, host_len(surt, len));
        if (!exclude_add(&s->hosts, &key))
            out = TROUBLE;
    }
    if (out == YES && ferror(file))
        out = trouble("%s: cannot be read: %s", path, strerror(errno));
    free(line);
    fclose(file);
    return out;
}

enum outcome select_new(struct select **out, const struct select_options *how)
{
    struct select *s;
    enum outcome result;

    *out = NULL;
    if (!how->status.n && !how->mime.n && !how->prefix.n && !how->language.n &&
        !how->where.n && !how->from && !how->to && !how->hosts)
        return YES;
    for (size_t i = 0; i < how->where.n; i++)
        if (!strchr(how->where.text[i], '=') || how->where.text[i][0] == '=')
            return trouble("--where: %s is not FIELD=VALUE",
                           how->where.text[i]);
    s = calloc(1, sizeof *s);
    if (!s)
        return trouble("no memory for %zu bytes", sizeof *s);
    s->how = how;
    result = read_time(s->from, "--from", how->from);
    if (result == YES)
        result = read_time(s->to, "--to", how->to);
    if (result == YES && how->hosts)
        result = read_hosts(s, how->hosts);
    if (result == YES)
        *out = s;
    else
        select_free(s);
    return result;
}

void select_free(struct select *s)
{
    if (s)
        exclude_clear(&s->hosts);
    free(s);
}

enum seen_detail select_detail(const struct select *s)
{
    return s->how->status.n || s->how->mime.n || s->how->where.n ||
                   s->how->language.n || s->how->from || s->how->to
               ? SEEN_DETAIL_ALL
               : SEEN_DETAIL_KEY;
}

static uint64_t print_text(uint64_t print, const char *text)
{
    struct seen_key key;

    seen_key_hash(&key, text ? text : "", text ? strlen(text) : 0);
    return seen_mix(print ^ key.lo);
}

uint64_t select_print(const struct select *s)
{
    uint64_t print = 1;

    if (!s)
        return 0;
    {
        const struct texts *all[] = { &s->how->status, &s->how->mime,
                                      &s->how->prefix, &s->how->language,
                                      &s->how->where };

        for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
            print = seen_mix(print + all[i]->n);
            for (size_t j = 0; j < all[i]->n; j++)
                print = print_text(print, all[i]->text[j]);
        }
    }
    print = print_text(print, s->from);
    print = print_text(print, s->to);
    for (size_t i = 0; i < s->hosts.slots; i++)
        print += seen_mix(s->hosts.slot[i][0]);
    return seen_mix(print + s->hosts.used);
}

/* --- taking --- */

/* Is `value` one of the words of "200,301"? "image/" and a star: begins so. */
static bool among(struct seen_span value, const char *words)
{
    for (;;) {
        size_t n = strcspn(words, ",");

        if (n && words[n - 1] == '*' && value.len >= n - 1 &&
            !strncasecmp(value.text, words, n - 1))
            return true;
        if (value.len == n && !strncasecmp(value.text, words, n))
            return true;
        if (!words[n])
            return false;
        words += n + 1;
    }
}

static bool any(struct seen_span value, const struct texts *texts)
{
    for (size_t i = 0; i < texts->n; i++)
        if (among(value, texts->text[i]))
            return true;
    return !texts->n;
}

/* A capture may be in several: "hrv,eng". */
static bool any_language(const struct seen_capture *c,
                         const struct texts *texts)
{
    static const char *const names[] = { "languages", "language", "lang" };
    char room[256];
    struct seen_span value;

    for (int i = 0; i < 3; i++) {
        if (!seen_capture_field(c, names[i], room, sizeof room, &value))
            continue;
        while (value.len) {
            const char *comma = memchr(value.text, ',', value.len);
            size_t n = comma ? (size_t)(comma - value.text) : value.len;

            if (any((struct seen_span){ value.text, n }, texts))
                return true;
            value.text += n + (comma != NULL);
            value.len -= n + (comma != NULL);
        }
        return false;
    }
    return !texts->n;
}

static bool in_time(const struct select *s, struct seen_span time)
{
    char at[TIME + 1];

    if (!digits(at, time.text, time.len))
        return false;
    return (!*s->from || strncmp(at, s->from, strlen(s->from)) >= 0) &&
           (!*s->to || strncmp(at, s->to, strlen(s->to)) <= 0);
}

static bool holds(const struct seen_capture *c, const char *condition)
{
    const char *equals = strchr(condition, '=');
    size_t n = (size_t)(equals - condition), len = strlen(equals + 1);
    char name[128], room[SEEN_KEY_TEXT];
    struct seen_span value;

    if (n >= sizeof name)
        return false;
    memcpy(name, condition, n);
    name[n] = '\0';
    return seen_capture_field(c, name, room, sizeof room, &value) &&
           value.len == len && !memcmp(value.text, equals + 1, len);
}

/* Is the host, or one above it, listed? "hr,nsk,haw": "hr,nsk" may be. */
static bool host_listed(const struct select *s, const char *surt, size_t len)
{
    struct seen_key key;

    for (size_t n = host_len(surt, len); n; n--)
        if (n == host_len(surt, len) || surt[n] == ',') {
            seen_key_hash(&key, surt, n);
            if (exclude_has(&s->hosts, &key))
                return true;
        }
    return false;
}

static bool in_place(const struct select *s, const struct seen_capture *c)
{
    const struct texts *prefix = &s->how->prefix;
    char text[SEEN_KEY_TEXT];
    const char *surt;
    size_t len;
    bool begins = !prefix->n;

    if (!prefix->n && !s->how->hosts)
        return true;
    if (!c->key.len || seen_url_surt_key(&surt, &len, text, c->key.text,
                                         c->key.len, NULL) != SEEN_OK) {
        struct seen_span url = c->url;

        if (!url.len)
            seen_capture_field(c, "url", NULL, 0, &url);
        if (!url.len || seen_url_surt(&surt, &len, text, url.text, url.len,
                                      NULL) != SEEN_OK)
            return false;
    }
    for (size_t i = 0; i < prefix->n && !begins; i++) {
        size_t n = strlen(prefix->text[i]);

        begins = len >= n && !memcmp(surt, prefix->text[i], n);
        /* "hr,nsk," is the host itself, too: "hr,nsk)/". */
        if (n && prefix->text[i][n - 1] == ',' && len >= n &&
            surt[n - 1] == ')')
            begins |= !memcmp(surt, prefix->text[i], n - 1);
    }
    return begins && (!s->how->hosts || host_listed(s, surt, len));
}

bool select_takes(const struct select *s, const struct seen_capture *c)
{
    const struct select_options *how = s->how;

    if (how->status.n && !any(c->status, &how->status))
        return false;
    if (how->mime.n && !any(c->mime, &how->mime))
        return false;
    if ((*s->from || *s->to) && !in_time(s, c->timestamp))
        return false;
    if (!in_place(s, c))
        return false;
    if (how->language.n && !any_language(c, &how->language))
        return false;
    for (size_t i = 0; i < how->where.n; i++)
        if (!holds(c, how->where.text[i]))
            return false;
    return true;
}
