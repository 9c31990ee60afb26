/*
 * typed.c - seen bench typed: commands as a user types them.
 *
 *     seen build -o f list                  0.82 s CPU   0.21 x wc -l
 *     seen build -o f --capacity 10M list   0.73         0.24
 *
 * Whole processes with files in a folder of $TMPDIR, where the page cache has
 * them: without options, and below that the best case, with a capacity. What
 * they are compared with reads the same file: `wc -l`, `igzip -d`, or a set
 * that does what `seen dedup` does with a table of 64-bit hashes, open
 * addressing that doubles, and no file. All take turns, and the smallest time
 * of each is shown. CPU time is that of all threads and children together: with
 * pipes that of `cat`, too.
 */
#include "bench.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "index.h"
#include "process.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

enum {
    TURNS_MOST = 25,
    CAPTURES = 3,  /* of each URL of an index */
    URL_BYTES = 41, /* of the list */
    MOST_CDX = 3000000,
    PIECE = 1 << 20,
    FIRST_SLOTS = 1 << 10
};

struct typed_options {
    uint64_t urls, turns;
    const char *only;
    bool json, help;
};

enum typed_input { LIST, CDX, GZIP, CDXJ, INPUTS };

/* $S is seen, $D the folder, $N the number of URLs. Without a command it is
   the set. Rows of an input are compared with the peer above them. */
struct typed_row {
    enum typed_input of;
    enum typed_role { PEER, FILTER, OTHER } role; /* FILTER: it makes $D/f */
    const char *shown, *command;
};

static const struct typed_row rows[] = {
    { LIST, PEER, "wc -l LIST", "wc -l $D/list" },
    { LIST, FILTER, "seen build -o F LIST", "$S build -q -o $D/f $D/list" },
    { LIST, FILTER, "  with --capacity",
      "$S build -q -o $D/f --capacity $N $D/list" },
    { LIST, FILTER, "cat LIST | seen build -o F -",
      "cat $D/list | $S build -q -o $D/f -" },
    { LIST, FILTER, "seen add NEW -i LIST",
      "rm -f $D/f $D/f.*; $S add $D/f -i $D/list" },
    { LIST, PEER, "a set of 64-bit hashes", NULL },
    { LIST, OTHER, "seen dedup LIST", "$S dedup $D/list" },
    { LIST, OTHER, "  with --capacity", "$S dedup --capacity $N $D/list" },
    { CDX, PEER, "wc -l CDX", "wc -l $D/cdx" },
    { CDX, FILTER, "seen build -o F CDX", "$S build -q -o $D/f $D/cdx" },
    { CDX, FILTER, "  with --capacity",
      "$S build -q -o $D/f --capacity $N $D/cdx" },
    { GZIP, PEER, "igzip -d CDX.gz", "igzip -d -c $D/gzip" },
    { GZIP, FILTER, "seen build -o F CDX.gz", "$S build -q -o $D/f $D/gzip" },
    { GZIP, FILTER, "  with --capacity",
      "$S build -q -o $D/f --capacity $N $D/gzip" },
    { CDXJ, PEER, "wc -l CDXJ", "wc -l $D/cdxj" },
    { CDXJ, FILTER, "seen build -o F CDXJ", "$S build -q -o $D/f $D/cdxj" },
    { CDXJ, FILTER, "  with --capacity",
      "$S build -q -o $D/f --capacity $N $D/cdxj" },
};
enum { ROWS = sizeof rows / sizeof *rows };

/* The smallest times and the most memory of all turns, by row. */
static struct typed_best {
    double cpu, seconds, memory, bits;
} bests[ROWS];

static const char *const names[INPUTS] = { "list", "cdx", "gzip", "cdxj" };

/* --- the set --- */

struct hash_set {
    uint64_t *slot, slots, used;
};

/* True if the hash is new. 0 stands for an empty slot. */
static bool set_add(struct hash_set *s, uint64_t hash)
{
    uint64_t at = (hash *= UINT64_C(0x9e3779b97f4a7c15)) & (s->slots - 1);

    hash += !hash;
    while (s->slot[at] && s->slot[at] != hash)
        at = (at + 1) & (s->slots - 1);
    if (s->slot[at])
        return false;
    s->slot[at] = hash;
    s->used++;
    return true;
}

