/* links_threads_test.c - documents are read by several threads at once. */
#include "test/test.h"

#include <iconv.h>
#include <pthread.h>
#include <string.h>

#include "web/links.h"

static const char *const pages[] = {
    "<meta charset=koi8-r><a href='?\xc1'>\xc1</a>&eacute;",
    "<meta charset=shift_jis><a href='?\x82\xa0'>\x82\xa0</a>",
    "<meta charset=utf-8><a href=x>y</a><img srcset='a 1x, b 2x'>",
    "<style>@import 'x'; a{b:url(y)}</style><svg><a href=z></svg>",
};

static void add(void *owner, const struct web_link *link)
{
    uint64_t *sum = owner;

    for (size_t i = 0; i < link->url.len; i++)
        *sum = *sum * 31 + (unsigned char)link->url.text[i];
    for (size_t i = 0; i < link->text.len; i++)
        *sum = *sum * 37 + (unsigned char)link->text.text[i];
}

static void *read_all(void *out)
{
    uint64_t *sum = out;

    for (int turn = 0; turn < 200; turn++) {
        *sum = 0;
        for (size_t i = 0; i < LENGTH(pages); i++) {
            struct web_document doc = { .bytes = pages[i],
                                        .len = strlen(pages[i]),
                                        .url = "http://h/",
                                        .url_len = 9,
                                        .requisites = true };

            if (web_links_read(&doc, NULL, add, sum, NULL) != SEEN_OK)
                *sum = 1;
        }
    }
    return NULL;
}

/* glibc unloads the modules of iconv when they are not used. The locks of the
   dynamic linker are not seen by ThreadSanitizer, so they stay loaded here. */
static void keep_modules(void)
{
    static const char *const names[] = { "CP932", "SHIFT_JIS", "KOI8-R",
                                         "UTF-16LE" };
    static iconv_t kept[2 * LENGTH(names)];

    for (size_t i = 0; i < LENGTH(names); i++) {
        kept[2 * i] = iconv_open(names[i], "UTF-8");
        kept[2 * i + 1] = iconv_open("UTF-8", names[i]);
    }
    assert_ptr_not_equal(kept[0], (iconv_t)-1);
}

TEST(threads_read_the_same)
{
    enum { THREADS = 4 };
    uint64_t sum[THREADS], alone;
    pthread_t thread[THREADS];

    keep_modules();
    read_all(&alone);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&thread[i], NULL, read_all, &sum[i]),
                         0);
    for (int i = 0; i < THREADS; i++) {
        pthread_join(thread[i], NULL);
        assert_true(sum[i] == alone && alone > 1);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_read_the_same),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
