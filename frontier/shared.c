/*
 * shared.c - the tables of the shared frontier, and the leases of workers.
 *
 * Who may write what. Only the worker that has a host ends its pages and
 * changes its numbers. Anybody adds pages to a host, and so to `queued`. For
 * that its row is locked first, always in the order of the ids, so that two
 * commits wait for each other and never both ways. Pages with one key have
 * one host, so inserts that meet in the unique index have met at the host
 * before.
 *
 * The index of hosts that can be taken has the column `ready`: the due time of
 * a host that nobody has and that has pages, else NULL. The database computes
 * it. A commit changes the due time and `queued` of hosts that are taken,
 * whose `ready` is NULL and stays so: no index changes, and PostgreSQL
 * rewrites the row in place (HOT).
 *
 * A commit whose answer was lost is repeated (sql_transact()). Sums must not
 * be added twice then, so each commit has a number, counted per lease, in the
 * worker's row. If that number is there already, the commit was done. The
 * answers of the run before are the right ones.
 *
 * The clock of SQLite counts from the start of the machine. After another
 * start no lease is valid. Times are moved so that they are as far away from
 * now as they were from the last renewal that was noted. Every host waits at
 * least its delay. Where the boot id is hidden, nobody knows whether that
 * happened: then leases stay, and times that cannot be are distrusted.
 *
 * Times that cannot be: a lease that was renewed later than now, a host that
 * was asked later than now, or is due later than any host can be. They are of
 * another start of the machine, or of a server whose clock was ahead. No clock
 * of a machine goes back while it runs, so such a lease has ended. On a server
 * its worker may live, and not have renewed it since the clock was set: it has
 * ended if it still looks like that a whole lease later.
 *
 * Points at which a process can be killed, and what is there afterwards
 * (frontier_shared_watch(); the test kills at each of them):
 *
 *     joined      a worker without hosts; removed a day after its lease ended
 *     hosts       hosts without pages; they stay and harm nobody
 *     begun       before the commit: no visit; the job is delivered again
 *     began       the visit runs; the job is delivered again, changes nothing
 *     leased      before the commit: the hosts are free
 *     taken       after it: the hosts are free when the lease has ended
 *     host        before the commit: the host is as it was
 *     address     before the commit: as taken
 *     returned    before the commit: as taken
 *     held        in a commit, the worker's row is locked: nothing changed
 *     locked      the same, with its hosts
 *     ended       the same, its pages are changed
 *     known       the same, what is known of its pages is kept
 *     inserted    the same, its links are inserted
 *     counted     the same, all is written: nothing changed
 *     committed   after it: all of it; the hosts are free after the lease
 *     recalling   before the commit of a batch of known pages: nothing changed
 *     recalled    after it: anybody goes on with the next
 *     swept       a visit that is ending, with a part of its pages; anybody
 *                 goes on
 *     emptied     the same without pages
 *     finished    the visit has ended
 *     reaped      a part of a dead worker's hosts is free; anybody goes on
 *     leaving     a worker whose lease ended, with hosts: as a dead one
 */
#include "shared_inside.h"

#include <stdlib.h>
#include <string.h>

#include "../lib/disk/clock.h"
#include "../lib/text/memory.h"
#include "../lib/text/sip.h"
#include "../lib/text/span.h"

enum { DAY = 24 * 3600 * 1000 }; /* ms */

/* What visits of version 2 have beyond those of version 1. `recalled` is the
   key of the last known page that was looked at, or NULL: all of them were. */
#define VISIT_TABLE_2 \
    ", due {number} NOT NULL DEFAULT 0, terms {number} NOT NULL DEFAULT 0, " \
    "recalled {bytes}, not_due {number} NOT NULL DEFAULT 0, thorough " \
    "{number} NOT NULL DEFAULT 1, aside {number} NOT NULL DEFAULT 0"

/* A page of a name has one host, whose row every writer has locked. */
#define KNOWN_TABLE \
    "CREATE TABLE known (name TEXT NOT NULL, key {bytes} NOT NULL, host " \
    "{number} NOT NULL, first {number} NOT NULL, last {number} NOT NULL, due " \
    "{number} NOT NULL, stored {number} NOT NULL, checks {number} NOT NULL, " \
    "changes {number} NOT NULL, size {number} NOT NULL, terms {number} NOT " \
    "NULL, links {number} NOT NULL, status {number} NOT NULL, depth {number} " \
    "NOT NULL, flags {number} NOT NULL, url TEXT NOT NULL, type TEXT NOT " \
    "NULL, etag {bytes} NOT NULL, modified {bytes} NOT NULL, digest TEXT NOT " \
    "NULL, place TEXT NOT NULL, history {bytes} NOT NULL, PRIMARY KEY (name, " \
    "key));"
#define KNOWN_ROOM "ALTER TABLE known SET (fillfactor = 85);"

static const char tables[] =
    "CREATE TABLE frontier_version (version {number} NOT NULL, epoch TEXT "
    "NOT NULL);"

    "CREATE TABLE workers (id {serial}, name TEXT NOT NULL, joined {number} NOT "
    "NULL, renewed {number} NOT NULL, until {number} NOT NULL, gone {number} "
    "NOT NULL DEFAULT 0, commits {number} NOT NULL DEFAULT 0, pages {number} "
    "NOT NULL DEFAULT 0, links {number} NOT NULL DEFAULT 0, bytes {number} "
    "NOT NULL DEFAULT 0);"

    "CREATE TABLE visits (id {serial}, visit TEXT NOT NULL UNIQUE, name TEXT NOT "
    "NULL, job {bytes} NOT NULL, seed {number} NOT NULL, shards {number} NOT "
    "NULL, most {number} NOT NULL, state {number} NOT NULL, began {number} "
    "NOT NULL, ended {number} NOT NULL DEFAULT 0, queued {number} NOT NULL "
    "DEFAULT 0, fetched {number} NOT NULL DEFAULT 0, failed {number} NOT NULL "
    "DEFAULT 0, excluded {number} NOT NULL DEFAULT 0, given_up {number} NOT "
    "NULL DEFAULT 0, links {number} NOT NULL DEFAULT 0, bytes {number} NOT "
    "NULL DEFAULT 0" VISIT_TABLE_2 ");"
    "CREATE UNIQUE INDEX visits_name ON visits (name) WHERE state < 2;"
    "CREATE INDEX visits_state ON visits (state, id);"

    "CREATE TABLE hosts (id {id}, name TEXT NOT NULL UNIQUE, address TEXT NOT "
    "NULL DEFAULT '', worker {number} NOT NULL DEFAULT 0, due {number} NOT "
    "NULL DEFAULT 0, delay {number}, queued {number} NOT NULL DEFAULT 0, "
    "fetched {number} NOT NULL DEFAULT 0, requests {number} NOT NULL DEFAULT "
    "0, bytes {number} NOT NULL DEFAULT 0, failures {number} NOT NULL DEFAULT "
    "0, asked {number} NOT NULL DEFAULT 0, barred {number} NOT NULL DEFAULT "
    "0, stopped TEXT, note {bytes}, ready {number} GENERATED ALWAYS AS (CASE "
    "WHEN worker = 0 AND queued > 0 THEN due END) STORED);"
    "CREATE INDEX hosts_ready ON hosts (ready, id) WHERE ready IS NOT NULL;"
    "CREATE INDEX hosts_worker ON hosts (worker, address) WHERE worker <> 0;"

    "CREATE TABLE addresses (name TEXT NOT NULL PRIMARY KEY, worker {number} "
    "NOT NULL);"
    "CREATE INDEX addresses_worker ON addresses (worker);"

    "CREATE TABLE pages (id {serial}, visit {number} NOT NULL, host {number} NOT "
    "NULL, state {number} NOT NULL, priority {number} NOT NULL, via {number} "
    "NOT NULL, depth {number} NOT NULL, attempts {number} NOT NULL, flags "
    "{number} NOT NULL, key {bytes} NOT NULL, url TEXT NOT NULL, path TEXT "
    "NOT NULL, type TEXT NOT NULL);"
    "CREATE UNIQUE INDEX pages_key ON pages (visit, key);"
    "CREATE INDEX pages_next ON pages (host, priority, id) WHERE state = "
    "" SHARED_WAITING ";"

    "CREATE TABLE robots (origin TEXT NOT NULL PRIMARY KEY, until {number} "
    "NOT NULL, status {number} NOT NULL, body {bytes} NOT NULL);"

    "CREATE TABLE shards (visit {number} NOT NULL, shard {number} NOT NULL, "
    "records {number} NOT NULL, PRIMARY KEY (visit, shard));"

    KNOWN_TABLE;