/* Twice as large from three quarters on. False for lack of memory. */
static bool set_grow(struct hash_set *s)
{
    struct hash_set larger = { .slots = s->slots ? 2 * s->slots
                                                 : FIRST_SLOTS };

    if (4 * s->used < 3 * s->slots)
        return true;
    larger.slot = calloc(larger.slots, sizeof *larger.slot);
    if (!larger.slot)
        return false;
    larger.used = s->used;
    for (uint64_t i = 0; i < s->slots; i++)
        if (s->slot[i]) {
            uint64_t at = s->slot[i] & (larger.slots - 1);

            while (larger.slot[at])
                at = (at + 1) & (larger.slots - 1);
            larger.slot[at] = s->slot[i];
        }
    free(s->slot);
    *s = larger;
    return true;
}

static void dedup_by_set(void *with)
{
    struct hash_set s = { .slot = NULL };
    char path[PATH_ROOM], line[PIECE];
    FILE *in, *out = fopen("/dev/null", "we");

    (void)with;
    process_path(path, "list");
    in = fopen(path, "re");
    while (in && out && fgets(line, sizeof line, in)) {
        size_t len = strlen(line);

        if (!set_grow(&s))
            _exit(1);
        if (set_add(&s, XXH3_64bits(line, len - 1)))
            fwrite(line, 1, len, out);
    }
    _exit(!in || !out || ferror(out) || fclose(out));
}

/* --- inputs --- */

static bool write_list(FILE *file, uint64_t urls)
{
    for (uint64_t i = 0; i < urls; i++) {
        uint64_t x = seen_mix(i);

        fprintf(file, "https://h%05x.example/a/%016llx\n", (unsigned)(x >> 52),
                (unsigned long long)x);
    }
    return !ferror(file);
}

static bool write_input(enum typed_input what, uint64_t urls)
{
    uint64_t lines = urls * CAPTURES < MOST_CDX ? urls * CAPTURES : MOST_CDX;
    uint64_t bytes;
    char path[PATH_ROOM];
    FILE *file;
    bool good;

    process_path(path, names[what]);
    file = fopen(path, "we");
    if (!file)
        return false;
    if (what == LIST)
        good = write_list(file, urls);
    else
        good = index_write(file,
                           what == CDX    ? INDEX_CDX
                           : what == GZIP ? INDEX_GZIP
                                          : INDEX_CDXJ,
                           0, lines, CAPTURES, &bytes);
    if (fflush(file) || fsync(fileno(file))) /* no writing later */
        good = false;
    return !fclose(file) && good;
}

/* --- rows --- */

static bool wanted(const struct typed_row *r, const struct typed_options *set)
{
    return !set->only || !strcmp(set->only, names[r->of]);
}

static void keep_best(struct typed_best *best, const struct process_cost *cost)
{
    if (!(best->cpu > 0) || cost->cpu < best->cpu)
        best->cpu = cost->cpu;
    if (!(best->seconds > 0) || cost->seconds < best->seconds)
        best->seconds = cost->seconds;
    if (cost->memory > best->memory)
        best->memory = cost->memory;
}

static bool run_row(int row, uint64_t urls)
{
    const struct typed_row *r = &rows[row];
    const char *argv[] = { "sh", "-c", r->command, NULL };
    double begun = clock_seconds();
    struct process_cost cost;
    struct stat made;
    char path[PATH_ROOM];
    pid_t child;
    bool good;

    if (r->command) {
        good = process_measure(argv, NULL, "errors", &cost);
    } else {
        child = process_fork(dedup_by_set, NULL);
        good = process_wait(&child, &cost);
        cost.seconds = clock_seconds() - begun;
    }
    if (!good) {
        fprintf(stderr, "seen: bench: %s failed\n", r->shown);
        process_show("errors");
        return false;
    }
    keep_best(&bests[row], &cost);
    process_path(path, "f");
    if (r->role == FILTER && !stat(path, &made))
        bests[row].bits = 8.0 * (double)made.st_size / (double)urls;
    return true;
}

