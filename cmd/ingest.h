/*
 * ingest.h - the URLs that a command takes, by way of <seen/ingest.h>.
 *
 * They are operands, or come from the files and folders of -i, or from standard
 * input: lists of URLs and the files of archives, recognised by content.
 *
 * A bad line is left out and reported at the end. A bad operand is trouble: the
 * check of a single bad URL must not end with "all URLs were seen".
 */
#ifndef SEEN_CMD_INGEST_H
#define SEEN_CMD_INGEST_H

#include <seen/ingest.h>

#include "command.h"

/* The options of every command that reads URLs. */
struct cmd_inputs {
    struct texts inputs;
    bool strict;
};

/* clang-format off */
#define INPUT_OPTIONS(type, field)                                          \
    { "input", 'i', PATHS, "INPUT", offsetof(type, field.inputs),           \
      "read URLs from this file or folder: a list, CDX, CDXJ, WARC, or "    \
      "anything else that seen build reads; - is standard input; may be "   \
      "given many times" },                                                 \
    { "strict", 0, FLAG, NULL, offsetof(type, field.strict),                \
      "stop at the first bad line, with exit code 2" }
/* clang-format on */

/*
 * Pass the keys of all URLs to in->keys() in order: those of the operands, or
 * else of the inputs. Output is flushed before each wait for more of a pipe.
 * Bad lines are reported.
 *
 * TROUBLE on failure: if why->code is set, in->keys() failed and the caller
 * prints the message; otherwise a message was printed.
 */
enum outcome cmd_ingest_urls(struct seen_ingest *in,
                             const struct cmd_inputs *inputs, char **operand,
                             struct seen_error *why);

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

/* One thread per CPU, or as many as were asked for. */
unsigned cmd_ingest_threads(uint64_t asked);

/*
 * Report the bad lines on standard error, by cause:
 *
 *     seen: 3 lines left out: longer than 8192 bytes (line 17, 20, 41)
 *
 * With more than one input, the name of the input is printed, too. If it was
 * strict, only the first line is reported: "seen: line 17: a control byte".
 */
void cmd_rejects_report(const struct seen_ingest *in);

#endif
