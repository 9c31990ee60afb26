/*
 * record.c - the header of a WARC record, and what the standard says about it.
 *
 * The rules are those of WARC 1.1 (ISO 28500:2017), clauses 5 and 6. WARC 1.0
 * differs in three things: dates have seconds and no fractions, its grammar
 * wants brackets around the URIs where its examples have none, and it does not
 * know WARC-Refers-To-Target-URI and -Date, which are accepted all the same.
 */
#include "record.h"

#include <arpa/inet.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "../lib/text/number.h"
#include "../lib/text/span.h"
#include "../lib/text/utf8.h"
#include "digest.h"
#include "field.h"

static const char *const type_names[WARC_TYPES] = {
    "warcinfo", "response",   "resource",     "request", "metadata",
    "revisit",  "conversion", "continuation", "other",
};

const char *warc_type_name(enum warc_type type)
{
    return type_names[type];
}

/* --- the rules --- */

enum {
    INFO = 1 << WARC_WARCINFO,
    RESPONSE = 1 << WARC_RESPONSE,
    RESOURCE = 1 << WARC_RESOURCE,
    REQUEST = 1 << WARC_REQUEST,
    META = 1 << WARC_METADATA,
    REVISIT = 1 << WARC_REVISIT,
    CONVERSION = 1 << WARC_CONVERSION,
    CONTINUATION = 1 << WARC_CONTINUATION,
    OTHER = 1 << WARC_OTHER,
    DEFINED = OTHER - 1, /* all that the standard defines */
    ALL = DEFINED | OTHER
};

enum form { TEXT, ID, URI, DATE, NUMBER, DIGEST, ADDRESS, REASON };

static const struct warc_rule {
    const char *name;
    unsigned must;  /* types that need it */
    unsigned never; /* types that must not have it */
    enum form form;
} rules[WARC_NAMES] = {
    [WARC_TYPE] = { "WARC-Type", ALL, 0, TEXT },
    [WARC_RECORD_ID] = { "WARC-Record-ID", ALL, 0, ID },
    [WARC_RECORD_DATE] = { "WARC-Date", ALL, 0, DATE },
    [WARC_CONTENT_LENGTH] = { "Content-Length", ALL, 0, NUMBER },
    [WARC_CONTENT_TYPE] = { "Content-Type", 0, 0, TEXT },
    [WARC_CONCURRENT_TO] = { "WARC-Concurrent-To", 0,
                             INFO | CONVERSION | CONTINUATION, ID },
    [WARC_BLOCK_DIGEST] = { "WARC-Block-Digest", 0, 0, DIGEST },
    [WARC_PAYLOAD_DIGEST] = { "WARC-Payload-Digest", 0, 0, DIGEST },
    [WARC_IP_ADDRESS] = { "WARC-IP-Address", 0,
                          INFO | CONVERSION | CONTINUATION, ADDRESS },
    [WARC_REFERS_TO] = { "WARC-Refers-To", 0,
                         INFO | RESPONSE | RESOURCE | REQUEST | CONTINUATION,
                         ID },
    [WARC_REFERS_TO_TARGET_URI] = { "WARC-Refers-To-Target-URI", 0,
                                    DEFINED & ~REVISIT, URI },
    [WARC_REFERS_TO_DATE] = { "WARC-Refers-To-Date", 0, DEFINED & ~REVISIT,
                              DATE },
    [WARC_TARGET_URI] = { "WARC-Target-URI",
                          RESPONSE | RESOURCE | REQUEST | REVISIT |
                              CONVERSION | CONTINUATION,
                          INFO, URI },
    [WARC_TRUNCATED] = { "WARC-Truncated", 0, 0, REASON },
    [WARC_WARCINFO_ID] = { "WARC-Warcinfo-ID", 0, INFO, ID },
    [WARC_FILENAME] = { "WARC-Filename", 0, DEFINED & ~INFO, TEXT },
    [WARC_PROFILE] = { "WARC-Profile", REVISIT, 0, URI },
    [WARC_IDENTIFIED_PAYLOAD_TYPE] = { "WARC-Identified-Payload-Type", 0, 0,
                                       TEXT },
    [WARC_SEGMENT_ORIGIN_ID] = { "WARC-Segment-Origin-ID", CONTINUATION,
                                 DEFINED & ~CONTINUATION, ID },
    [WARC_SEGMENT_NUMBER] = { "WARC-Segment-Number", CONTINUATION, 0, NUMBER },
    [WARC_SEGMENT_TOTAL_LENGTH] = { "WARC-Segment-Total-Length", 0,
                                    DEFINED & ~CONTINUATION, NUMBER },
};

