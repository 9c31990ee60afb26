/* folder.h - what the tests of publishing share: cmocka, and a folder. */
#ifndef TEST_PUBLISH_FOLDER_H
#define TEST_PUBLISH_FOLDER_H

#include "test/folder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The text of a file in the folder, to be freed; NULL if there is none. */
static inline char *text_of(const char *name, size_t *len)
{
    char path[256], *text;
    struct stat it;
    FILE *from;

    snprintf(path, sizeof path, "%s/%s", folder, name);
    from = fopen(path, "rb");
    if (!from)
        return NULL;
    assert_int_equal(fstat(fileno(from), &it), 0);
    text = malloc((size_t)it.st_size + 1);
    assert_int_equal(fread(text, 1, (size_t)it.st_size, from), it.st_size);
    text[it.st_size] = '\0';
    fclose(from);
    if (len)
        *len = (size_t)it.st_size;
    return text;
}

/* How often the word is in the text. Not by strstr(): AddressSanitizer's reads
   the whole text at each call, which took half a minute. */
static inline size_t times(const char *text, const char *word)
{
    size_t n = 0, len = strlen(word);

    for (; *text; text++)
        n += *text == *word && !strncmp(text, word, len);
    return n;
}

#endif