/* From version 1 to 2. A worker of version 1 that was stopped all the while
   finds its lease gone, and cannot join again without the column `began`: it
   ends, instead of working by its own rules. */
static const char conversion[] =
    "ALTER TABLE workers RENAME COLUMN began TO joined;"
    "ALTER TABLE visits ADD COLUMN due {number} NOT NULL DEFAULT 0;"
    "ALTER TABLE visits ADD COLUMN terms {number} NOT NULL DEFAULT 0;"
    "ALTER TABLE visits ADD COLUMN recalled {bytes};"
    "ALTER TABLE visits ADD COLUMN not_due {number} NOT NULL DEFAULT 0;"
    "ALTER TABLE visits ADD COLUMN thorough {number} NOT NULL DEFAULT 1;"
    "ALTER TABLE visits ADD COLUMN aside {number} NOT NULL DEFAULT 0;"

    KNOWN_TABLE;

/* Room in each page of the table for the next version of its rows. */
static const char room[] =
    "ALTER TABLE hosts SET (fillfactor = 50);"
    "ALTER TABLE workers SET (fillfactor = 10);"
    "ALTER TABLE visits SET (fillfactor = 50);"
    "ALTER TABLE pages SET (fillfactor = 85);" KNOWN_ROOM;

/* See above; in ms. A host is asked again after a day at most, or its delay. */
#define AHEAD "1000"
#define WAITS_MOST "86400000"

#define DIED "(until <= {now} OR renewed > {now} + " AHEAD ")"
#define ASTRAY \
    "(asked > {now} + " AHEAD " OR due > {now} + " WAITS_MOST \
    " + coalesce(delay, 0))"
#define LATER(time) \
    "CASE WHEN " time " > due OR " ASTRAY " THEN " time " ELSE due END"

#define HOST_COLUMNS \
    "id, due - {now}, queued, fetched, failures, name, address"

#define VISIT_COLUMNS \
    "id, visit, name, job, seed, shards, most, state, {now} - began, CASE " \
    "WHEN ended = 0 THEN -1 ELSE {now} - ended END, queued, fetched, " \
    "failed, excluded, given_up, links, bytes, (SELECT " \
    "coalesce(sum(records), 0) FROM shards s WHERE s.visit = visits.id), " \
    "not_due, CASE WHEN recalled IS NULL THEN 0 ELSE 1 END, thorough"

/* With the changes of a commit, no page of the visit is left, or it may not
   fetch more. With several databases none of them knows: ?10, spread.h. */
#define VISIT_ENDS \
    "(?10 = 0 AND ((queued + ?2 <= 0 AND recalled IS NULL) OR (most > 0 AND " \
    "fetched + ?3 >= most)))"

