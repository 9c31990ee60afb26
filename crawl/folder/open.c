/*
 * open.c - begin a crawl, or go on where one ended.
 *
 * The settings are those that the folder has, and those that are given now.
 * A new folder, and --revisit, begin a visit (visit.c).
 */
#include "inside.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <seen/version.h>

#include "../../lib/disk/disk.h"
#include "../../lib/text/span.h"
#include "../engine/aside.h"
#include "aside.h"
#include "due.h"

enum { LIST_MOST = 1 << 30 };

/* A file that an option names. What is wrong with it is said with its name,
   since the folder of the crawl is not at fault. */
static enum seen_code load_file(char **text, size_t *len, const char *path,
                                size_t most, struct seen_error *why)
{
    struct seen_error detail;
    enum seen_code code = disk_load(text, len, path, most, &detail);

    if (code != SEEN_OK && why) {
        *why = detail;
        snprintf(why->text, sizeof why->text, "%.70s: %.80s", path,
                 detail.text);
    }
    return code;
}

/* --- settings --- */

static enum seen_code use_template(struct crawl *c, struct seen_error *why);

/* A value of the state, if there is a state already. */
static enum seen_code load_kept(struct crawl *c, const char *name,
                                char **value, struct seen_error *why)
{
    struct crawl_folder *f = crawl_folder_of(c);
    *value = NULL;
    return f->state.db ? crawl_state_get(&f->state, name, value, why)
                       : SEEN_OK;
}

static enum seen_code load_settings(struct crawl *c, struct seen_error *why)
{
    enum seen_code code;
    char *kept;

    code = load_kept(c, "settings", &kept, why);
    if (code == SEEN_OK && kept)
        code = crawl_settings_read(c->settings, kept,
                                   &crawl_folder_of(c)->kept, why);
    free(kept);
    if (code == SEEN_OK)
        code = use_template(c, why);
    return code == SEEN_OK ? crawl_settings_complete(c->settings, why) : code;
}

static enum seen_code keep_settings(struct crawl *c, struct seen_error *why)
{
    char *text = crawl_settings_write(c->settings);
    enum seen_code code;

    if (!text)
        return seen_fail(
            why, SEEN_NOMEM, 0,
            "the settings cannot be kept: no memory, or not UTF-8");
    code = crawl_state_set(&crawl_folder_of(c)->state, "settings", text, why);
    free(text);
    return code;
}

/* "2026-01-31T00:00:00Z" */
static enum seen_code set_clock(struct crawl *c, struct seen_error *why)
{
    const char *text = c->settings->clock, *end;
    struct tm t = { .tm_sec = 0 };
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    crawl_set_clock(c, (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000);
    if (!text)
        return SEEN_OK;
    end = strptime(text, "%Y-%m-%dT%H:%M:%SZ", &t);
    if (!end || *end)
        return seen_fail(why, SEEN_RANGE, 0,
                         "--clock %.40s: not of the form "
                         "2026-01-31T00:00:00Z",
                         text);
    crawl_set_clock(c, (int64_t)timegm(&t) * 1000);
    c->injected_clock = true;
    return SEEN_OK;
}

static enum seen_code make_focus(struct crawl *c, struct seen_error *why)
{
    const struct crawl_settings *s = c->settings;
    enum seen_code code = SEEN_OK;
    char *text = NULL;
    size_t len = 0;

    if (s->strategy != CRAWL_TOPICAL)
        return SEEN_OK;
    if (!s->words)
        code = load_file(&text, &len, s->words_file, 1 << 20, why);
    if (code == SEEN_OK)
        code = crawl_focus_new(&crawl_folder_of(c)->focus,
                               s->words ? span_of(s->words)
                                        : (struct seen_span){ text, len },
                               s->weight, why);
    free(text);
    return code;
}

/* --- templates --- */

/* The template that is given, or the one that the state has. */
static enum seen_code load_template(struct crawl *c, struct seen_error *why)
{
    struct crawl_folder *f = crawl_folder_of(c);
    struct buffer json = { .bytes = NULL };
    enum seen_code code = SEEN_OK;
    char *text = NULL;
    size_t len = 0;

