/*
 * job.c - fuzz jobs.
 *
 * A message that is refused has a reason, in UTF-8 without control characters.
 * One that is accepted can be asked for all its start URLs, and is http or
 * https at a public address.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "crawl/job/job.h"
#include "lib/text/utf8.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_reason(const struct seen_error *why)
{
    if (!*why->text || !utf8_valid(why->text, strlen(why->text)))
        abort();
    for (const char *p = why->text; *p; p++)
        if ((unsigned char)*p < ' ' || *p == 0x7f)
            abort();
}

static void use(const struct crawl_job *job)
{
    char url[SEEN_KEY_TEXT], reason[CRAWL_REASON];
    size_t len;
    enum crawl_scope_out out;

    if (!job->starts || job->starts > CRAWL_TEMPLATE_STARTS)
        abort();
    for (uint64_t i = 0; i < job->starts && i < 100; i++) {
        if (crawl_job_start(job, i, url, &len, NULL) != SEEN_OK)
            abort();
        if (!crawl_scope_is_web((struct seen_span){ url, len }))
            abort();
        crawl_scope_has(job->scope, (struct seen_span){ url, len }, 1, false,
                        NULL, &out, reason);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct crawl_job_rules all = { .allow_private = true };
    struct seen_error why = { .text = "" };
    struct crawl_job *job, *free_job;
    enum seen_code code;
    char *text = malloc(size + 1);

    if (!text)
        abort();
    if (size)
        memcpy(text, data, size);
    code = crawl_job_read(&job, (struct seen_span){ text, size }, NULL, &why);
    if (code == SEEN_OK)
        use(job);
    else
        check_reason(&why);
    /* What a strict worker takes, all take. */
    if (crawl_job_read(&free_job, (struct seen_span){ text, size }, &all,
                       NULL) != SEEN_OK &&
        code == SEEN_OK)
        abort();
    crawl_job_free(free_job);
    crawl_job_free(job);
    free(text);
    return 0;
}