static const char *const texts[SHARED_STATEMENTS] = {
    [SHARED_JOIN] =
        "INSERT INTO workers (name, joined, renewed, until) VALUES "
        "(?1, {now}, {now}, {now} + ?2) RETURNING id",
    [SHARED_JOIN_AS] =
        "INSERT INTO workers (id, name, joined, renewed, until) VALUES "
        "(?3, ?1, {now}, {now}, {now} + ?2) ON CONFLICT (id) DO UPDATE SET "
        "renewed = excluded.renewed, until = excluded.until WHERE "
        "workers.gone = 0 RETURNING id",
    [SHARED_RENEW] = "UPDATE workers SET renewed = {now}, until = {now} + ?2 "
                     "WHERE id = ?1 AND until > {now} RETURNING {now}",
    [SHARED_CHECK] = "UPDATE workers SET gone = 0 WHERE id = ?1 AND until > "
                     "{now}",
    [SHARED_NUMBERED] = "UPDATE workers SET commits = ?2 WHERE id = ?1 AND "
                        "until > {now} AND commits < ?2",
    [SHARED_COMMITS] = "SELECT commits FROM workers WHERE id = ?1 {lock}",
    [SHARED_WORKED] = "UPDATE workers SET pages = pages + ?2, links = links + "
                      "?3, bytes = bytes + ?4 WHERE id = ?1",
    [SHARED_END_LEASE] = "UPDATE workers SET until = {now} WHERE id = ?1 AND "
                         "gone = 0",
    /* One row at least, for the time. */
    [SHARED_DEAD] = "SELECT {now}, id, until - renewed, CASE WHEN until <= "
                    "{now} THEN 1 ELSE 0 END FROM (SELECT 1 AS one) AS once "
                    "LEFT JOIN workers ON gone = 0 AND " DIED
                    " ORDER BY id LIMIT 16",
    [SHARED_REAP] = "UPDATE workers SET gone = 0 WHERE id = ?1 AND gone = 0 "
                    "AND " DIED " RETURNING CASE WHEN until < {now} THEN "
                    "until ELSE {now} END",
    [SHARED_HELD] = "SELECT id FROM hosts WHERE worker = ?1 AND worker <> 0 "
                    "ORDER BY id LIMIT ?2 {lock}",
    [SHARED_FREE] = "UPDATE hosts SET worker = 0, due = " LATER(
        "?3 + coalesce(delay, ?4)") " WHERE id = ?1 AND worker = ?2",
    [SHARED_FREE_ADDRESSES] = "DELETE FROM addresses WHERE worker = ?1",
    [SHARED_GONE] = "UPDATE workers SET gone = 1, until = CASE WHEN until < "
                    "{now} THEN until ELSE {now} END WHERE id = ?1",
    [SHARED_DROP_WORKERS] = "DELETE FROM workers WHERE gone = 1 AND until < "
                            "{now} - ?1",
    [SHARED_DROP_VISITS] = "DELETE FROM visits WHERE state >= " SHARED_ENDED
                           " AND ended < {now} - ?1",
    [SHARED_DROP_SHARDS] = "DELETE FROM shards WHERE NOT EXISTS (SELECT 1 "
                           "FROM visits v WHERE v.id = shards.visit)",
    [SHARED_DROP_ROBOTS] = "DELETE FROM robots WHERE until < {now} - ?1",

    [SHARED_HOST_FIND] = "SELECT id, name FROM hosts WHERE name IN "
                         "(" SHARED_PLACES ")",
    [SHARED_HOST_ADD] = "INSERT INTO hosts (name) VALUES (?1) ON CONFLICT DO "
                        "NOTHING",
    [SHARED_HOST_LOCK] =
        "SELECT h.id, h.worker, h.barred FROM {rows number} "
        "JOIN hosts h ON h.id = column1 ORDER BY h.id {lock h}",
    [SHARED_HOST_COUNT] = "UPDATE hosts SET queued = queued + column2 FROM "
                          "{rows number number} WHERE id = column1",
    [SHARED_HOST_ASKED] = "UPDATE hosts SET due = " LATER(
        "{now} + column2") ", delay = column3, requests = requests + column4, "
                           "bytes = bytes + column5, fetched = fetched + column6, "
                           "failures = column7, stopped = column8, barred = "
                           "coalesce(column9, barred), note = coalesce(column10, "
                           "note), asked = {now} FROM {rows number number number "
                           "number number number number text number bytes} WHERE "
                           "id = column1",
    /* See frontier_shared_origin(). */
    [SHARED_ORIGIN_FIND] = "SELECT failures, barred, coalesce(stopped, '') "
                           "FROM hosts WHERE name = ?1",
    [SHARED_ORIGIN_KEEP] =
        "INSERT INTO hosts (name, failures, stopped, barred, asked) VALUES "
        "(?1, ?2, ?3, ?4, {now}) ON CONFLICT (name) DO UPDATE SET failures = "
        "excluded.failures, stopped = excluded.stopped, barred = "
        "excluded.barred, asked = excluded.asked",
    [SHARED_HOST_ASTRAY] =
        "SELECT id FROM hosts WHERE ready > {now} AND " ASTRAY
        " ORDER BY ready, id LIMIT ?1 {skip}",
    [SHARED_HOST_MEND] =
        "UPDATE hosts SET due = {now} + CASE WHEN asked > {now} AND due >= "
        "asked AND due - asked <= " WAITS_MOST " THEN due - asked ELSE "
        "coalesce(delay, ?2) END, asked = CASE WHEN asked > {now} THEN {now} "
        "ELSE asked END WHERE id = ?1",
    [SHARED_VISIT_MEND] =
        "UPDATE visits SET began = CASE WHEN began > {now} THEN {now} ELSE "
        "began END, ended = CASE WHEN ended > {now} THEN {now} ELSE ended END "
        "WHERE began > {now} + " AHEAD " OR ended > {now} + " AHEAD,
    /* Hosts of an address go to the worker that has the address. */
    [SHARED_HOST_READY] =
        "SELECT " HOST_COLUMNS
        " FROM hosts WHERE ready IS NOT NULL AND ready <= {now} + ?2 AND NOT EXISTS "
        "(SELECT 1 FROM addresses a WHERE a.name = hosts.address AND a.worker "
        "<> ?1) ORDER BY ready, id LIMIT ?3 {skip}",
    [SHARED_HOST_TAKE] = "UPDATE hosts SET worker = ?2 FROM {rows number} "
                         "WHERE id = column1",
    [SHARED_HOST_READ] = "SELECT " HOST_COLUMNS " FROM hosts WHERE id = ?1",
    [SHARED_LOAD] =
        "SELECT (SELECT count(*) FROM workers WHERE NOT " DIED "), (SELECT "
        "count(*) FROM (SELECT id FROM hosts WHERE ready IS NOT NULL LIMIT "
        "?1) AS waiting) + (SELECT count(*) FROM hosts WHERE worker <> 0 AND "
        "queued > 0)",
    [SHARED_HOST_MINE] = "SELECT id FROM hosts WHERE worker = ?1 AND worker "
                         "<> 0 ORDER BY id",
    [SHARED_HOST_UNDO] = "UPDATE hosts SET worker = 0 WHERE id = ?1 AND "
                         "worker = ?2",
    [SHARED_HOST_RETURN] = "UPDATE hosts SET worker = 0, due = " LATER(
        "{now} + column2") " FROM {rows number number} WHERE id = column1 AND "
                           "worker = ?3",
    [SHARED_HOST_ADDRESS] = "UPDATE hosts SET address = ?2 WHERE id = ?1",
    [SHARED_HOST_BUSY] = "UPDATE hosts SET address = ?2, worker = 0 WHERE id "
                         "= ?1",
    [SHARED_ADDRESS_TAKE] =
        "INSERT INTO addresses (name, worker) VALUES (?1, ?2) ON CONFLICT "
        "(name) DO UPDATE SET worker = excluded.worker WHERE addresses.worker "
        "= excluded.worker OR NOT EXISTS (SELECT 1 FROM workers w WHERE w.id "
        "= addresses.worker AND w.until > {now})",
    [SHARED_ADDRESS_DROP] =
        "DELETE FROM addresses WHERE worker = ?1 AND NOT EXISTS (SELECT 1 "
        "FROM hosts h WHERE h.worker = ?1 AND h.worker <> 0 AND h.address = "
        "addresses.name)",

    /* Without a visit before, nobody knows what it left. What it set aside is
       left, and known. */
    [SHARED_VISIT_ADD] =
        "INSERT INTO visits (visit, name, job, seed, shards, most, due, terms, "
        "state, began, thorough, recalled) VALUES (?1, ?2, ?3, ?4, ?5, ?6, "
        "?7, ?8, " SHARED_RUNNING ", {now}, CASE WHEN ?10 = 1 THEN 1 ELSE "
        "coalesce((SELECT CASE WHEN b.given_up > b.aside THEN 1 ELSE 0 END "
        "FROM visits b WHERE b.name = ?2 AND b.state = " SHARED_ENDED
        " ORDER BY b.id DESC LIMIT 1), 1) END, CASE "
        "WHEN EXISTS (SELECT 1 FROM known k WHERE k.name = ?2) THEN ?9 END) "
        "ON CONFLICT DO NOTHING RETURNING id",
    [SHARED_VISIT_COALESCE] =
        "INSERT INTO visits (visit, name, job, seed, shards, most, due, terms, "
        "state, began, ended) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, 3, "
        "{now}, {now}) ON CONFLICT DO NOTHING",
    [SHARED_VISIT_STATE] = "SELECT state FROM visits WHERE visit = ?1",
    [SHARED_VISIT_BEGUN] =
        "UPDATE visits SET queued = ?2, state = ?3 WHERE id = ?1",
    [SHARED_VISITS] = "SELECT " VISIT_COLUMNS " FROM visits WHERE state = ?1 "
                      "AND id > ?2 ORDER BY id",
    [SHARED_VISIT] = "SELECT " VISIT_COLUMNS " FROM visits WHERE id = ?1",
    [SHARED_VISIT_STATES] = "SELECT id, state FROM visits WHERE id IN "
                            "(" SHARED_PLACES ")",
    [SHARED_VISIT_LAST] = "SELECT coalesce(max(id), 0) FROM visits",
    [SHARED_VISIT_COUNT] =
        "UPDATE visits SET queued = CASE WHEN " VISIT_ENDS " THEN 0 ELSE "
        "queued + ?2 END, fetched = fetched + ?3, failed = failed + ?4, "
        "excluded = excluded + ?5, given_up = given_up + ?6 + CASE WHEN "
        "" VISIT_ENDS " THEN queued + ?2 + " SHARED_UNRECALLED
        " ELSE 0 END, links = links + ?7, "
        "bytes = bytes + ?8, aside = aside + ?9, state = CASE WHEN " VISIT_ENDS
        " THEN " SHARED_ENDING " ELSE state END WHERE id = ?1 AND state = "
        "" SHARED_RUNNING,
    [SHARED_VISIT_ENDED] = "UPDATE visits SET state = " SHARED_ENDED
                           ", ended = {now} WHERE id = "
                           "?1 AND state = " SHARED_ENDING,
    [SHARED_RECORDS] = "SELECT shard, records FROM shards WHERE visit = ?1",
    [SHARED_RECORD] = "INSERT INTO shards (visit, shard, records) VALUES (?1, "
                      "?2, ?3) ON CONFLICT (visit, shard) DO UPDATE SET "
                      "records = shards.records + excluded.records",

    [SHARED_PAGE_ADD] = "INSERT INTO pages (visit, host, state, priority, "
                        "via, depth, attempts, flags, key, url, path, type) "
                        "SELECT column1, column2, column3, column4, column5, "
                        "column6, column7, column8, column9, column10, "
                        "column11, column12 FROM {rows number number number "
                        "number number number number number bytes text text "
                        "text number} WHERE column13 <> 0 OR NOT EXISTS "
                        "(SELECT 1 FROM visits v JOIN known k ON k.name = "
                        "v.name WHERE v.id = column1 AND k.key = column9 AND "
                        "k.due > v.due AND k.terms = v.terms) ON CONFLICT "
                        "(visit, key) DO NOTHING RETURNING visit, key",
    [SHARED_PAGE_DONE] =
        "UPDATE pages SET state = column3, priority = coalesce(column4, "
        "priority), attempts = coalesce(column5, attempts), flags = "
        "coalesce(column6, flags) FROM {rows number number number number "
        "number number number} WHERE id = column1 AND host = column2 AND "
        "visit = column7 AND state = " SHARED_WAITING " RETURNING id",
    [SHARED_PAGE_NEXT] =
        "SELECT p.id, p.host, p.priority, p.via, p.depth, p.attempts, "
        "p.flags, p.url, p.path, p.type, p.visit, p.key, "
        "" SHARED_KNOWN_COLUMNS " FROM (SELECT id, host, priority, via, "
        "depth, attempts, flags, url, path, type, visit, key, (SELECT v.name "
        "FROM visits v WHERE v.id = pages.visit) AS name FROM pages WHERE "
        "host = ?1 AND state = " SHARED_WAITING " AND EXISTS (SELECT 1 FROM "
        "visits v WHERE v.id = pages.visit AND v.state = " SHARED_RUNNING
        ") ORDER BY priority, id LIMIT ?2) AS p LEFT JOIN known k ON k.name = "
        "p.name AND k.key = p.key ORDER BY p.priority, p.id",
    [SHARED_PAGE_STOP_COUNT] = "SELECT visit, count(*) FROM pages WHERE host "
                               "= ?1 AND state = " SHARED_WAITING
                               " GROUP BY visit",
    [SHARED_PAGE_STOP] = "UPDATE pages SET state = " SHARED_LEFT
                         " WHERE host = ?1 AND state = " SHARED_WAITING,
    [SHARED_PAGE_REST] = "SELECT id, host, state, key FROM pages WHERE visit "
                         "= ?1 AND key > ?2 ORDER BY key LIMIT ?3",
    [SHARED_PAGE_DROP] = "DELETE FROM pages WHERE id = ?1 AND state = ?2",
    [SHARED_PAGE_SUSPECT] = "UPDATE pages SET flags = " FRONTIER_SUSPECTED(
        "?4") " WHERE id = ?1 AND visit = ?2 AND key = ?3 AND state = "
              "" SHARED_WAITING,
    /* Deaths of 30 days count. The third makes a row of `aside`. */
    [SHARED_ROBOTS_SUSPECT] =
        "INSERT INTO suspect_robots (origin, deaths, noted) VALUES (?1, ?2, "
        "{now}) ON CONFLICT (origin) DO UPDATE SET deaths = CASE WHEN "
        "suspect_robots.noted > {now} - 2592000000 THEN suspect_robots.deaths "
        "ELSE 0 END + excluded.deaths, noted = excluded.noted",
    [SHARED_ROBOTS_SUSPECTS] = "SELECT origin FROM suspect_robots",
    [SHARED_ROBOTS_ASIDE] =
        "INSERT INTO aside (key, visit, url) SELECT CAST(?1 AS {bytes}), 0, origin || "
        "'/robots.txt' FROM suspect_robots WHERE origin = ?2 AND deaths >= 3 "
        "ON CONFLICT (key) DO NOTHING",
    [SHARED_ROBOTS_FORGET] = "DELETE FROM suspect_robots",
    [SHARED_ASIDE_ADD] =
        "INSERT INTO aside (key, visit, url) SELECT key, visit, url FROM pages "
        "WHERE id = ?1 ON CONFLICT (key) DO UPDATE SET visit = excluded.visit",
    [SHARED_ASIDE_READ] = "SELECT key FROM aside",
    [SHARED_ASIDE_FORGET] = "DELETE FROM aside",

    [SHARED_KNOWN_KEEP] =
        "INSERT INTO known (name, key, host, first, last, due, stored, checks, "
        "changes, size, terms, links, status, depth, flags, url, type, etag, "
        "modified, digest, place, history) SELECT (SELECT v.name FROM visits "
        "v WHERE v.id = column1), column2, column3, column4, column5, "
        "column6, column7, column8, column9, column10, column11, column12, "
        "column13, column14, column15, column16, column17, column18, "
        "column19, column20, column21, column22 FROM {rows number bytes "
        "number number number number number number number number number "
        "number number number number text text bytes bytes text text bytes} "
        "WHERE true ON CONFLICT (name, key) DO UPDATE SET host = "
        "excluded.host, last = excluded.last, due = excluded.due, stored = "
        "excluded.stored, checks = excluded.checks, changes = "
        "excluded.changes, size = excluded.size, terms = excluded.terms, "
        "links = excluded.links, status = excluded.status, depth = "
        "excluded.depth, flags = excluded.flags, url = excluded.url, type = "
        "excluded.type, etag = excluded.etag, modified = excluded.modified, "
        "digest = excluded.digest, place = excluded.place, history = "
        "excluded.history",
    [SHARED_RECALL_AT] = "SELECT recalled FROM visits WHERE id = ?1 AND state "
                         "= " SHARED_RUNNING " AND recalled IS NOT NULL",
    /* Of a page that is known on other terms nothing is said. */
    [SHARED_RECALL] =
        "SELECT k.key, k.host, k.url, k.type, k.depth, k.flags, CASE WHEN "
        "k.terms <> v.terms OR EXISTS (SELECT 1 FROM pages p WHERE p.visit = "
        "v.id AND p.key = k.key) THEN 2 WHEN k.due > v.due THEN 1 ELSE 0 END "
        "FROM visits v JOIN known k ON k.name = v.name WHERE v.id = ?1 AND "
        "k.key > ?2 ORDER BY k.key LIMIT ?3",
    [SHARED_RECALLED] =
        "UPDATE visits SET queued = queued + ?2, given_up = given_up + ?3, "
        "not_due = not_due + ?4, recalled = ?5, state = CASE WHEN ?6 = 1 AND "
        "queued + ?2 <= 0 THEN " SHARED_ENDING " ELSE state END WHERE id = ?1 "
        "AND state = " SHARED_RUNNING " AND recalled = ?7",

    [SHARED_ROBOTS_FIND] = "SELECT status, until - {now}, body FROM robots "
                           "WHERE origin = ?1 AND until > {now} AND until <= "
                           "{now} + " AHEAD " + " WAITS_MOST,
    [SHARED_ROBOTS_KEEP] =
        "INSERT INTO robots (origin, until, status, body) VALUES (?1, {now} + "
        "?2, ?3, ?4) ON CONFLICT (origin) DO UPDATE SET until = "
        "excluded.until, status = excluded.status, body = excluded.body",

    /* --- several databases: outbox.c, spread.c --- */

    [SHARED_SENT] = "UPDATE visits SET sent = sent + ?2 WHERE id = ?1",
    [SHARED_VISIT_COPIED] =
        "SELECT visit, name, job, seed, shards, most, due, terms, thorough, "
        "state FROM visits WHERE id = ?1",
    [SHARED_VISIT_COPY] =
        "INSERT INTO visits (id, visit, name, job, seed, shards, most, due, "
        "terms, thorough, state, began, recalled) VALUES (?1, ?2, ?3, ?4, ?5, "
        "?6, ?7, ?8, ?9, ?10, ?11, {now}, CASE WHEN ?11 = " SHARED_RUNNING
        " AND EXISTS (SELECT 1 FROM known k WHERE k.name = ?3) THEN ?12 END) "
        "ON CONFLICT DO NOTHING",
    [SHARED_VISIT_SUMS] =
        "SELECT " VISIT_COLUMNS ", sent, CASE WHEN EXISTS (SELECT 1 FROM "
        "outbox o WHERE o.visit = visits.id) THEN 1 ELSE 0 END FROM visits "
        "WHERE state < " SHARED_ENDED " ORDER BY id",
    [SHARED_VISIT_LEFT] =
        "SELECT CASE WHEN given_up > aside THEN 1 ELSE 0 END FROM visits "
        "WHERE name = ?1 AND state = " SHARED_ENDED " ORDER BY id DESC LIMIT "
        "1",
    [SHARED_OUTBOX_ADD] = "INSERT INTO outbox (target, visit, until, links) "
                          "VALUES (?1, ?2, 0, ?3)",
    [SHARED_OUTBOX_TARGETS] = "SELECT DISTINCT target FROM outbox",
    /* Those that a worker took and did not deliver come again. */
    [SHARED_OUTBOX_TAKE] =
        "UPDATE outbox SET until = {now} + ?3 WHERE id IN (SELECT id FROM "
        "outbox WHERE target = ?1 AND (until <= {now} OR until > {now} + ?3) "
        "ORDER BY id LIMIT ?2 {skip}) RETURNING id, visit, links",
    [SHARED_OUTBOX_DROP] = "DELETE FROM outbox WHERE id = ?1",
    [SHARED_OUTBOX_DROP_VISIT] = "DELETE FROM outbox WHERE visit = ?1",
    [SHARED_CLAIM] =
        "INSERT INTO claims (name, worker) VALUES (?1, ?2) ON CONFLICT (name) "
        "DO UPDATE SET worker = excluded.worker WHERE claims.worker = "
        "excluded.worker OR NOT EXISTS (SELECT 1 FROM workers w WHERE w.id = "
        "claims.worker AND w.until > {now})",
    [SHARED_CLAIM_FIND] = "SELECT worker FROM claims WHERE name = ?1",
    [SHARED_CLAIM_DROP] = "DELETE FROM claims WHERE name = ?1 AND worker = ?2",
    [SHARED_CLAIMS_FREE] = "DELETE FROM claims WHERE worker = ?1",
    [SHARED_ADDRESS_SET] =
        "INSERT INTO addresses (name, worker) VALUES (?1, ?2) ON CONFLICT "
        "(name) DO UPDATE SET worker = excluded.worker",
    /* Only a worker that takes hosts here: its row frees the address. */
    [SHARED_ADDRESS_YIELD] =
        "INSERT INTO addresses (name, worker) SELECT ?1, w.id FROM workers w "
        "WHERE w.id = ?2 AND w.until > {now} ON CONFLICT (name) DO UPDATE SET "
        "worker = excluded.worker",
    [SHARED_HOST_YIELD] = "UPDATE hosts SET address = ?2, worker = 0, due = "
                          "CASE WHEN due > {now} + ?3 THEN due ELSE {now} + "
                          "?3 END WHERE id = ?1",
};