/* What is complained about, and to whom. */
struct warc_complaint {
    void (*say)(void *owner, bool note, const char *text);
    void *owner;
};

static void complain(const struct warc_complaint *c, bool note,
                     const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static void complain(const struct warc_complaint *c, bool note,
                     const char *format, ...)
{
    char text[256];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    c->say(c->owner, note, text);
}

/* How many bytes of a value a message has room for. */
static int shown(struct seen_span s)
{
    return s.len < 100 ? (int)s.len : 100;
}

/* --- the forms of values --- */

static bool strip_brackets(struct seen_span *value)
{
    if (value->len < 2 || value->text[0] != '<' ||
        value->text[value->len - 1] != '>')
        return false;
    value->text++;
    value->len -= 2;
    return true;
}

/* RFC 3986 as far as it concerns us: a scheme, a colon, and no white space,
   control bytes or brackets. */
static bool is_uri(struct seen_span s)
{
    const char *colon = s.len ? memchr(s.text, ':', s.len) : NULL;

    if (!colon || colon == s.text)
        return false;
    for (const char *p = s.text; p < colon; p++) {
        char low = (char)(*p | 0x20);
        bool letter = low >= 'a' && low <= 'z';

        if (!letter && (p == s.text || !strchr("0123456789+-.", *p)))
            return false;
    }
    for (size_t i = 0; i < s.len; i++)
        if ((unsigned char)s.text[i] <= ' ' || s.text[i] == 127 ||
            s.text[i] == '<' || s.text[i] == '>')
            return false;
    return true;
}

static bool is_address(struct seen_span s)
{
    unsigned char bytes[16];
    char text[64];

    if (s.len >= sizeof text)
        return false;
    memcpy(text, s.text, s.len);
    text[s.len] = '\0';
    return inet_pton(AF_INET, text, bytes) == 1 ||
           inet_pton(AF_INET6, text, bytes) == 1;
}

static void check_uri(const struct warc_record *r,
                      const struct warc_rule *rule, struct seen_span *value,
                      const struct warc_complaint *to)
{
    bool old = r->major == 1 && r->minor == 0;

    if (strip_brackets(value) && rule->form == URI && !old)
        complain(to, false, "%s has brackets around the URI", rule->name);
    else if (rule->form == ID && value->text[-1] != '<' && !old)
        complain(to, true, "%s has no brackets around the URI", rule->name);
    if (!is_uri(*value))
        complain(to, false, "%s is not a URI: %.*s", rule->name, shown(*value),
                 value->text);
}

static bool check_date(const struct warc_record *r,
                       const struct warc_rule *rule, struct seen_span value,
                       struct warc_date *date, const struct warc_complaint *to)
{
    if (!warc_date_read(value, date)) {
        complain(to, false, "%s is not a UTC date: %.*s", rule->name,
                 shown(value), value.text);
        return false;
    }
    if (r->major == 1 && r->minor == 0 && (date->fields != 6 || date->digits))
        complain(to, false,
                 "%s is not a date of WARC 1.0, which has seconds "
                 "and no fractions: %.*s",
                 rule->name, shown(value), value.text);
    return true;
}

static void check_digest(const struct warc_rule *rule, struct seen_span value,
                         const struct warc_complaint *to)
{
    unsigned char bytes[WARC_DIGEST_MOST];
    const struct warc_algorithm *a;
    enum warc_digest_verdict verdict = warc_digest_read(value, &a, bytes);

    if (verdict == WARC_DIGEST_BAD)
        complain(to, false, "%s is not a digest: %.*s", rule->name,
                 shown(value), value.text);
    else if (verdict == WARC_DIGEST_UNKNOWN)
        complain(to, true, "%s is of an unknown kind: %.*s", rule->name,
                 shown(value), value.text);
}

static void check_reason(const struct warc_rule *rule, struct seen_span value,
                         const struct warc_complaint *to)
{
    if (!span_like(value, "length") && !span_like(value, "time") &&
        !span_like(value, "disconnect") && !span_like(value, "unspecified"))
        complain(to, true, "%s has a reason of its own: %.*s", rule->name,
                 shown(value), value.text);
}

static void check_value(struct warc_record *r, enum warc_name name,
                        const struct warc_complaint *to)
{
    const struct warc_rule *rule = &rules[name];
    struct seen_span *value = &r->value[name];
    struct warc_date date;
    uint64_t number;

    if (!value->len) {
        complain(to, false, "%s is empty", rule->name);
        return;
    }
    switch (rule->form) {
    case ID:
    case URI: check_uri(r, rule, value, to); break;
    case DATE:
        if (check_date(r, rule, *value, &date, to) &&
            name == WARC_RECORD_DATE) {
            r->dated = true;
            r->date = date;
        }
        break;
    case NUMBER:
        if (!number_digits(*value, &number)) {
            complain(to, false, "%s is not a number: %.*s", rule->name,
                     shown(*value), value->text);
        } else if (name == WARC_CONTENT_LENGTH) {
            r->sized = true;
            r->length = number;
        } else if (name == WARC_SEGMENT_NUMBER && !number) {
            complain(to, false, "%s is 0, but segments count from 1",
                     rule->name);
        }
        break;
    case DIGEST: check_digest(rule, *value, to); break;
    case ADDRESS:
        if (!is_address(*value))
            complain(to, false, "%s is not a numeric address: %.*s",
                     rule->name, shown(*value), value->text);
        break;
    case REASON: check_reason(rule, *value, to); break;
    default: break;
    }
}

/* --- the record as a whole --- */

static void check_type(struct warc_record *r, const struct warc_complaint *to)
{
    struct seen_span type = r->value[WARC_TYPE];

    r->type = WARC_OTHER;
    for (unsigned i = 0; i < WARC_OTHER; i++)
        if (span_like(type, type_names[i]))
            r->type = i;
    if (type.len && r->type == WARC_OTHER)
        complain(to, true, "WARC-Type is of an extension: %.*s", shown(type),
                 type.text);
}

static void check_revisit(const struct warc_record *r,
                          const struct warc_complaint *to)
{
    struct seen_span profile = r->value[WARC_PROFILE];
    bool identical = span_ends(profile, "/identical-payload-digest");

    if (!profile.len)
        return;
    if (!identical && !span_ends(profile, "/server-not-modified"))
        complain(to, true, "WARC-Profile is of an extension: %.*s",
                 shown(profile), profile.text);
    if (identical && !r->value[WARC_PAYLOAD_DIGEST].text)
        complain(to, false, "a revisit by digest needs WARC-Payload-Digest");
    if (!r->value[WARC_REFERS_TO].text &&
        !(r->value[WARC_REFERS_TO_TARGET_URI].text &&
          r->value[WARC_REFERS_TO_DATE].text))
        complain(to, true, "a revisit that does not say what it refers to");
}

static void check_record(const struct warc_record *r,
                         const struct warc_complaint *to)
{
    unsigned bit = 1u << r->type;

    for (unsigned i = 0; i < WARC_NAMES; i++) {
        bool there = r->value[i].text;

        if (!there && rules[i].must & bit)
            complain(to, false, "%s is missing", rules[i].name);
        if (there && rules[i].never & bit)
            complain(to, false, "%s does not belong into a record of type %s",
                     rules[i].name, type_names[r->type]);
    }
    if (r->length && r->type != WARC_CONTINUATION &&
        !r->value[WARC_CONTENT_TYPE].text)
        complain(to, true, "Content-Type is missing");
    if ((r->type == WARC_WARCINFO || r->type == WARC_METADATA) &&
        r->value[WARC_PAYLOAD_DIGEST].text)
        complain(to, true, "WARC-Payload-Digest in a record without payload");
    if (r->type == WARC_REVISIT)
        check_revisit(r, to);
}

bool warc_version_read(struct seen_span line, unsigned *major, unsigned *minor)
{
    const char *dot, *end = line.text + line.len;

    *major = *minor = 0;
    if (!span_begins(line, "WARC/"))
        return false;
    line.text += 5;
    line.len -= 5;
    dot = line.len ? memchr(line.text, '.', line.len) : NULL;
    if (!dot || dot == line.text || dot + 1 == end || line.len > 8)
        return false;
    for (const char *p = line.text; p < end; p++) {
        if (p == dot)
            continue;
        if (*p < '0' || *p > '9')
            return false;
        if (p < dot)
            *major = 10 * *major + (unsigned)(*p - '0');
        else
            *minor = 10 * *minor + (unsigned)(*p - '0');
    }
    return true;
}

/* Are there lines that end with LF alone? */
static bool has_bare_lf(struct seen_span head)
{
    for (size_t i = 0; i < head.len; i++)
        if (head.text[i] == '\n' && (!i || head.text[i - 1] != '\r'))
            return true;
    return false;
}

static bool is_token(struct seen_span s)
{
    for (size_t i = 0; i < s.len; i++)
        if (s.text[i] <= ' ' || s.text[i] >= 127 ||
            strchr("()<>@,;:\\\"/[]?={}", s.text[i]))
            return false;
    return s.len;
}

/* Folded lines have their line ends in them. */
static bool has_control(struct seen_span s)
{
    for (size_t i = 0; i < s.len; i++)
        if (((unsigned char)s.text[i] < ' ' &&
             !memchr("\t\r\n", s.text[i], 3)) ||
            s.text[i] == 0x7f)
            return true;
    return false;
}

static void read_fields(struct warc_record *r, struct seen_span rest,
                        const struct warc_complaint *to)
{
    struct seen_span name, value;

    while (warc_field_next(&rest, &name, &value)) {
        unsigned i = 0;

        if (!is_token(name))
            complain(to, false, "a line of the header is not a field: %.*s",
                     shown(name.len ? name : value),
                     name.len ? name.text : value.text);
        if (!utf8_valid(value.text, value.len))
            complain(to, false, "%.*s is not UTF-8", shown(name), name.text);
        else if (has_control(value))
            complain(to, false, "%.*s has control bytes", shown(name),
                     name.text);
        while (i < WARC_NAMES && !span_like(name, rules[i].name))
            i++;
        if (i == WARC_NAMES)
            continue;
        if (r->value[i].text && i != WARC_CONCURRENT_TO)
            complain(to, false, "%s is there twice", rules[i].name);
        else if (!r->value[i].text)
            r->value[i] = value;
    }
}

void warc_record_read(struct warc_record *r, struct seen_span head,
                      void (*say)(void *owner, bool note, const char *text),
                      void *owner)
{
    const struct warc_complaint to = { say, owner };
    struct seen_span rest = head, line = { "", 0 };

    *r = (struct warc_record){ .type = WARC_OTHER };
    span_line(&rest, &line);
    if (!warc_version_read(line, &r->major, &r->minor))
        complain(&to, false, "the first line is not a version: %.*s",
                 shown(line), line.text);
    else if (r->major != 1 || r->minor > 1)
        complain(&to, true, "WARC/%u.%u is a version that is not known",
                 r->major, r->minor);
    if (has_bare_lf(head))
        complain(&to, false, "lines of the header end without CR");
    read_fields(r, rest, &to);
    check_type(r, &to);
    for (unsigned i = 0; i < WARC_NAMES; i++)
        if (r->value[i].text)
            check_value(r, i, &to);
    check_record(r, &to);
}

bool warc_record_likely(struct seen_span bytes)
{
    struct seen_span line = { "", 0 }, name, value;
    bool sized = false, typed = false;
    unsigned major, minor;
    uint64_t number;

    if (!span_line(&bytes, &line) || !warc_version_read(line, &major, &minor))
        return false;
    while (warc_field_next(&bytes, &name, &value)) {
        if (!is_token(name))
            return false;
        if (span_like(name, "Content-Length"))
            sized = number_digits(value, &number);
        typed |= span_like(name, "WARC-Type");
    }
    return sized && typed;
}
