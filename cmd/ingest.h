/*
 * ingest.h - the URLs that a command takes, by way of <seen/ingest.h>.
 *
 * They are operands, or come from the files and folders of -i, or from standard
 * input: lists of URLs and the files of archives, recognised by content.
 *
 * A bad line is left out and reported at the end; with in->bad it gets an
 * answer of its own. A bad operand is trouble: the check of a single bad URL
 * must not end with "all URLs were seen".
 */
#ifndef SEEN_CMD_INGEST_H
#define SEEN_CMD_INGEST_H

#include <seen/ingest.h>

#include "command.h"

/* The options of every command that reads URLs. */
struct cmd_inputs {
    struct texts inputs;
    const char *keys;
    bool strict;
    void (*wait)(void *to); /* called with in->to before each wait for more of
                               a pipe, after which output is flushed; or
                               NULL */
};

/* The old name of --keys derived. */
extern const struct command_absent cmd_keys_absent[];

/* clang-format off */
#define INPUT_OPTIONS(type, field)                                          \
    { "input", 'i', PATHS, "INPUT", offsetof(type, field.inputs),           \
      "read URLs from this file or folder: a list, CDX, CDXJ, WARC, or "    \
      "anything else that seen build reads; - is standard input; may be "   \
      "given many times" },                                                 \
    { "strict", 0, FLAG, NULL, offsetof(type, field.strict),                \
      "stop at the first bad line, with exit code 2" }
#define KEYS_OPTION(type, field)                                            \
    { "keys", 0, TEXT, "trusted|derived|auto", offsetof(type, field.keys),  \
      "how lines of an index become keys: as its key column says, derived " \
      "from its URL column, or (auto, the default) as the keys of the "     \
      "filter were made; if it does not say how, derived" }
/* clang-format on */

/*
 * Pass the keys of all URLs to in->keys() in order: those of the operands, or
 * else of the inputs. in->keying is that of the filter; --keys may change it. Output is flushed before each wait for more of a pipe.
 * Bad lines are reported. An operand that names a file is refused, with the
 * advice to use -i.
 *
 * TROUBLE on failure: if why->code is set, in->keys() failed and the caller
 * prints the message; otherwise a message was printed.
 */
enum outcome cmd_ingest_urls(struct seen_ingest *in,
                             const struct cmd_inputs *inputs, char **operand,
                             struct seen_error *why);

/* Refuse operands beside -i, and those that name files, unless they may be
   relative URLs. */
enum outcome cmd_operands_check(char **operand, const struct texts *inputs,
                                bool relative);

/*
 * The answer to a bad line: "bad<TAB>LINE", or with `json` an object in which
 * `name` is null: {"url": LINE, NAME: null, "error": CAUSE}. The name may be
 * NULL.
 */
void cmd_answer_bad(bool json, const char *name, struct seen_span line,
                    const char *cause);

/* The value of --keys; NULL is auto. False after a message. */
bool cmd_keys_read(enum seen_index_keys *keys, const char *word);

/*
 * How lines of an index become keys, if the filter says keying->keys and the
 * user `word`: TROUBLE after a message if the filter has other keys.
 */
enum outcome cmd_keys_choose(struct seen_keying *keying, const char *word);

/*
 * Report an index whose keys were trusted although they differ from ours.
 * TROUBLE if the filter says so, not the user.
 */
enum outcome cmd_keys_report(const struct seen_ingest *in, const char *word);

/*
 * Open the inputs, with a message if one cannot be read. What cannot be read
 * below a folder is reported and left out, or is trouble if `strict`.
 */
enum outcome cmd_source_open(struct seen_source **out,
                             const char *const *input, size_t n,
                             const struct seen_source_options *options,
                             bool strict);

/* To read in order and answer line by line. */
extern const struct seen_source_options cmd_answering;

/*
 * Run it and show progress, beginning with the word `what`. TROUBLE if it is
 * strict and a line was bad, which cmd_rejects_report() reports, or if it
 * failed: why->code is then set.
 */
enum outcome cmd_ingest_run(struct seen_ingest *in, const char *what,
                            struct seen_error *why);

/*
 * How many parts of the inputs could not be read: files, the rest of files,
 * damaged records. Answers about what was read are right; but a command that
 * lost some of its input has not done what it was asked for.
 */
uint64_t cmd_ingest_lost(const struct seen_ingest *in);

/* Report how many files below folders were left out that may hold URLs. */
void cmd_left_out_report(const struct seen_source *source);

/* One thread per CPU, or as many as were asked for. */
unsigned cmd_ingest_threads(uint64_t asked);

/*
 * Report the bad lines on standard error, by cause, and what is lost:
 *
 *     seen: 3 lines left out: longer than 8192 bytes (line 17, 20, 41)
 *     seen: 1 input not read to the end: the packed data is cut short (line 9)
 *
 * or, if they got answers, "3 bad lines: ...".
 *
 * With more than one input, the name of the input is printed, too. If it was
 * strict, only the first line is reported: "seen: line 17: a control byte".
 */
void cmd_rejects_report(const struct seen_ingest *in);

#endif