void frontier_shared_reach(struct frontier_shared *f, const char *point)
{
    if (f->at)
        f->at(f->owner, point);
}

void frontier_shared_watch(struct frontier_shared *f,
                           frontier_shared_point *at, void *owner)
{
    f->at = at;
    f->owner = owner;
}

enum seen_code frontier_shared_step(struct frontier_shared *f, sql_work *work,
                                    void *owner, struct seen_error *why)
{
    return sql_transact(f->db, work, owner, f->patience, why);
}

/* A reader of a SQLite file need not wait for those who write. To a server a
   transaction would be two more round trips: it is for those that find their
   connection lost, and are patient. A server sends all rows before the first
   one is given to anybody. So a step that gives rows away gives all of them,
   and if its transaction is repeated since its COMMIT was lost, nothing is left
   to do. */
enum seen_code frontier_shared_read(struct frontier_shared *f, sql_work *work,
                                    void *owner, struct seen_error *why)
{
    enum seen_code code = work(owner, f->db, why);

    return code == SEEN_IO && !*sql_epoch(f->db)
               ? frontier_shared_step(f, work, owner, why)
               : code;
}

/* --- several databases --- */

/* The upper bits of a hash, times the number of databases. The secret is kept
   in the databases: who chooses names of hosts cannot choose their place. */
