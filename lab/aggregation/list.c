/* list.c - the experiments on the aggregation paper, and their records. */
#include "aggregation.h"

#include <seen/key.h>

#include "../../lib/text/json.h"

const struct experiment aggregation[] = {
    { "misnamed", "Section 2b", "how often a change gets the wrong name",
      aggregation_misnamed },
    { "changed-words", "Section 3",
      "which word changed: theory beside measurement", aggregation_words },
    { .name = NULL },
};

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