    if (c->settings->template)
        code = load_file(&text, &len, c->settings->template, CRAWL_TEMPLATE,
                         why);
    else {
        code = load_kept(c, "template", &text, why);
        len = text ? strlen(text) : 0;
    }
    if (code != SEEN_OK || !text)
        return code;
    if (len && *text == '<') {
        code = crawl_template_convert(&json, text, len, why);
        if (code == SEEN_OK)
            code = crawl_template_new(&f->template, json.bytes, json.len, NULL,
                                      NULL, why);
    } else {
        code = crawl_template_new(&f->template, text, len, NULL, NULL, why);
    }
    if (code != SEEN_OK && why && why->at)
        seen_fail(why, code, why->at, "%.40s: line %llu: %.80s",
                  c->settings->template ? c->settings->template : "template",
                  (unsigned long long)why->at, strdupa(why->text));
    buffer_clear(&json);
    free(text);
    return code;
}

/* What is not given on the command line is as the template says. */
static enum seen_code use_template(struct crawl *c, struct seen_error *why)
{
    struct crawl_folder *f = crawl_folder_of(c);
    enum seen_code code = load_template(c, why);

    return code == SEEN_OK && f->template
               ? crawl_template_fill_in(f->template, c->settings, why)
               : code;
}

/* Its content, for the next time. */
static enum seen_code keep_template(struct crawl *c, struct seen_error *why)
{
    struct crawl_folder *f = crawl_folder_of(c);
    struct seen_span content = crawl_template_content(f->template);
    char *text = strndup(content.text, content.len);
    enum seen_code code;

    if (!text)
        return seen_fail(why, SEEN_NOMEM, 0, "no memory for the template");
    code = crawl_state_set(&f->state, "template", text, why);
    free(text);
    return code;
}

/* --- runs --- */

/* If the last run was killed, nobody knows which hosts it had just asked. */
static enum seen_code begin_run(struct crawl *c, struct seen_error *why)
{
    struct crawl_folder *f = crawl_folder_of(c);
    enum seen_code code;
    char *before;

    code = crawl_state_get(&f->state, "run", &before, why);
    if (before && strcmp(before, "ended"))
        c->wary = crawl_now(c);
    free(before);
    return code == SEEN_OK ? crawl_state_set(&f->state, "run", "begun", why)
                           : code;
}

/* --- start URLs --- */

/* They are read twice: to see whether they are good, and to keep them. */
typedef enum seen_code take_start(struct crawl *c, struct seen_span url,
                                  struct seen_error *why);

static enum seen_code count_start(struct crawl *c, struct seen_span url,
                                  struct seen_error *why)
{
    (void)url;
    (void)why;
    crawl_folder_of(c)->starts++;
    return SEEN_OK;
}

static enum seen_code keep_start(struct crawl *c, struct seen_span url,
                                 struct seen_error *why)
{
    return crawl_state_start(&crawl_folder_of(c)->state, url, why);
}

static enum seen_code read_start(struct crawl *c, struct seen_span url,
                                 take_start *take, struct seen_error *why)
{
    static char text[SEEN_KEY_TEXT];
    const char *whole;
    enum seen_code code;
    size_t len;

    code = seen_url_whatwg(&whole, &len, text, url.text, url.len, NULL, 0,
                           why);
    if (code == SEEN_OK && strncmp(whole, "http://", 7) &&
        strncmp(whole, "https://", 8))
        code = seen_fail(why, SEEN_BAD_URL, 0, "not an http or https URL");
    return code == SEEN_OK ? take(c, (struct seen_span){ whole, len }, why)
                           : code;
}

static enum seen_code read_list(struct crawl *c, take_start *take,
                                struct seen_error *why)
{
    struct seen_span rest, line;
    struct seen_error detail;
    enum seen_code code;
    uint64_t number = 0;
    char *text;
    size_t len;