unsigned frontier_shared_database(const struct frontier_shared *f,
                                  struct seen_span name)
{
    uint64_t lo, hi;

    if (!frontier_shared_is_spread(f))
        return f->database;
    sip_hash(f->secret, name.text, name.len, &lo, &hi);
    return (unsigned)((hi >> 32) * f->databases >> 32);
}

/* --- statements --- */

static enum seen_code prepare(struct frontier_shared *f,
                              struct seen_error *why)
{
    enum seen_code code = SEEN_OK;

    const int n = frontier_shared_is_spread(f) ? SHARED_STATEMENTS
                                               : SHARED_SPREAD;

    for (int i = 0; code == SEEN_OK && i < n; i++)
        if (texts[i])
            code = sql_prepare(&f->st[i], f->db, texts[i], why);
    return code;
}

/* --- the tables --- */

/* A statement that is executed once. */
static enum seen_code once(struct sql *db, const char *text, int64_t a,
                           int64_t b, struct seen_error *why)
{
    struct sql_statement *st;
    enum seen_code code = sql_prepare(&st, db, text, why);

    if (code != SEEN_OK)
        return code;
    sql_bind_number(st, 1, a);
    if (strstr(text, "?2"))
        sql_bind_number(st, 2, b);
    return sql_do(st, why);
}

