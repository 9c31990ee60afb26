/*
 * killer.c - preloaded into seen: a page with a certain text kills the process,
 * or stops its reader, where libraries see it.
 *
 *     LD_PRELOAD=killer.so KILLER_TEXT='kill me'
 *     LD_PRELOAD=killer.so KILLER_HOLD='hold me' KILLER_FILE=held
 *
 * Readers compress pages for the WARC (libdeflate), and parse those from which
 * a template takes fields (libxml2).
 */
#include <dlfcn.h>
#include <fcntl.h>
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

size_t libdeflate_gzip_compress(void *c, const void *in, size_t n, void *out,
                                size_t room);
void *htmlCreateMemoryParserCtxt(const char *in, int n);

size_t libdeflate_gzip_compress(void *c, const void *in, size_t n, void *out,
                                size_t room)
{
    size_t (*next)(void *, const void *, size_t, void *,
                   size_t) = dlsym(RTLD_NEXT, "libdeflate_gzip_compress");

    look(in, n);
    return next(c, in, n, out, room);
}

void *htmlCreateMemoryParserCtxt(const char *in, int n)
{
    void *(*next)(const char *, int) = dlsym(RTLD_NEXT,
                                             "htmlCreateMemoryParserCtxt");

    look(in, (size_t)n);
    return next(in, n);
}
