/*
 * remote.c - seen bench remote: filters on servers.
 *
 * One client process and one server on the same machine, over loopback, keys
 * made outside the clock. The peer is what a client without us would do: for
 * each URL a SETBIT of each of its bits, in a pipeline of the same batches.
 * Slices of both alternate, and figures are medians.
 */
#include "serve.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "../remote/remote.h"
#include "../remote/server.h"

enum { BATCH = 2048, TURNS_MOST = 25, NODES = 3 };

struct bench_settings {
    uint64_t keys, turns, megabytes;
    const char *only;
    bool json, help;
};

struct remote_bench {
    const struct bench_settings *s;
    struct seen_key *key;
    bool *answer;
    uint64_t next; /* the number of the next key that was never added */
    pid_t server;  /* whose CPU time is counted; 0: none */
    double cpu[2], ours[2]; /* microseconds per URL of the server and of this
                               process: of new and of known URLs */
    bool missed;
};

/* --- output --- */

/* A row: what, how fast, against which peer, and what is asked for; cpu: which
   CPU times to show, -1 for none. */
static void show(struct remote_bench *b, const char *name, const char *how,
                 double figure, const char *unit, double asked, double ratio,
                 double asked_ratio, int cpu)
{
    bool good = !(figure < asked) && !(ratio < asked_ratio);

    b->missed |= !good;
    if (b->s->json) {
        printf("{\"bench\": \"remote\", \"row\": \"%s\", \"server\": \"%s\", "
               "\"unit\": \"%s\", ",
               name, how, unit);
        bench_json("figure", figure, ", ");
        bench_json("asked", asked, ", ");
        bench_json("ratio", ratio, ", ");
        bench_json("asked_ratio", asked_ratio, ", ");
        bench_json("server_cpu_us", cpu < 0 ? NAN : b->cpu[cpu], ", ");
        bench_json("client_cpu_us", cpu < 0 ? NAN : b->ours[cpu], ", ");
        printf("\"good\": %s}\n", good ? "true" : "false");
    } else {
        printf("%-12s %-28s %10.0f %s", name, how, figure, unit);
        if (!isnan(asked))
            printf("  >= %.0f", asked);
        if (!isnan(ratio))
            printf("   %.2f x", ratio);
        if (!isnan(asked_ratio))
            printf("  >= %.2f", asked_ratio);
        if (cpu >= 0)
            printf("   CPU %.1f us server, %.1f us client", b->cpu[cpu],
                   b->ours[cpu]);
        puts(good ? "" : "   missed");
    }
    fflush(stdout);
}

/* --- servers --- */

static bool start_redis(struct peer *p, const char *const *more)
{
    const char *program = process_find("redis-server");
    char port[16], file[32];
    const char *argv[24] = {
        program,  "--port", port,    "--bind",         "127.0.0.1",
        "--save", "",       "--dir", process_folder(), "--cluster-config-file",
        file
    };
    size_t n = 11;

    if (!program)
        return false;
    while (more && *more)
        argv[n++] = *more++;
    do
        p->port = peer_free_port();
    while (p->port > 55000); /* nodes of a cluster also listen 10000 above */
    snprintf(port, sizeof port, "%d", p->port);
    snprintf(file, sizeof file, "nodes-%d.conf", p->port);
    return peer_start(p, "redis-server", argv);
}

static bool start_cluster(struct peer node[NODES])
{
    static const char *const more[] = { "--cluster-enabled", "yes", NULL };
    char at[NODES][32];
    const char *argv[] = {
        process_find("redis-cli"), "--cluster", "create", at[0], at[1], at[2],
        "--cluster-yes",           NULL
    };
    double seconds;

    for (int i = 0; i < NODES; i++) {
        if (!start_redis(&node[i], more))
            return false;
        snprintf(at[i], sizeof at[i], "127.0.0.1:%d", node[i].port);
    }
    argv[0] = process_find("redis-cli");
    if (!argv[0])
        return false;
    if (!process_run(argv, "cluster.out", "cluster.err", &seconds)) {
        fprintf(stderr, "seen: bench: redis-cli made no cluster\n");
        process_show("cluster.out");
        return false;
    }
    process_sleep(2000); /* until all nodes know of each other */
    return true;
}