enum seen_code frontier_shared_tables(struct sql *db, struct seen_error *why)
{
    struct sql_statement *st;
    enum seen_code code = sql_run(db, tables, why);

    if (code == SEEN_OK && !*sql_epoch(db))
        code = sql_run(db, room, why);
    if (code == SEEN_OK)
        code = sql_prepare(
            &st, db, "INSERT INTO frontier_version VALUES (?1, ?2)", why);
    if (code != SEEN_OK)
        return code;
    sql_bind_number(st, 1, SHARED_VERSION);
    sql_bind_text(st, 2, span_of(sql_epoch(db)));
    return sql_do(st, why);
}

static enum seen_code make_tables(void *owner, struct sql *db,
                                  struct seen_error *why)
{
    (void)owner;
    return frontier_shared_tables(db, why);
}

/* Of which start of the machine the times in the tables are. *noted: this
   program's own epoch is there. */
static enum seen_code read_any_version(struct sql *db, int64_t *version,
                                       enum sql_start *start, bool *noted,
                                       struct seen_error *why)
{
    struct sql_statement *st;
    enum seen_code code;
    bool row;

    code = sql_prepare(&st, db, "SELECT version, epoch FROM frontier_version",
                       why);
    if (code == SEEN_OK)
        code = sql_step(st, &row, why);
    if (code != SEEN_OK)
        return code;
    if (!row)
        return seen_fail(why, SEEN_CORRUPT, 0, "the frontier has no version");
    *version = sql_number(st, 0);
    *start = sql_start_of(db, sql_text(st, 1));
    *noted = span_is(sql_text(st, 1), sql_epoch(db));
    sql_reset(st);
    return SEEN_OK;
}

static enum seen_code read_version(struct sql *db, enum sql_start *start,
                                   bool *noted, struct seen_error *why)
{
    int64_t version = 0;
    enum seen_code code = read_any_version(db, &version, start, noted, why);

    return code != SEEN_OK || version == SHARED_VERSION
               ? code
               : seen_fail(why, SEEN_MISMATCH, 0,
                           "%s has the tables of version %lld; this program "
                           "needs version %d",
                           sql_name(db), (long long)version, SHARED_VERSION);
}

/* A worker of the earlier version would end visits whose known pages are still
   to come, and keep nothing of its pages. */
static enum seen_code nobody_works(struct sql *db, struct seen_error *why)
{
    struct sql_statement *st;
    int64_t workers = 0;
    enum seen_code code = sql_prepare(
        &st, db,
        "SELECT count(*) FROM workers WHERE gone = 0 AND until > {now}", why);

    if (code == SEEN_OK)
        code = sql_first(st, &workers, why);
    if (code != SEEN_OK || !workers)
        return code;
    return seen_fail(why, SEEN_BUSY, 0,
                     "%s has tables of version 1, and %lld worker%s at work "
                     "with it: end them first",
                     sql_name(db), (long long)workers,
                     workers == 1 ? " is" : "s are");
}

/* Who notes the version first converts: others wait for the row, and find
   nothing to do. */
static enum seen_code convert_tables(void *owner, struct sql *db,
                                     struct seen_error *why)
{
    struct sql_statement *st;
    enum sql_start start;
    int64_t version;
    bool noted;
    enum seen_code code = read_any_version(db, &version, &start, &noted, why);

    (void)owner;
    if (code == SEEN_OK)
        code = sql_prepare(
            &st, db,
            "UPDATE frontier_version SET version = 2 WHERE version = 1", why);
    if (code == SEEN_OK)
        code = sql_do(st, why);
    if (code != SEEN_OK || sql_changes(db) != 1)
        return code;
    if (start != SQL_START_ANOTHER)
        code = nobody_works(db, why);
    if (code == SEEN_OK)
        code = sql_run(db, conversion, why);
    return code == SEEN_OK && !*sql_epoch(db) ? sql_run(db, KNOWN_ROOM, why)
                                              : code;
}

/* Two processes may do this at once: then one of them fails, and finds the
   tables of the other. */
enum seen_code frontier_shared_create(struct sql *db, struct seen_error *why)
{
    struct seen_error first;
    enum sql_start start;
    enum seen_code code;
    int64_t version = 0; /* there are no tables */
    bool noted;

    code = read_any_version(db, &version, &start, &noted, why);
    if (code == SEEN_OK)
        code = version == 1 ? sql_transact(db, convert_tables, NULL, 0, why)
                            : read_version(db, &start, &noted, why);
    if (code == SEEN_OK)
        return frontier_shared_aside_create(db, why);
    if (version)
        return code;
    code = sql_transact(db, make_tables, NULL, 0, &first);
    if (code == SEEN_OK || read_version(db, &start, &noted, why) == SEEN_OK)
        return frontier_shared_aside_create(db, why);
    return seen_fail(why, code, 0, "cannot make the tables: %s", first.text);
}

/* The machine was started again: move the times. */
static enum seen_code move_times(struct sql *db, struct seen_error *why)
{
    struct sql_statement *st;
    enum seen_code code;
    int64_t by = 0;
    bool row;

