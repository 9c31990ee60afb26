/*
 * killer.c - preloaded into seen: a page with a certain text kills the process,
 * or stops its reader, where libraries see it.
 *
 *     LD_PRELOAD=killer.so KILLER_TEXT='kill me'
 *     LD_PRELOAD=killer.so KILLER_HOLD='hold me' KILLER_FILE=held
 *
 * Readers compress pages for the WARC (ISA-L), and parse those from which
 * a template takes fields (libxml2).
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <isa-l/igzip_lib.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int has(const void *bytes, size_t n, const char *name)
{
    const char *text = getenv(name);

    return text && memmem(bytes, n, text, strlen(text));
}

static void look(const void *bytes, size_t n)
{
    if (has(bytes, n, "KILLER_TEXT"))
        raise(SIGSEGV);
    if (!has(bytes, n, "KILLER_HOLD"))
        return;
    close(open(getenv("KILLER_FILE"), O_WRONLY | O_CREAT, 0666));
    for (;;)
        pause();
}

void *htmlCreateMemoryParserCtxt(const char *in, int n);

int isal_deflate_stateless(struct isal_zstream *z)
{
    int (*next)(struct isal_zstream *) = dlsym(RTLD_NEXT,
                                               "isal_deflate_stateless");

    look(z->next_in, z->avail_in);
    return next(z);
}

void *htmlCreateMemoryParserCtxt(const char *in, int n)
{
    void *(*next)(const char *, int) = dlsym(RTLD_NEXT,
                                             "htmlCreateMemoryParserCtxt");

    look(in, (size_t)n);
    return next(in, n);
}