    code = load_file(&text, &len, c->settings->list, LIST_MOST, why);
    if (code != SEEN_OK)
        return code;
    rest = (struct seen_span){ text, len };
    while (code == SEEN_OK && span_line(&rest, &line)) {
        number++;
        line = span_trim(line);
        if (!line.len || *line.text == '#')
            continue;
        code = read_start(c, line, take, &detail);
        if (code != SEEN_OK)
            seen_fail(why, code, number, "%.60s: line %llu: %.70s",
                      c->settings->list, (unsigned long long)number,
                      detail.text);
    }
    free(text);
    return code;
}

static enum seen_code read_template_starts(struct crawl *c, take_start *take,
                                           struct seen_error *why)
{
    struct crawl_folder *f = crawl_folder_of(c);
    static char url[SEEN_KEY_TEXT];
    uint64_t n = crawl_template_starts(f->template);
    enum seen_code code = SEEN_OK;
    size_t len;

    for (uint64_t i = 0; code == SEEN_OK && i < n; i++) {
        code = crawl_template_start(f->template, i, url, &len, why);
        if (code == SEEN_OK)
            code = take(c, (struct seen_span){ url, len }, why);
    }
    return code;
}

static enum seen_code read_starts(struct crawl *c, char **start,
                                  take_start *take, struct seen_error *why)
{
    enum seen_code code = SEEN_OK;
    struct seen_error detail;

    for (; code == SEEN_OK && start && *start; start++) {
        code = read_start(c, span_of(*start), take, &detail);
        if (code != SEEN_OK && !strchr(*start, ':') && **start != '/')
            seen_fail(why, code, 0,
                      "%.50s: %.40s; did you mean https://%.40s?", *start,
                      detail.text, *start);
        else if (code != SEEN_OK)
            seen_fail(why, code, 0, "%.80s: %.70s", *start, detail.text);
    }
    if (code == SEEN_OK && c->settings->list)
        code = read_list(c, take, why);
    return code == SEEN_OK && crawl_folder_of(c)->template
               ? read_template_starts(c, take, why)
               : code;
}

static enum seen_code keep_starts(struct crawl *c, char **start,
                                  struct seen_error *why)
{
    struct crawl_folder *f = crawl_folder_of(c);
    enum seen_code code = sql_begin(f->state.db, why);

    if (code == SEEN_OK)
        code = read_starts(c, start, keep_start, why);
    if (code == SEEN_OK && f->template)
        code = keep_template(c, why);
    if (code == SEEN_OK)
        code = keep_settings(c, why);
    return sql_end(f->state.db, code, why);
}

static enum seen_code widen(void *owner, int64_t id, struct seen_span url,
                            struct seen_error *why)
{
    struct crawl *c = owner;
    struct crawl_folder *f = crawl_folder_of(c);

    f->starts = id;
    return crawl_scope_start(f->scope, url, why);
}

/* --- open --- */

/* A visit that would find nothing to do does not begin: its filter, and the
   start URLs, would cost something each time. */
static enum seen_code has_work(struct crawl *c, bool *any,
                               struct seen_error *why)
{
    struct crawl_folder *f = crawl_folder_of(c);
    enum seen_code code = crawl_due_any(c, any, &f->first_due, why);

    f->nothing_due = code == SEEN_OK && !*any;
    return code;
}

/*
 * Does a visit begin? --revisit begins one only when the last one has ended, or
 * was ended by a budget: the same command must go on after a kill. A crawl
 * that becomes continuous does not stay in a visit that has ended.
 */
static enum seen_code is_next(struct crawl *c, bool *next,
                              struct seen_error *why)
{
    struct crawl_folder *f = crawl_folder_of(c);
    enum seen_code code;
    char *spent;

    code = crawl_state_get(&f->state, "spent", &spent, why);
    *next = !f->state.visit.id ||
            (c->settings->strategy == CRAWL_CONTINUOUS &&
             f->state.visit.ended) ||
            (c->settings->revisit &&
             (f->state.visit.ended ||
              (spent && strtoll(spent, NULL, 10) == f->state.visit.id)));
    free(spent);
    if (code != SEEN_OK || !*next || c->settings->strategy == CRAWL_CONTINUOUS)
        return code;
    code = crawl_due_settle(c, why);
    return code == SEEN_OK && f->state.visit.id ? has_work(c, next, why)
                                                : code;
}

static enum seen_code need_starts(const struct crawl *c,
                                  struct seen_error *why)
{
    return crawl_folder_of(c)->starts
               ? SEEN_OK
               : seen_fail(why, SEEN_RANGE, 0,
                           "a new crawl needs start URLs, --input or "
                           "--template");
}

/* What is asked for. Nothing is changed by that, so that a mistake on the
   command line costs nothing. */
static enum seen_code understand(struct crawl *c, char **start,
                                 struct seen_error *why)
{
    struct crawl_folder *f = crawl_folder_of(c);
    enum seen_code code = load_settings(c, why);