    code = sql_prepare(&st, db,
                       "SELECT {now} - coalesce(max(time), {now}) FROM "
                       "(SELECT max(renewed) AS time FROM workers UNION ALL "
                       "SELECT max(began) FROM visits UNION ALL SELECT "
                       "max(ended) FROM visits) AS noted",
                       why);
    if (code == SEEN_OK)
        code = sql_step(st, &row, why);
    if (code != SEEN_OK)
        return code;
    if (row) {
        by = sql_number(st, 0);
        sql_reset(st);
    }
    code = sql_run(db, "DELETE FROM robots; DELETE FROM addresses", why);
    if (code == SEEN_OK)
        code = once(
            db,
            "UPDATE workers SET joined = joined + ?1, renewed = renewed "
            "+ ?1, until = {now}, gone = 1",
            by, 0, why);
    if (code == SEEN_OK)
        code = once(db,
                    "UPDATE visits SET began = began + ?1, ended = CASE WHEN "
                    "ended = 0 THEN 0 ELSE ended + ?1 END",
                    by, 0, why);
    if (code == SEEN_OK)
        code = once(db,
                    "UPDATE hosts SET worker = 0, asked = asked + ?1, due = "
                    "CASE WHEN due + ?1 > {now} + coalesce(delay, ?2) THEN "
                    "due + ?1 ELSE {now} + coalesce(delay, ?2) END",
                    by, SHARED_DELAY, why);
    return code;
}

/* Note this start of the machine before its first time: see sql_start_of(). */
static enum seen_code begin_epoch(void *owner, struct sql *db,
                                  struct seen_error *why)
{
    struct sql_statement *st;
    enum sql_start start;
    enum seen_code code;
    bool noted;

    (void)owner;
    code = read_version(db, &start, &noted, why);
    if (code != SEEN_OK || noted)
        return code;
    if (start == SQL_START_ANOTHER)
        code = move_times(db, why);
    if (code == SEEN_OK)
        code = sql_prepare(&st, db, "UPDATE frontier_version SET epoch = ?1",
                           why);
    if (code != SEEN_OK)
        return code;
    sql_bind_text(st, 1, span_of(sql_epoch(db)));
    return sql_do(st, why);
}

enum seen_code frontier_shared_open(struct frontier_shared **out,
                                    struct sql *db,
                                    const struct frontier_worker *worker,
                                    struct seen_error *why)
{
    struct frontier_shared *f = calloc(1, sizeof *f);
    enum sql_start start;
    enum seen_code code;
    bool noted = true;

    *out = NULL;
    if (!f)
        return no_memory_for(why, "the frontier");
    f->db = db;
    f->name = strdup(worker->name);
    f->lease = worker->lease;
    f->patience = worker->patience;
    f->keep = worker->keep ? worker->keep : (int64_t)30 * DAY;
    f->has = worker->has;
    f->memory = worker->owner;
    f->database = worker->database;
    f->databases = worker->databases;
    f->secret = worker->secret;
    code = f->name ? read_version(db, &start, &noted, why)
                   : no_memory_for(why, "the frontier");
    if (code == SEEN_OK && !noted && *sql_epoch(db))
        code = frontier_shared_step(f, begin_epoch, NULL, why);
    if (code == SEEN_OK)
        code = prepare(f, why);
    if (code != SEEN_OK) {
        frontier_shared_close(f);
        return code;
    }
    *out = f;
    return SEEN_OK;
}

void frontier_shared_close(struct frontier_shared *f)
{
    if (!f)
        return;
    frontier_shared_forget(f);
    buffer_clear(&f->text);
    free(f->name);
    free(f);
}

/* --- leases --- */

int64_t frontier_shared_number(const struct frontier_shared *f)
{
    return f->number;
}

static enum seen_code ended(struct seen_error *why)
{
    return seen_fail(why, SEEN_ABSENT, 0, "the lease of this worker ended");
}

enum seen_code frontier_shared_hold(struct frontier_shared *f,
                                    struct seen_error *why)
{
    struct sql_statement *st = f->st[SHARED_CHECK];
    enum seen_code code;

    sql_bind_number(st, 1, f->number);
    code = sql_do(st, why);
    if (code != SEEN_OK)
        return code;
    return sql_changes(f->db) == 1 ? SEEN_OK : ended(why);
}

/* --- those who died --- */

struct reaping {
    struct frontier_shared *f;
    int64_t worker, ended;
    int64_t id[SHARED_BATCH];
    size_t n;
};

static void bind_freed(void *owner, struct sql_statement *st, size_t i)
{
    const struct reaping *r = owner;

    SQL_NUMBERS(st, 1, r->id[i], r->worker, r->ended, SHARED_DELAY);
}

static enum seen_code with_worker(struct sql_statement *st, int64_t worker,
                                  struct seen_error *why)
{
    sql_bind_number(st, 1, worker);
    return sql_do(st, why);
}

/* Lock the row of a worker. *found is false if its lease goes on, or others
   have freed its hosts. */
static enum seen_code lock_dead(struct reaping *r, bool *found,
                                struct seen_error *why)
{
    struct sql_statement *st = r->f->st[SHARED_REAP];
    enum seen_code code;
    bool row;

    *found = false;
    sql_bind_number(st, 1, r->worker);
    while ((code = sql_step(st, &row, why)) == SEEN_OK && row) {
        r->ended = sql_number(st, 0);
        *found = true;
    }
    return code;
}

static enum seen_code free_some(void *owner, struct sql *db,
                                struct seen_error *why)
{
    struct reaping *r = owner;
    struct frontier_shared *f = r->f;
    struct sql_statement *st = f->st[SHARED_HELD];
    enum seen_code code;
    bool row, found;

    (void)db;
    r->n = 0;
    code = lock_dead(r, &found, why);
    if (code != SEEN_OK || !found)
        return code;
    SQL_NUMBERS(st, 1, r->worker, SHARED_BATCH);
    while ((code = sql_step(st, &row, why)) == SEEN_OK && row)
        r->id[r->n++] = sql_number(st, 0);
    if (code == SEEN_OK && r->n)
        code = sql_do_many(f->st[SHARED_FREE], bind_freed, r, r->n, NULL, why);
    if (code != SEEN_OK || r->n == SHARED_BATCH)
        return code;
    code = with_worker(f->st[SHARED_FREE_ADDRESSES], r->worker, why);
    if (code == SEEN_OK && frontier_shared_is_spread(f))
        code = with_worker(f->st[SHARED_CLAIMS_FREE], r->worker, why);
    return code == SEEN_OK ? with_worker(f->st[SHARED_GONE], r->worker, why)
                           : code;
}

static enum seen_code reap(struct frontier_shared *f, int64_t worker,
                           struct seen_error *why)
{
    struct reaping r = { .f = f, .worker = worker };
    enum seen_code code;

    do {
        code = frontier_shared_step(f, free_some, &r, why);
        frontier_shared_reach(f, "reaped");
    } while (code == SEEN_OK && r.n == SHARED_BATCH);
    return code;
}