static bool wrong(const char *what, const struct seen_error *why)
{
    fprintf(stderr, "seen: bench: %s: %s\n", what, why->text);
    return false;
}

/* An empty filter at the address, opened; probes 0: as remote_plan() says. */
static struct seen_filter *make(const char *address, const char *kind,
                                double rate, unsigned probes,
                                uint64_t capacity)
{
    struct seen_plan plan = {
        .capacity = capacity, .rate = rate, .probes = probes, .profile = "raw"
    };
    struct seen_filter *f = NULL;
    struct seen_error why;
    enum seen_code code;

    snprintf(plan.kind, sizeof plan.kind, "%s", kind);
    remote_plan(&plan);
    code = seen_filter_new(&f, &plan, &why);
    if (code == SEEN_OK)
        code = remote_save(f, address, NULL, &why);
    seen_filter_free(f);
    f = NULL;
    if (code == SEEN_OK)
        code = remote_open(&f, address, NULL, &why);
    if (code != SEEN_OK)
        wrong(address, &why);
    return f;
}

/* --- slices --- */

static void prepare(struct remote_bench *b, uint64_t first)
{
    for (uint64_t i = 0; i < b->s->keys; i++)
        seen_key_number(&b->key[i], first + i);
}

/* CPU time does not depend on what else the machine does. */
static void count_cpu(struct remote_bench *b, int which, double sign)
{
    const double each = 1e6 / (double)(b->s->keys * b->s->turns);

    if (!b->server)
        return;
    b->cpu[which] += sign * each * process_cpu(b->server);
    b->ours[which] += sign * each * (double)clock() / CLOCKS_PER_SEC;
}

static double add_keys(struct remote_bench *b, struct seen_filter *f)
{
    struct seen_error why;
    double begun, end;
    enum seen_code code;

    count_cpu(b, 0, -1);
    begun = bench_ns();
    code = seen_filter_add(f, b->key, b->s->keys, b->answer, &why);
    end = bench_ns();
    count_cpu(b, 0, 1);
    if (code != SEEN_OK)
        return wrong("add", &why) ? 0 : NAN;
    return 1e9 * (double)b->s->keys / (end - begun);
}

static double add_new(struct remote_bench *b, struct seen_filter *f)
{
    prepare(b, b->next);
    b->next += b->s->keys;
    return add_keys(b, f);
}

/* The keys that were added last. */
static double ask_known(struct remote_bench *b, struct seen_filter *f)
{
    struct seen_error why;
    double begun, end;
    enum seen_code code;

    count_cpu(b, 1, -1);
    begun = bench_ns();
    code = seen_filter_has(f, b->key, b->s->keys, b->answer, &why);
    end = bench_ns();
    count_cpu(b, 1, 1);
    if (code != SEEN_OK)
        return wrong("has", &why) ? 0 : NAN;
    return 1e9 * (double)b->s->keys / (end - begun);
}

/* The same keys by SETBIT: as many bits of each, anywhere in a string of the
   same size, pipelined. */
static double set_bits(struct remote_bench *b, struct remote_server *s,
                       const struct seen_filter *f)
{
    struct remote_batch batch = { .n = 0 };
    const struct seen_plan *plan = seen_filter_plan(f);
    double begun = bench_ns(), end;
    struct seen_error why;
    enum seen_code code = SEEN_OK;

    for (uint64_t done = 0; done < b->s->keys && code == SEEN_OK;
         done += BATCH) {
        remote_batch_reset(&batch);
        for (uint64_t i = done; i < done + BATCH && i < b->s->keys; i++) {
            for (unsigned j = 0; j < plan->probes; j++) {
                remote_batch_begin(&batch, 0, false);
                remote_wire_count(&batch.text, 4);
                remote_wire_text(&batch.text, "SETBIT");
                remote_wire_text(&batch.text, "bits");
                remote_wire_number(&batch.text,
                                   seen_mix(b->key[i].lo + j) % plan->bits);
                remote_wire_text(&batch.text, "1");
            }
        }
        code = remote_server_run(s, &batch, &why);
    }
    end = bench_ns();
    remote_batch_clear(&batch);
    if (code != SEEN_OK)
        return wrong("SETBIT", &why) ? 0 : NAN;
    return 1e9 * (double)b->s->keys / (end - begun);
}

