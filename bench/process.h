/*
 * process.h - processes and files of a benchmark: none is left behind.
 *
 *     static int measure(void *with) { ... process_start(argv, ...) ... }
 *
 *     return process_guard(measure, &options, "/tmp");
 *
 * Threads: the main one, but process_cpu() in any.
 */
#ifndef SEEN_BENCH_PROCESS_H
#define SEEN_BENCH_PROCESS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum { PATH_ROOM = 512 }; /* bytes of a path */

/*
 * Run `run` in a process and a folder of its own, the latter below $TMPDIR
 * or `temp`, and return what it returns, or 2 after a message. Whatever
 * happens to it or to us, even SIGKILL, the processes that it started end;
 * the folder is removed unless we were killed.
 */
int process_guard(int (*run)(void *with), void *with, const char *temp);

/* The folder, and the path of a file in it. */
const char *process_folder(void);
void process_path(char path[PATH_ROOM], const char *name);

/* False after a message if the folder's disk has less room than this. */
bool process_room(uint64_t bytes);

/* The path of a program in PATH, or where system programs are; NULL after a
   message that names its package. The text lives until the next call. */
const char *process_find(const char *name);

/* The program that is measured: $SEEN, or the one beside this program. False
   after a message if there is none. */
bool process_seen(char path[PATH_ROOM]);

/* Start a program that ends when we do, with its output in files of the
   folder, or nowhere for NULL; 0 if that fails. */
pid_t process_start(const char *const *argv, const char *out, const char *err);

/* The same for a function of ours, which never returns. */
pid_t process_fork(void (*run)(void *with), void *with);

/* Run one to its end; *seconds is how long it took. False if it failed. */
bool process_run(const char *const *argv, const char *out, const char *err,
                 double *seconds);

/* The same, with all that it cost: its own CPU time and that of its children,
   and the most memory that it had at once. */
struct process_cost {
    double seconds, cpu, memory;
};
bool process_measure(const char *const *argv, const char *out, const char *err,
                     struct process_cost *cost);

/* Wait for one that was started; cost->seconds is not set. False if it
   failed. */
bool process_wait(pid_t *pid, struct process_cost *cost);

/* Stop one, if *pid is not 0, wait for its end, and set *pid to 0. */
void process_stop(pid_t *pid);

/* Print the first lines of a file of the folder, where errors went. */
void process_show(const char *err);

/* Seconds of CPU time so far, that of children that have ended included, and
   bytes of memory in use, mapped files included: of a process and its
   children. */
double process_cpu(pid_t pid);
double process_memory(pid_t pid);

void process_sleep(unsigned ms);

#endif
