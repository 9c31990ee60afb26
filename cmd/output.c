/* output.c - a buffer in front of standard output. */
#include "output.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../lib/text/xml.h"

enum { ROOM = 1 << 16 };

static char waiting[ROOM];
static size_t waits;
static int failed;

static void hand_over(const char *text, size_t len)
{
    while (len && !failed) {
        ssize_t done = write(STDOUT_FILENO, text, len);

        if (done >= 0) {
            text += done;
            len -= (size_t)done;
        } else if (errno != EINTR) {
            failed = errno;
        }
    }
}

int output_flush(void)
{
    hand_over(waiting, waits);
    waits = 0;
    return failed;
}

/* The first flush also saves the name of a new file; later ones need not. */
int output_sync(void)
{
    static bool regular, known, named;
    struct stat st;

    if (output_flush())
        return failed;
    if (!known) {
        regular = fstat(STDOUT_FILENO, &st) == 0 && S_ISREG(st.st_mode);
        known = true;
    }
    if (regular && (named ? fdatasync : fsync)(STDOUT_FILENO) < 0)
        failed = errno;
    named = true;
    return failed;
}

void output_no_memory(void)
{
    if (!failed)
        failed = ENOMEM;
}

bool output_dead(void)
{
    return failed;
}

void output_bytes(const char *text, size_t len)
{
    if (len > ROOM - waits)
        output_flush();
    if (len > ROOM) {
        hand_over(text, len);
        return;
    }
    memcpy(waiting + waits, text, len);
    waits += len;
}

void output_text(const char *text)
{
    output_bytes(text, strlen(text));
}

void output_format(const char *format, ...)
{
    char small[512], *text = small;
    va_list args;
    int len;

    va_start(args, format);
    len = vsnprintf(small, sizeof small, format, args);
    va_end(args);
    if (len >= (int)sizeof small) {
        text = malloc((size_t)len + 1);
        if (!text) {
            output_no_memory();
            return;
        }
        va_start(args, format);
        vsnprintf(text, (size_t)len + 1, format, args);
        va_end(args);
    }
    if (len > 0)
        output_bytes(text, (size_t)len);
    if (text != small)
        free(text);
}

void output_shown(struct seen_span text)
{
    static struct buffer b;

    b.len = 0;
    buffer_xml_chars(&b, text.text, text.len);
    if (b.failed)
        output_no_memory();
    else if (b.len)
        output_bytes(b.bytes, b.len);
}