/* --- rows --- */

static uint64_t capacity_of(const struct remote_bench *b)
{
    return b->s->keys * (b->s->turns + 1) * 2;
}

/* New and known URLs, and SETBIT, on one server. */
static bool rows_of_one(struct remote_bench *b, bool aof)
{
    static const char *const with_aof[] = { "--appendonly",
                                            "yes",
                                            "--appendfsync",
                                            "everysec",
                                            "--auto-aof-rewrite-percentage",
                                            "0",
                                            NULL };
    const char *how = aof ? "AOF everysec" : "no persistence";
    double fresh[TURNS_MOST], known[TURNS_MOST], bits[TURNS_MOST];
    struct peer p = { .pid = 0 };
    struct remote_address a;
    struct remote_server *s = NULL;
    struct seen_filter *f = NULL;
    char address[64];
    bool good = start_redis(&p, aof ? with_aof : NULL);

    snprintf(address, sizeof address, "redis://127.0.0.1:%d/f?timeout=60",
             p.port);
    good = good && (f = make(address, "blocked", 0.01, 0, capacity_of(b)));
    if (good)
        good = remote_address_parse(&a, address, NULL) == SEEN_OK &&
               remote_server_open(&s, &a, NULL, NULL, NULL) == SEEN_OK;
    memset(b->cpu, 0, sizeof b->cpu);
    memset(b->ours, 0, sizeof b->ours);
    b->server = p.pid;
    for (size_t i = 0; good && i < b->s->turns; i++) {
        fresh[i] = add_new(b, f);
        known[i] = ask_known(b, f);
        bits[i] = aof ? NAN : set_bits(b, s, f);
        good = !isnan(fresh[i]) && !isnan(known[i]);
    }
    if (good) {
        double new = bench_median(fresh, b->s->turns);
        double peer = aof ? NAN : bench_median(bits, b->s->turns);

        show(b, "new", how, new, "URLs/s", aof ? 70000 : 100000, new / peer,
             aof ? NAN : 1.2, 0);
        if (!aof) {
            show(b, "SETBIT", how, peer, "URLs/s", NAN, NAN, NAN, -1);
            show(b, "known", how, bench_median(known, b->s->turns), "URLs/s",
                 200000, NAN, NAN, 1);
        }
    }
    remote_server_close(s);
    seen_filter_free(f);
    process_stop(&p.pid);
    return good;
}

static bool row_of_low(struct remote_bench *b, const char *name,
                       unsigned probes, double asked)
{
    double fresh[TURNS_MOST];
    struct peer p = { .pid = 0 };
    struct seen_filter *f = NULL;
    char address[64];
    bool good = start_redis(&p, NULL);

    snprintf(address, sizeof address, "redis://127.0.0.1:%d/f?timeout=60",
             p.port);
    good = good &&
           (f = make(address, "routed:4/bloom", 1e-6, probes, capacity_of(b)));
    memset(b->cpu, 0, sizeof b->cpu);
    memset(b->ours, 0, sizeof b->ours);
    b->server = p.pid;
    for (size_t i = 0; good && i < b->s->turns; i++)
        good = !isnan(fresh[i] = add_new(b, f));
    if (good)
        show(b, name, "no persistence", bench_median(fresh, b->s->turns),
             "URLs/s", asked, NAN, NAN, 0);
    seen_filter_free(f);
    process_stop(&p.pid);
    return good;
}

/* With 14 probes, as remote_plan() chooses; with the 20 that need the least
   memory, 4 % less; and with 10, which need 15 % more. */
static bool row_low(struct remote_bench *b)
{
    return row_of_low(b, "new at 1e-6", 0, 60000) &&
           row_of_low(b, "with k = 20", 20, NAN) &&
           row_of_low(b, "with k = 10", 10, NAN);
}