static void show_row(int row, int peer, bool json)
{
    const struct typed_row *r = &rows[row];
    const struct typed_best *best = &bests[row], *other = &bests[peer];

    if (json) {
        printf(
            "{\"bench\": \"typed\", \"input\": \"%s\", \"command\": \"%s\", "
            "\"peer\": \"%s\", ",
            names[r->of], r->shown + strspn(r->shown, " "), rows[peer].shown);
        bench_json("cpu_seconds", best->cpu, ", ");
        bench_json("seconds", best->seconds, ", ");
        bench_json("x_cpu", other->cpu / best->cpu, ", ");
        bench_json("x_clock", other->seconds / best->seconds, ", ");
        bench_json("memory", best->memory, ", ");
        bench_json("bits_per_url", r->role == FILTER ? best->bits : NAN,
                   "}\n");
        return;
    }
    printf("%-30s %8.2f %8.2f %8.2f %8.2f %8.0f", r->shown, best->cpu,
           best->seconds, other->cpu / best->cpu,
           other->seconds / best->seconds, best->memory / 1e6);
    if (r->role == FILTER)
        printf(" %8.1f", best->bits);
    putchar('\n');
}

static bool take_turns(const struct typed_options *set)
{
    uint64_t captured = set->urls < MOST_CDX / CAPTURES ? set->urls
                                                        : MOST_CDX / CAPTURES;
    char number[32];

    for (uint64_t turn = 0; turn < set->turns; turn++)
        for (int i = 0; i < ROWS; i++) {
            uint64_t urls = rows[i].of == LIST ? set->urls : captured;

            snprintf(number, sizeof number, "%llu", (unsigned long long)urls);
            setenv("N", number, 1);
            if (wanted(&rows[i], set) && !run_row(i, urls))
                return false;
        }
    return true;
}

static int run_all(void *with)
{
    const struct typed_options *set = with;
    int peer = 0;
    char seen[PATH_ROOM];

    if (!process_seen(seen) ||
        !process_room(set->urls * (URL_BYTES + 20) + (UINT64_C(3) << 30)))
        return 2;
    setenv("S", seen, 1);
    setenv("D", process_folder(), 1);
    for (int i = 0; i < INPUTS; i++)
        if ((!set->only || !strcmp(set->only, names[i])) &&
            !write_input((enum typed_input)i, set->urls)) {
            perror("seen: bench");
            return 2;
        }
    if (!take_turns(set))
        return 2;
    if (!set->json) {
        bench_show_cpu();
        printf("%llu URLs of %d bytes in LIST; smallest of %u turns; x: the "
               "time of the peer above, divided\n%-30s %8s %8s %8s %8s %8s "
               "%8s\n",
               (unsigned long long)set->urls, URL_BYTES, (unsigned)set->turns,
               "", "CPU s", "s", "x CPU", "x clock", "MB", "bits/URL");
    }
    for (int i = 0; i < ROWS; i++) {
        peer = rows[i].role == PEER ? i : peer;
        if (wanted(&rows[i], set))
            show_row(i, peer, set->json);
    }
    return 0;
}

static const struct option options[] = {
    { "urls", 0, COUNT, "N", offsetof(struct typed_options, urls),
      "of the list (default 10M); indexes have three lines of each, at most "
      "3M" },
    { "turns", 0, COUNT, "N", offsetof(struct typed_options, turns),
      "of each command (default 3)" },
    { "only", 0, TEXT, "list|cdx|gzip|cdxj",
      offsetof(struct typed_options, only), "only this input" },
    { "json", 0, FLAG, NULL, offsetof(struct typed_options, json),
      "a JSON object per command" },
    { "help", 0, FLAG, NULL, offsetof(struct typed_options, help),
      "print this" },
    { .name = NULL },
};

int bench_typed(char **argv)
{
    struct typed_options set = { .urls = 10000000, .turns = 3 };
    int status;

    if (!bench_options(options, "typed",
                       "Commands as they are typed, without options and with "
                       "a capacity, beside wc, igzip and\na set of hashes.\n",
                       &set, &set.help, argv, &status))
        return status;
    if (!set.urls || !set.turns || set.turns > TURNS_MOST) {
        fputs("seen: bench: --turns takes a number from 1 to 25\n", stderr);
        return 2;
    }
    return process_guard(run_all, &set, "/tmp");
}