    if (code == SEEN_OK)
        code = set_clock(c, why);
    if (code == SEEN_OK)
        code = crawl_scope_new(&f->scope, c->settings, why);
    if (code == SEEN_OK)
        code = make_focus(c, why);
    if (code == SEEN_OK)
        code = read_starts(c, start, count_start, why);
    if (code == SEEN_OK && !f->state.db)
        code = need_starts(c, why);
    return code == SEEN_OK ? crawl_engine_open(c, why) : code;
}

/* Was the clock ahead when the last run wrote its times, or is it behind? */
static enum seen_code turn_back(struct crawl *c, struct seen_error *why)
{
    enum { SAID = 60000 }; /* ms: a clock that is corrected is no news */
    int64_t back;
    enum seen_code code = crawl_state_set_back(&crawl_folder_of(c)->state,
                                               crawl_now(c), &back, why);

    if (code == SEEN_OK && back >= SAID && !c->injected_clock)
        snprintf(c->warning, sizeof c->warning,
                 "the clock is %lld s behind that of the last run; times that "
                 "are ahead are moved back as far",
                 (long long)(back / 1000));
    return code;
}

static enum seen_code prepare(struct crawl *c, char **start,
                              struct seen_error *why)
{
    struct crawl_folder *f = crawl_folder_of(c);
    enum seen_code code = keep_starts(c, start, why);
    bool next = false;

    if (code == SEEN_OK)
        code = turn_back(c, why);
    f->starts = 0;
    if (code == SEEN_OK)
        code = crawl_state_starts(&f->state, widen, c, why);
    if (code == SEEN_OK)
        code = need_starts(c, why);
    if (code == SEEN_OK && c->settings->index)
        code = crawl_search_open(&f->search, &f->state, why);
    if (code == SEEN_OK)
        code = is_next(c, &next, why);
    if (code == SEEN_OK && next)
        code = crawl_visit_begin(c, why);
    else if (code == SEEN_OK)
        code = crawl_visit_resume(c, why);
    if (code == SEEN_OK)
        code = crawl_folder_aside_open(c, why);
    if (code == SEEN_OK)
        code = begin_run(c, why);
    if (code == SEEN_OK)
        code = crawl_engine_open_files(c, f->state.folder, f->state.visit.name,
                                       &f->state.position, why);
    f->shared = (struct crawl_shared){
        .settings = c->settings,
        .scope = f->scope,
        .template = f->template,
        .focus = f->focus,
        .folder = f->state.folder,
        .visit = f->state.visit.name,
        .visit_id = f->state.visit.id,
        .queries = &f->queries,
    };
    c->bodies.folder = f->state.folder;
    return code;
}

/* News of the server that has the cache; the fetching thread says it. */
static void warn_of_cache(void *whose, const char *text)
{
    struct crawl *c = whose;
    size_t len;

    pthread_mutex_lock(&c->lock);
    len = strlen(c->warning);
    snprintf(c->warning + len, sizeof c->warning - len, "%s%s",
             len ? "; " : "", text);
    pthread_mutex_unlock(&c->lock);
}

/*
 * A new crawl is understood before its folder is made. One that goes on has
 * settings of its own, so its state is opened first. Whether there is one is
 * looked at without the lock: that it is new is certain only when the state
 * was made under it.
 */
static enum seen_code begin(struct crawl *c, char **start,
                            struct seen_error *why)
{
    struct crawl_folder *f = crawl_folder_of(c);
    bool new = !crawl_state_exists(c->settings->into);
    enum seen_code code = new ? understand(c, start, why) : SEEN_OK;

