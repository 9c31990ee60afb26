/*
 * consumer.c - a program of another project, which uses only public headers.
 * It makes a filter, adds a URL, saves it, loads it and looks up two URLs. It
 * is valid C11 and valid C++17; the test builds it as both.
 */
#include <stdio.h>
#include <string.h>

#include <seen/filter.h>
#include <seen/store.h>
#include <seen/version.h>

static int complain(const char *what, const struct seen_error *why)
{
    fprintf(stderr, "consumer: %s: %s\n", what, why->text);
    return 1;
}

int main(int argc, char **argv)
{
    static char text[2][SEEN_KEY_TEXT];
    static const char *const url[2] = { "https://a.example/",
                                        "https://b.example/" };
    struct seen_plan plan;
    struct seen_filter *f;
    struct seen_error why;
    struct seen_key key[2];
    bool seen[2];

    if (argc != 2 || strcmp(seen_version(), SEEN_VERSION) != 0)
        return 2;
    memset(&plan, 0, sizeof plan);
    strcpy(plan.kind, "bloom");
    strcpy(plan.profile, "raw");
    plan.capacity = 1000;
    plan.rate = 0.001;
    for (int i = 0; i < 2; i++)
        if (seen_key_make(&key[i], text[i], url[i], strlen(url[i]),
                          plan.profile, &why) != SEEN_OK)
            return complain(url[i], &why);

    if (seen_filter_new(&f, &plan, &why) != SEEN_OK)
        return complain("new", &why);
    if (seen_filter_add(f, &key[0], 1, NULL, &why) != SEEN_OK)
        return complain("add", &why);
    if (seen_store_save(f, argv[1], &why) != SEEN_OK)
        return complain(argv[1], &why);
    seen_filter_free(f);

    if (seen_store_load(&f, argv[1], NULL, &why) != SEEN_OK)
        return complain(argv[1], &why);
    if (seen_filter_has(f, key, 2, seen, &why) != SEEN_OK)
        return complain("has", &why);
    seen_filter_free(f);
    printf("%d %d\n", seen[0], seen[1]);
    return seen[0] && !seen[1] ? 0 : 1;
}
