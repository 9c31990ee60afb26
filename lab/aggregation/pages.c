/*
 * pages.c - made-up page records that follow from their numbers.
 *
 * A text of words that are functions of (page, place): no two pages share a
 * text, and a version differs from the first one in one word. So the true
 * class of each record is known without being stored, for any number of pages.
 */
#include "aggregation.h"

#include <stdlib.h>

#include <seen/key.h>

#include "../../lib/text/json.h"

void aggregation_text(struct buffer *to, uint64_t number, unsigned words,
                      unsigned odd)
{
    for (unsigned i = 0; i < words; i++)
        buffer_format(
            to, "%s%s%llx", i ? " " : "", i == odd ? "new" : "w",
            (unsigned long long)(seen_mix(number * 65537 + i +
                                          UINT64_C(0x9e3779b97f4a7c15)) >>
                                 34));
}

void aggregation_record(struct buffer *line, uint64_t id, uint64_t page,
                        const struct buffer *text)
{
    line->len = 0;
    buffer_format(line,
                  "{\"_id\": \"%llu\", \"_url\": \"http://h.example/%llu\", "
                  "\"_visit\": \"%llu\", \"_status\": 200, \"text\": [",
                  (unsigned long long)id, (unsigned long long)page,
                  (unsigned long long)id);
    buffer_json(line, text->bytes, text->len);
    buffer_text(line, "]}");
}

void aggregation_pages_init(struct aggregation_pages *p, uint64_t first,
                            size_t n, unsigned version, unsigned words)
{
    struct buffer text = { .bytes = NULL };
    struct seen_error why;

    p->record = lab_memory(n, sizeof *p->record);
    p->line = lab_memory(n, sizeof *p->line);
    p->n = n;
    for (size_t i = 0; i < n; i++) {
        uint64_t page = first + i;

        text.len = 0;
        aggregation_text(&text, page, words,
                         version ? (unsigned)(page + version) % words : words);
        aggregation_record(&p->line[i], page * 64 + version, page, &text);
        lab_must(change_record_read(
                     &p->record[i],
                     (struct seen_span){ p->line[i].bytes, p->line[i].len },
                     &why),
                 &why);
    }
    buffer_clear(&text);
}

void aggregation_pages_clear(struct aggregation_pages *p)
{
    for (size_t i = 0; i < p->n; i++) {
        change_record_clear(&p->record[i]);
        buffer_clear(&p->line[i]);
    }
    free(p->record);
    free(p->line);
}