static bool row_cluster(struct remote_bench *b)
{
    double fresh[TURNS_MOST], one[TURNS_MOST];
    struct peer node[NODES] = { { .pid = 0 } }, single = { .pid = 0 };
    struct seen_filter *f = NULL, *g = NULL;
    char address[128];
    bool good = start_cluster(node) && start_redis(&single, NULL);

    snprintf(address, sizeof address,
             "redis+cluster://127.0.0.1:%d/f?timeout=60", node[0].port);
    good = good && (f = make(address, "blocked", 0.01, 0, capacity_of(b)));
    snprintf(address, sizeof address, "redis://127.0.0.1:%d/f?timeout=60",
             single.port);
    good = good && (g = make(address, "blocked", 0.01, 0, capacity_of(b)));
    b->server = 0;
    for (size_t i = 0; good && i < b->s->turns; i++) {
        fresh[i] = add_new(b, f);
        b->next -= b->s->keys;
        one[i] = add_new(b, g);
        good = !isnan(fresh[i]) && !isnan(one[i]);
    }
    if (good) {
        double speed = bench_median(fresh, b->s->turns);

        show(b, "new", "cluster of three masters", speed, "URLs/s", NAN,
             speed / bench_median(one, b->s->turns), 0.7, -1);
    }
    seen_filter_free(f);
    seen_filter_free(g);
    for (int i = 0; i < NODES; i++)
        process_stop(&node[i].pid);
    process_stop(&single.pid);
    return good;
}

/* Bytes that the server has in use; 0 after a message. */
static double used_memory(const struct peer *p)
{
    static const char name[] = "used_memory:";
    char reply[8192];
    const char *at = NULL;

    if (peer_talk(p, "INFO memory\r\n", "\r\n\r\n", reply, sizeof reply))
        at = strstr(reply, name);
    if (!at)
        fprintf(stderr, "seen: bench: INFO memory has no used_memory\n");
    return at ? strtod(at + sizeof name - 1, NULL) : 0;
}

/* Whole filters in and out. */
static bool rows_of_copies(struct remote_bench *b)
{
    struct seen_plan plan = { .kind = "blocked",
                              .rate = 0.01,
                              .bits = b->s->megabytes * 8000000,
                              .profile = "raw" };
    double in[TURNS_MOST], out[TURNS_MOST], bytes, empty, used;
    struct peer p = { .pid = 0 };
    struct seen_filter *f = NULL, *g;
    struct seen_error why = { .code = SEEN_OK };
    char address[64];
    bool good = start_redis(&p, NULL) &&
                seen_filter_new(&f, &plan, &why) == SEEN_OK;

    snprintf(address, sizeof address, "redis://127.0.0.1:%d/f?timeout=60",
             p.port);
    bytes = good ? (double)seen_filter_bytes(f) : 0;
    empty = good ? used_memory(&p) : 0;
    for (uint64_t i = 0; good && i < 100000; i++) {
        struct seen_key key; /* so that not all pages are the same */

        seen_key_number(&key, i);
        good = seen_filter_add(f, &key, 1, NULL, &why) == SEEN_OK;
    }
    memset(b->cpu, 0, sizeof b->cpu);
    memset(b->ours, 0, sizeof b->ours);
    b->server = p.pid;
    for (size_t i = 0; good && i < b->s->turns; i++) {
        double begun = bench_ns();

        count_cpu(b, 0, -1);
        good = remote_save(f, address, NULL, &why) == SEEN_OK;
        in[i] = 1e3 * bytes / (bench_ns() - begun);
        count_cpu(b, 0, 1);
        count_cpu(b, 1, -1);
        begun = bench_ns();
        good = good && remote_load(&g, address, NULL, &why) == SEEN_OK;
        out[i] = 1e3 * bytes / (bench_ns() - begun);
        count_cpu(b, 1, 1);
        if (good)
            seen_filter_free(g);
    }
    used = good ? used_memory(&p) - empty : NAN;
    for (int i = 0; i < 2; i++) { /* per MB, not per URL */
        b->cpu[i] *= (double)b->s->keys / (bytes / 1e6);
        b->ours[i] *= (double)b->s->keys / (bytes / 1e6);
    }
    if (good) {
        show(b, "copy in", "no persistence", bench_median(in, b->s->turns),
             "MB/s", 400, NAN, NAN, 0);
        show(b, "copy out", "no persistence", bench_median(out, b->s->turns),
             "MB/s", 700, NAN, NAN, 1);
        /* Cells are at least 1 / 1.05 of the memory. */
        show(b, "memory", "no persistence", used / 1e6, "MB", NAN,
             bytes / used, 1 / 1.05, -1);
    } else {
        wrong("copy", &why);
    }
    seen_filter_free(f);
    process_stop(&p.pid);
    return good;
}