static enum seen_code end_lease(void *owner, struct sql *db,
                                struct seen_error *why)
{
    struct frontier_shared *f = owner;

    (void)db;
    return with_worker(f->st[SHARED_END_LEASE], f->number, why);
}

static enum seen_code clean(void *owner, struct sql *db,
                            struct seen_error *why)
{
    struct frontier_shared *f = owner;
    enum seen_code code;

    (void)db;
    code = with_worker(f->st[SHARED_DROP_WORKERS], DAY, why);
    if (code == SEEN_OK)
        code = with_worker(f->st[SHARED_DROP_VISITS], f->keep, why);
    if (code == SEEN_OK)
        code = sql_do(f->st[SHARED_DROP_SHARDS], why);
    return code == SEEN_OK ? with_worker(f->st[SHARED_DROP_ROBOTS], DAY, why)
                           : code;
}

enum seen_code frontier_shared_clean(struct frontier_shared *f,
                                     struct seen_error *why)
{
    return frontier_shared_step(f, clean, f, why);
}

/*
 * The database said that it is `now`, some time after `before` of this
 * machine's clock. Those differ by something between two bounds. If what they
 * differ by has changed by more than a second, one of them was set: then
 * nobody knows which leases have ended. No host is taken, and nobody's are
 * freed, for one lease. Those who live notice it by then, too: they renew
 * their lease, or find it gone and begin anew.
 */
static void compare_clocks(struct frontier_shared *f, int64_t now,
                           int64_t before)
{
    enum { STEP = 1000 };
    int64_t after = clock_boot_ms();
    int64_t least = now - after, most = now - before;
    bool set = f->compared &&
               (least > f->ahead_most + STEP || most < f->ahead_least - STEP);

    if (set) {
        f->was_set = least > f->ahead_most ? least - f->ahead_most
                                           : most - f->ahead_least;
        f->taking = after + (int64_t)f->lease;
        f->strange = 0;
        f->mended = 0;
    }
    if (set || !f->compared || most - least <= STEP) {
        f->ahead_least = least;
        f->ahead_most = most;
    }
    f->compared = true;
}

int64_t frontier_shared_was_set(struct frontier_shared *f)
{
    int64_t by = f->was_set;

    f->was_set = 0;
    return by;
}

bool frontier_shared_may_take(const struct frontier_shared *f)
{
    return clock_boot_ms() >= f->taking;
}

struct dead_workers {
    struct frontier_shared *f;
    int64_t id[16];
    size_t n;
};

/* A lease that was renewed later than now: see above. */
static bool is_over(struct frontier_shared *f, int64_t lease)
{
    if (*sql_epoch(f->db))
        return true;
    if (!f->strange)
        f->strange = clock_boot_ms();
    return clock_boot_ms() - f->strange > lease;
}

static enum seen_code find_dead(void *owner, struct sql *db,
                                struct seen_error *why)
{
    struct dead_workers *d = owner;
    struct sql_statement *st = d->f->st[SHARED_DEAD];
    int64_t before = clock_boot_ms();
    bool row, strange = false;
    enum seen_code code;

    (void)db;
    d->n = 0;
    while ((code = sql_step(st, &row, why)) == SEEN_OK && row) {
        if (!strange && !d->n)
            compare_clocks(d->f, sql_number(st, 0), before);
        if (sql_is_null(st, 1))
            continue;
        if (!sql_number(st, 3)) {
            strange = true;
            if (!is_over(d->f, sql_number(st, 2)))
                continue;
        }
        d->id[d->n++] = sql_number(st, 1);
    }
    if (!strange)
        d->f->strange = 0;
    return code;
}

enum seen_code frontier_shared_reap_dead(struct frontier_shared *f,
                                         struct seen_error *why)
{
    struct dead_workers d = { .f = f };
    enum seen_code code;

    do {
        code = frontier_shared_read(f, find_dead, &d, why);
        if (!frontier_shared_may_take(f))
            break;
        for (size_t i = 0; code == SEEN_OK && i < d.n; i++)
            code = reap(f, d.id[i], why);
    } while (code == SEEN_OK && d.n == 16);
    return code;
}

struct joining {
    struct frontier_shared *f;
    int64_t number; /* 0: a new one */
};

static enum seen_code add_worker(void *owner, struct sql *db,
                                 struct seen_error *why)
{
    const struct joining *j = owner;
    struct frontier_shared *f = j->f;
    struct sql_statement *st = f->st[j->number ? SHARED_JOIN_AS : SHARED_JOIN];

    (void)db;
    sql_bind_text(st, 1, span_of(f->name));
    sql_bind_number(st, 2, f->lease);
    if (j->number)
        sql_bind_number(st, 3, j->number);
    return sql_first(st, &f->number, why);
}

enum seen_code frontier_shared_join(struct frontier_shared *f,
                                    struct seen_error *why)
{
    return frontier_shared_join_as(f, 0, why);
}

enum seen_code frontier_shared_join_as(struct frontier_shared *f,
                                       int64_t number, struct seen_error *why)
{
    struct joining joining = { f, number };
    enum seen_code code = SEEN_OK;

    if (f->number)
        code = frontier_shared_leave(f, why);
    if (code == SEEN_OK)
        code = frontier_shared_clean(f, why);
    if (code == SEEN_OK)
        code = frontier_shared_step(f, add_worker, &joining, why);
    if (code == SEEN_OK && !f->number)
        code = ended(why);
    if (code != SEEN_OK) {
        f->number = 0;
        return code;
    }
    f->commits = 0;
    frontier_shared_reach(f, "joined");
    return SEEN_OK;
}

static enum seen_code renew(void *owner, struct sql *db,
                            struct seen_error *why)
{
    struct frontier_shared *f = owner;
    struct sql_statement *st = f->st[SHARED_RENEW];
    int64_t before = clock_boot_ms();
    enum seen_code code;
    bool row, renewed = false;

    (void)db;
    SQL_NUMBERS(st, 1, f->number, f->lease);
    while ((code = sql_step(st, &row, why)) == SEEN_OK && row) {
        compare_clocks(f, sql_number(st, 0), before);
        renewed = true;
    }
    if (code == SEEN_OK && !renewed)
        code = ended(why);
    return code == SEEN_OK && f->has ? frontier_shared_free_unknown(f, why)
                                     : code;
}

enum seen_code frontier_shared_renew(struct frontier_shared *f,
                                     struct seen_error *why)
{
    return frontier_shared_step(f, renew, f, why);
}

enum seen_code frontier_shared_leave(struct frontier_shared *f,
                                     struct seen_error *why)
{
    enum seen_code code;

    if (!f->number)
        return SEEN_OK;
    code = frontier_shared_step(f, end_lease, f, why);
    frontier_shared_reach(f, "leaving");
    if (code == SEEN_OK)
        code = reap(f, f->number, why);
    f->number = 0;
    return code;
}
