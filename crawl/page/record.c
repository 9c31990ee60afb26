/*
 * record.c - write page records, and the ids that they have.
 *
 * An id is never random. Two workers that fetch one page after each other, or
 * one that publishes again after a fault, make the same id, and the classifier
 * takes the first record that has it.
 */
#include "record.h"

#include <string.h>

#include <openssl/crypto.h>
#include <openssl/evp.h>

#include "../../lib/text/calendar.h"
#include "../../lib/text/hex.h"
#include "../../lib/text/json.h"
#include "../../lib/text/span.h"

bool crawl_record_id(char id[CRAWL_RECORD_ID], const char *visit,
                     struct seen_span url, uint64_t turn)
{
    unsigned char sum[EVP_MAX_MD_SIZE];
    struct buffer b = { .bytes = NULL };
    unsigned n = 0;
    bool good;

    buffer_bytes(&b, visit, strlen(visit) + 1);
    buffer_span(&b, url);
    buffer_byte(&b, 0);
    buffer_number(&b, turn);
    good = !b.failed && OSSL_LIB_CTX_get0_global_default() &&
           EVP_Digest(b.bytes, b.len, sum, &n, EVP_sha256(), NULL);
    buffer_clear(&b);
    if (good)
        hex_write(id, sum, 16);
    return good;
}

static void add_text(struct buffer *line, const char *name, const char *text,
                     size_t len)
{
    buffer_format(line, ", \"%s\": ", name);
    buffer_json(line, text, len);
}

static void add_time(struct buffer *line, uint64_t ms)
{
    char text[CALENDAR_TEXT];

    calendar_write(text, ms);
    buffer_format(line, ", \"_fetched_at\": \"%s\"", text);
}

static bool is_bare(int status)
{
    return status == 304 || status == 404 || status == 410;
}

void crawl_record_write(struct buffer *line, const struct crawl_record *r)
{
    const char *visit = r->visit ? r->visit : "";
    char id[CRAWL_RECORD_ID];

    if (!crawl_record_id(id, visit, r->url, r->turn)) {
        line->failed = true;
        return;
    }
    buffer_format(line, "{\"_v\": %d, \"_id\": \"%s\"", CRAWL_RECORD_VERSION,
                  id);
    add_text(line, "_url", r->url.text, r->url.len);
    if (r->template && *r->template)
        add_text(line, "_template", r->template, strlen(r->template));
    if (r->type)
        add_text(line, "_type", r->type, strlen(r->type));
    add_time(line, r->fetched);
    add_text(line, "_visit", visit, strlen(visit));
    buffer_format(line, ", \"_status\": %d", r->status);
    if (r->skeleton && !is_bare(r->status))
        buffer_format(line, ", \"_skeleton\": \"%016llx\"",
                      (unsigned long long)*r->skeleton);
    buffer_text(line, ", \"_turn\": ");
    buffer_number(line, r->turn);
    if (r->costly && !is_bare(r->status))
        add_text(line, "_costly", r->costly, strlen(r->costly));
    if (r->fields && r->fields->len && !is_bare(r->status)) {
        buffer_text(line, ", ");
        buffer_append(line, r->fields);
    }
    buffer_text(line, "}\n");
}