/* --- BF commands --- */

/* Keys with texts, as archives have them; the even ones are held. */
static bool make_texts(struct remote_bench *b, uint64_t first, char *text)
{
    struct seen_profile surt;
    struct seen_error why;
    char url[URL_ROOM], canonical[SEEN_KEY_TEXT];

    if (seen_profile_find(&surt, "surt", &why) != SEEN_OK)
        return wrong("surt", &why);
    for (uint64_t i = 0; i < b->s->keys; i++, text += URL_ROOM) {
        int n = snprintf(url, sizeof url, "http://www.host%u.hr/page/%08u",
                         (unsigned)(i % 1000), (unsigned)(first + i));

        if (seen_key_make_as(&b->key[i], canonical, url, (size_t)n, &surt,
                             &why) != SEEN_OK)
            return wrong(url, &why);
        memcpy(text, b->key[i].text, b->key[i].len);
        b->key[i].text = text;
    }
    return true;
}

static bool save_served(const struct remote_bench *b, const char *path)
{
    const struct seen_plan plan = { .kind = "blocked",
                                    .rate = 0.01,
                                    .capacity = 10000000,
                                    .profile = "surt" };
    struct seen_filter *f = NULL;
    struct seen_error why;
    enum seen_code code = seen_filter_new(&f, &plan, &why);

    for (uint64_t i = 0; i < b->s->keys && code == SEEN_OK; i += 2)
        code = seen_filter_add(f, &b->key[i], 1, NULL, &why);
    if (code == SEEN_OK)
        code = seen_store_save(f, path, &why);
    seen_filter_free(f);
    return code == SEEN_OK || wrong(path, &why);
}

static bool write_token(const char *path, const char *token)
{
    FILE *file = fopen(path, "w");
    bool good = file && !chmod(path, 0600) && fprintf(file, "%s\n", token) > 0;

    if (file)
        good &= !fclose(file);
    if (!good)
        perror("seen: bench: token");
    return good;
}

/* Questions, half of them about URLs that it has, and then new URLs. */
static bool ask_and_add(struct remote_bench *b, struct seen_filter *f,
                        char *text)
{
    double asked[TURNS_MOST], added[TURNS_MOST];

    memset(b->cpu, 0, sizeof b->cpu);
    memset(b->ours, 0, sizeof b->ours);
    for (size_t i = 0; i < b->s->turns; i++)
        if (isnan(asked[i] = ask_known(b, f)))
            return false;
    for (uint64_t i = 0; i < b->s->keys; i += 2)
        if (!b->answer[i]) {
            fprintf(stderr, "seen: bench: a URL was lost\n");
            return false;
        }
    for (size_t i = 0; i < b->s->turns; i++)
        if (!make_texts(b, (i + 1) * b->s->keys, text) ||
            isnan(added[i] = add_keys(b, f)))
            return false;
    show(b, "bf, known", "seen serve", bench_median(asked, b->s->turns),
         "URLs/s", 500000, NAN, NAN, 1);
    show(b, "bf, new", "seen serve --sync everysec",
         bench_median(added, b->s->turns), "URLs/s", NAN, NAN, NAN, 0);
    return true;
}