    if (code == SEEN_OK)
        code = crawl_state_open(&f->state, c->settings->into, why);
    if (code == SEEN_OK && new && !f->state.made)
        code = seen_fail(why, SEEN_BUSY, 0,
                         "another crawl began in this folder just now");
    if (code == SEEN_OK && !new)
        code = understand(c, start, why);
    return code == SEEN_OK ? prepare(c, start, why) : code;
}

enum seen_code crawl_open(struct crawl **out, struct crawl_settings *settings,
                          char **start, const struct crawl_hooks *hooks,
                          struct seen_error *why)
{
    struct crawl *c = calloc(1, sizeof *c);
    struct crawl_folder *f = calloc(1, sizeof *f);
    enum seen_code code;

    *out = NULL;
    if (!c || !f) {
        free(c);
        free(f);
        return seen_fail(why, SEEN_NOMEM, 0, "no memory for a crawl");
    }
    c->settings = settings;
    c->store = &crawl_folder_store;
    c->owned_by_store = f;
    if (hooks)
        c->hooks = *hooks;
    crawl_engine_init(c);
    f->cache.server.warn = warn_of_cache;
    f->cache.server.whose = c;
    code = begin(c, start, why);
    if (code == SEEN_OK) {
        *out = c;
    } else {
        /* The folder of a crawl that did not begin is not left behind. */
        f->state.unwanted = f->state.made && !f->state.visit.id;
        crawl_close(c);
    }
    return code;
}

bool crawl_found_nothing_due(const struct crawl *c, int64_t *now,
                             int64_t *next)
{
    const struct crawl_folder *f = crawl_folder_of(c);

    *now = crawl_now(c);
    *next = f->first_due;
    return f->nothing_due;
}

void crawl_close(struct crawl *c)
{
    struct crawl_folder *f;

    if (!c)
        return;
    f = crawl_folder_of(c);
    crawl_engine_clear(c);
    crawl_queries_clear(&f->queries);
    crawl_cache_close(&f->cache);
    crawl_freshest_free(f->freshest);
    crawl_search_close(f->search);
    crawl_recover_end(c);
    crawl_focus_free(f->focus);
    crawl_template_free(f->template);
    crawl_scope_free(f->scope);
    if (f->state.folder)
        crawl_state_close(&f->state);
    crawl_settings_forget(f->kept);
    free(f);
    free(c);
}

/* The run is over: save the cache, and end the visit if nothing is left. */
static enum seen_code finish(struct crawl *c, struct seen_error *why)
{
    struct crawl_folder *f = crawl_folder_of(c);
    enum seen_code code = crawl_cache_save(&f->cache, true, why);
    int64_t waiting, all;
    char visit[32];
    bool rests;

    if (*c->warning && c->hooks.warn)
        c->hooks.warn(c->hooks.owner, c->warning);
    if (code == SEEN_OK)
        code = frontier_count(f->state.frontier, &waiting, &all, why);
    if (code == SEEN_OK)
        code = crawl_recover_rests(c, &rests, why);
    if (code == SEEN_OK && !waiting && !rests && !f->state.visit.ended &&
        c->settings->strategy != CRAWL_CONTINUOUS)
        code = crawl_state_end_visit(&f->state, crawl_now(c), why);
    if (code == SEEN_OK && c->spent) {
        snprintf(visit, sizeof visit, "%lld", (long long)f->state.visit.id);
        code = crawl_state_set(&f->state, "spent", visit, why);
    }
    return code == SEEN_OK ? crawl_state_set(&f->state, "run", "ended", why)
                           : code;
}

enum seen_code crawl_run(struct crawl *c, struct seen_error *why)
{
    int64_t waiting, all;
    enum seen_code code;

    code = frontier_count(crawl_folder_of(c)->state.frontier, &waiting, &all,
                          why);
    if (code != SEEN_OK)
        return code;
    c->waiting = (uint64_t)waiting;
    code = crawl_engine_run(c, crawl_commit_thread, why);
    if (code ==
        SEEN_OK) /* requests that were cancelled have a due time, too */
        code = crawl_commit(c, NULL, why);
    return code == SEEN_OK ? finish(c, why) : code;
}
