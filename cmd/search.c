/*
 * search.c - seen search: find pages of a crawl by their words.
 *
 *     $ seen search site roses 'red tulips'
 *     http://a.example/garden
 *         The garden
 *         ... where [red] [tulips] grow beside the [roses] ...
 */
#include "command.h"

#include "../crawl/folder/search.h"
#include "../lib/text/buffer.h"
#include "json.h"
#include "output.h"

struct search_options {
    uint64_t limit;
    bool json;
    uint64_t found; /* by print_result() */
};

static const struct option options[] = {
    { "most", 'n', COUNT, "N", offsetof(struct search_options, limit),
      "print at most this many pages (default 10)" },
    /* Its old name. */
    { "limit", 0, COUNT, "N", offsetof(struct search_options, limit), NULL },
    JSON_OPTION(struct search_options, json, "print an object per page"),
    { .name = NULL }
};

/* One line: a page must not move the cursor of a terminal. */
static void fold(struct buffer *line, struct seen_span text)
{
    line->len = 0;
    for (size_t i = 0; i < text.len; i++) {
        unsigned char c = (unsigned char)text.text[i];

        if (c == CRAWL_SEARCH_BEGIN)
            buffer_byte(line, '[');
        else if (c == CRAWL_SEARCH_END)
            buffer_byte(line, ']');
        else if (c == 0xc2 && i + 1 < text.len &&
                 (unsigned char)text.text[i + 1] < 0xa0)
            i++; /* a control character, U+0080 to U+009F */
        else if (c > ' ' && c != 0x7f)
            buffer_byte(line, (char)c);
        else if (line->len && line->bytes[line->len - 1] != ' ')
            buffer_byte(line, ' ');
    }
    if (line->failed)
        output_no_memory();
}

static void print_result(void *owner, const struct crawl_search_result *r)
{
    struct search_options *s = owner;
    struct buffer title = { .bytes = NULL }, snippet = { .bytes = NULL };

    s->found++;
    fold(&title, r->title);
    fold(&snippet, r->snippet);
    if (s->json) {
        cmd_json_open(NULL, '{');
        cmd_json_text("url", r->url.text, r->url.len);
        cmd_json_text("title", title.len ? title.bytes : "", title.len);
        cmd_json_text("snippet", snippet.len ? snippet.bytes : "",
                      snippet.len);
        cmd_json_number("rank", r->rank);
        cmd_json_number("stored", (double)r->stored / 1000);
        cmd_json_shut('}');
    } else {
        output_bytes(r->url.text, r->url.len);
        output_format("\n    %.*s\n    %.*s\n", (int)title.len,
                      title.len ? title.bytes : "", (int)snippet.len,
                      snippet.len ? snippet.bytes : "");
    }
    buffer_clear(&title);
    buffer_clear(&snippet);
}

static enum outcome run(void *settings, char **operand)
{
    struct search_options *s = settings;
    struct seen_error why;

    if (crawl_search_ask(operand[0], operand + 1, s->limit ? s->limit : 10,
                         print_result, s, &why) != SEEN_OK)
        return trouble_with(operand[0], &why);
    return s->found ? YES : NO;
}

const struct command cmd_search = {
    .name = "search",
    .summary = "find pages of a crawl by their words",
    .synopsis = "DIR WORD...",
    .operands = 2,
    .most = -1,
    .settings = sizeof(struct search_options),
    .options = options,
    .about =
        "Prints the pages of a crawl that have all of the words in their title "
        "or text, the best first: their URL, their title, and a piece of the "
        "text with the words in brackets. The crawl keeps the index if it is "
        "given --index; it may be running.\n"
        "\n"
        "Upper and lower case and accents do not matter. An argument of several "
        "words finds them in this order, next to each other. A * at the end "
        "stands for the rest of a word. Nothing else has a special meaning. "
        "The order is that of SQLite's FTS5 (BM25).\n",
    .exits =
        "0 if pages were found, 1 if none was, 2 if something went wrong.",
    .examples = "$ seen crawl --into site https://a.example/ --index\n"
                "$ seen search site roses 'red tulips'\n"
                "$ seen search site 'tulip*' --limit 100 --json\n",
    .run = run,
};