static bool row_bf(struct remote_bench *b)
{
    static const char secret[] = "token-of-the-benchmark";
    char path[PATH_ROOM], token[PATH_ROOM], seen[PATH_ROOM], listen[32];
    char address[96];
    const char *argv[] = { seen,         "serve",  "--listen", listen,
                           "--writable", "--sync", "everysec", "--token",
                           token,        path,     NULL };
    struct peer p = { .pid = 0 };
    struct seen_filter *f = NULL;
    struct seen_error why;
    char *text = malloc(b->s->keys * URL_ROOM);
    bool good = text && process_seen(seen) && make_texts(b, 0, text);

    process_path(path, "bf.seen");
    process_path(token, "token");
    p.port = peer_free_port();
    snprintf(listen, sizeof listen, "127.0.0.1:%d", p.port);
    snprintf(address, sizeof address, "bf://:%s@127.0.0.1:%d/bf?timeout=60",
             secret, p.port);
    good = good && save_served(b, path) && write_token(token, secret) &&
           peer_start(&p, "seen serve", argv);
    if (good && remote_open(&f, address, NULL, &why) != SEEN_OK)
        good = wrong("seen serve", &why);
    b->server = p.pid;
    good = good && ask_and_add(b, f, text);
    seen_filter_free(f);
    process_stop(&p.pid);
    free(text);
    return good;
}

static bool rows_of_memory(struct remote_bench *b)
{
    return rows_of_one(b, false);
}

static bool rows_of_aof(struct remote_bench *b)
{
    return rows_of_one(b, true);
}

static const struct {
    const char *name;
    bool (*run)(struct remote_bench *b);
} rows[] = {
    { "one", rows_of_memory }, { "aof", rows_of_aof },
    { "low", row_low },        { "cluster", row_cluster },
    { "bf", row_bf },          { "copy", rows_of_copies },
};

static int run_remote(void *with)
{
    const struct bench_settings *s = with;
    struct remote_bench b = { .s = s };
    bool good;

    b.key = malloc(s->keys * sizeof *b.key);
    b.answer = malloc(s->keys * sizeof *b.answer);
    good = b.key && b.answer;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0] && good; i++)
        if (!s->only || !strcmp(s->only, rows[i].name))
            good = rows[i].run(&b);
    free(b.key);
    free(b.answer);
    return !good ? 2 : b.missed ? 1 : 0;
}

static const char about[] =
    "Filters in Redis, over loopback: URLs that are new and known per second,\n"
    "beside a SETBIT per bit; with AOF; at a rate of 1e-6; in a cluster; asked of\n"
    "seen serve with BF commands; and whole filters in and out. Exits with 1 if a figure is missed.\n";

static const struct option options[] = {
#define AT(name) offsetof(struct bench_settings, name)
    { "keys", 0, COUNT, "N", AT(keys), "per turn (default 100k)" },
    { "turns", 0, COUNT, "N", AT(turns), "of each row (default 5)" },
    { "megabytes", 0, COUNT, "N", AT(megabytes),
      "of the filter that is copied (default 256)" },
    { "only", 0, TEXT, "ROW", AT(only), "one, aof, low, cluster, bf or copy" },
    { "json", 0, FLAG, NULL, AT(json), "a JSON object per line" },
    { "help", 0, FLAG, NULL, AT(help), "print this" },
    { .name = NULL },
#undef AT
};

int bench_remote(char **argv)
{
    struct bench_settings s = { .keys = 100000, .turns = 5, .megabytes = 256 };
    bool known = false;
    int status;

    if (!bench_options(options, "remote", about, &s, &s.help, argv, &status))
        return status;
    for (size_t i = 0; s.only && i < sizeof rows / sizeof rows[0]; i++)
        known |= !strcmp(s.only, rows[i].name);
    if (s.only && !known) {
        fprintf(stderr, "seen: bench: --only: there is no row '%s'\n", s.only);
        return 2;
    }
    if (s.turns > TURNS_MOST || s.keys > 2000000 || s.megabytes > 4096) {
        fprintf(stderr,
                "seen: bench: --turns is at most %d, --keys at most "
                "2M, --megabytes at most 4k\n",
                TURNS_MOST);
        return 2;
    }
    if (!s.json)
        bench_show_cpu();
    return process_guard(run_remote, &s, "/tmp");
}
