/*
 * draw.c - draw a plot with gnuplot.
 *
 * gnuplot runs as a process that reads a script from standard input and writes
 * SVG to standard output. All three streams are files in memory, so neither a
 * full pipe nor a full disk can stop it. It gets a minute: one that hangs is
 * killed, with all processes that it started.
 */
#include "draw.h"

#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../lib/disk/clock.h"

static double patience = 60; /* seconds */

/* --- the script --- */

static const char *const colour[] = { "#1f6fb4", "#d2691e", "#2e8b57",
                                      "#b03060", "#7b52ab", "#8b6914",
                                      "#008b8b", "#555555", "#e36bae",
                                      "#000000" };
enum { COLOURS = sizeof colour / sizeof *colour };

/* Filled circle, square, triangles, diamond, pentagon; and not as many as
   there are colours: a mark comes with the same colour again after 30 series
   only. So series are told apart without colours, too. */
static const int mark[] = { 7, 5, 9, 11, 13, 15 };
enum { MARKS = sizeof mark / sizeof *mark };

/* A text in single quotes, with the quotes inside doubled. */
static void quote(FILE *to, const char *text)
{
    putc('\'', to);
    for (; *text; text++) {
        if (*text == '\'')
            putc('\'', to);
        putc((unsigned char)*text < 0x20 ? ' ' : *text, to);
    }
    putc('\'', to);
}

/* Can the point be shown on these axes? */
static bool has_place(const struct plot *p, const struct point *at)
{
    return isfinite(at->x) && isfinite(at->y) &&
           !(p->flags & LOG_X && at->x <= 0) &&
           !(p->flags & LOG_Y && at->y <= 0);
}

static size_t count_shown(const struct plot *p, const struct series *s)
{
    size_t n = 0;

    for (size_t i = 0; i < s->points; i++)
        n += has_place(p, &s->point[i]);
    return n;
}

/* Bars of several series stand side by side within the least distance of two
   bars of a series: the width of one, and how many series there are. */
static double bar_width(const struct plot *p, unsigned *bars)
{
    double least = INFINITY;

    *bars = 0;
    for (size_t i = 0; i < p->count; i++) {
        const struct series *s = &p->series[i];

        if (s->style != BARS)
            continue;
        ++*bars;
        for (size_t j = 1; j < s->points; j++)
            least = fmin(least, fabs(s->point[j].x - s->point[j - 1].x));
    }
    return *bars ? 0.8 * (isfinite(least) && least > 0 ? least : 1) / *bars
                 : 0;
}

static void put_points(FILE *to, const struct plot *p, size_t i, double move)
{
    const struct series *s = &p->series[i];

    fprintf(to, "$series%zu << END\n", i);
    for (size_t j = 0; j < s->points; j++)
        if (has_place(p, &s->point[j]))
            fprintf(to, "%.10g %.10g\n", s->point[j].x + move, s->point[j].y);
    fputs("END\n", to);
}

/* --- axes --- */

/* The least and the largest number on an axis; false if there are none. */
static bool range_of(const struct plot *p, char axis, double *low,
                     double *high)
{
    *low = INFINITY;
    *high = -INFINITY;
    for (size_t i = 0; i < p->count; i++)
        for (size_t j = 0; j < p->series[i].points; j++) {
            const struct point *at = &p->series[i].point[j];
            double x = axis == 'x' ? at->x : at->y;

            if (!has_place(p, at))
                continue;
            *low = fmin(*low, x);
            *high = fmax(*high, x);
        }
    return *low <= *high;
}

static void put_tick(FILE *to, char axis, double at, bool first)
{
    if (first)
        fprintf(to, "set %ctics (", axis);
    else
        fputs(", ", to);
    if (at < 10000)
        fprintf(to, "'%.10g' %.10g", at, at);
    else
        fprintf(to, "'%s' %.10g", lab_count(at), at);
}

/* At every 1, 2 and 5 of a decade, or if these are many at 1 only. */
static void put_log_ticks(FILE *to, char axis, double low, double high)
{
    static const double of[] = { 1, 2, 5 };
    int each = high / low < 90 ? 3 : 1;
    bool first = true;

    for (int power = (int)floor(log10(low)); pow(10, power) <= high; power++)
        for (int i = 0; i < each; i++) {
            double at = of[i] * pow(10, power);

            if (at >= low * 0.99 && at <= high * 1.01) {
                put_tick(to, axis, at, first);
                first = false;
            }
        }
    fputs(first ? "" : ")\n", to);
}

/* At up to eight places. */
static void put_linear_ticks(FILE *to, char axis, double high)
{
    double step = pow(10, floor(log10(high)));

    step *= high / step < 1.6 ? 0.2 : high / step < 4 ? 0.5 : 1;
    for (double at = 0; at <= high * 1.01; at += step)
        put_tick(to, axis, at, at <= 0);
    fputs(")\n", to);
}

/* Is every number of the x axis a whole one? */
static bool whole_numbers(const struct plot *p)
{
    for (size_t i = 0; i < p->count; i++)
        for (size_t j = 0; j < p->series[i].points; j++)
            if (fabs(p->series[i].point[j].x -
                     round(p->series[i].point[j].x)) > 1e-9)
                return false;
    return true;
}

/* gnuplot's own, but for large numbers, which are written out (100,000 and not
   1e+05), for short logarithmic axes, on which it has one tick, and for few
   whole numbers, between which there is nothing. */
static void put_ticks(FILE *to, const struct plot *p, char axis)
{
    bool log_axis = p->flags & (axis == 'x' ? LOG_X : LOG_Y);
    double low, high;

    if (!range_of(p, axis, &low, &high) || low < 0)
        return;
    if (log_axis && (high >= 10000 || high / low < 90))
        put_log_ticks(to, axis, low / (axis == 'y' ? 1.5 : 1),
                      high * (axis == 'y' ? 1.5 : 1));
    else if (!log_axis && high >= 10000)
        put_linear_ticks(to, axis, high);
    else if (axis == 'x' && !log_axis && high - low <= 12 && whole_numbers(p))
        fputs("set xtics 1\n", to);
}

/* A logarithmic axis ends near the data, not at the next power of ten. */
static void put_log_range(FILE *to, const struct plot *p)
{
    double low, high;

    if (p->flags & LOG_Y && range_of(p, 'y', &low, &high))
        fprintf(to, "set yrange [%.10g:%.10g]\n", low / 1.5, high * 1.5);
}

static void put_axes(FILE *to, const struct plot *p)
{
    size_t titles = 0, longest = 0;

    for (size_t i = 0; i < p->count; i++) {
        size_t len = strlen(p->series[i].title);

        titles += len > 0;
        longest = len > longest ? len : longest;
    }
    fputs("set encoding utf8\n"
          "set terminal svg size 800,480 dynamic noenhanced "
          "font 'sans-serif,14' background '#ffffff'\n"
          "set border 3 lc '#666666'\n"
          "set tics nomirror\n"
          "set grid lc '#dddddd' lt 1\n"
          "set style fill solid 0.7 noborder\n"
          "set format '%g'\n"
          "set autoscale xfix\n"
          "set offsets graph 0.02, graph 0.02, graph 0.02, 0\n",
          to);
    /* Long titles beside the plot would leave it no room. */
    fputs(titles <= 1    ? "set key off\n"
          : longest > 20 ? "set key below left Left reverse maxrows 3\n"
                         : "set key outside right top Left reverse\n",
          to);
    fputs("set xlabel ", to);
    quote(to, p->x);
    fputs(longest > 20 ? " offset 0,0.6\nset ylabel " : "\nset ylabel ", to);
    quote(to, p->y);
    fprintf(to, "\n%s%s", p->flags & LOG_X ? "set logscale x\n" : "",
            p->flags & LOG_Y ? "set logscale y\n" : "");
    put_log_range(to, p);
    if (!p->ticks)
        put_ticks(to, p, 'x');
    put_ticks(to, p, 'y');
    for (size_t i = 0; i < p->ticks; i++) {
        fputs(i ? ", " : "set xtics rotate by -30 (", to);
        quote(to, p->tick[i].title);
        fprintf(to, " %.10g%s", p->tick[i].x, i + 1 < p->ticks ? "" : ")\n");
    }
}

static void put_style(FILE *to, const struct series *s, unsigned number)
{
    const char *c = colour[(number - 1) % COLOURS];
    int pt = mark[(number - 1) % MARKS];

    switch (s->style) {
    case LINES: fprintf(to, " with lines lw 2 lc '%s'", c); break;
    case POINTS:
        fprintf(to, " with points pt %d ps 0.8 lc '%s'", pt, c);
        break;
    case LINES_POINTS:
        fprintf(to, " with linespoints lw 2 pt %d ps 0.7 lc '%s'", pt, c);
        break;
    case BARS: fprintf(to, " with boxes lc '%s'", c); break;
    case DASHES: fprintf(to, " with lines lw 2 dt 2 lc '%s'", c); break;
    case CIRCLES:
        fprintf(to, " with points pt 6 ps 0.8 lw 1.5 lc '%s'", c);
        break;
    }
}

/* The script; false if it has nothing to show. */
static bool put_script(FILE *to, const struct plot *p)
{
    unsigned bars, bar = 0, number = 0;
    double width = bar_width(p, &bars);
    const char *before = "plot ";
    const char *title = ""; /* of points that may all be 0: then of the line */

    put_axes(to, p);
    if (bars) {
        fprintf(to, "set boxwidth %.10g absolute\n", width);
        if (!(p->flags & LOG_Y))
            fputs("set yrange [0:]\n", to);
    }
    for (size_t i = 0; i < p->count; i++)
        put_points(to, p, i,
                   p->series[i].style == BARS
                       ? (bar++ - (bars - 1) / 2.0) * width
                       : 0);
    for (size_t i = 0; i < p->count; i++) {
        const struct series *s = &p->series[i];

        number += *s->title || !number;
        title = *s->title ? s->title : title;
        if (!count_shown(p, s))
            continue;
        fprintf(to, "%s$series%zu using 1:2", before, i);
        put_style(to, s, number);
        if (*title) {
            fputs(" title ", to);
            quote(to, title);
        } else {
            fputs(" notitle", to);
        }
        title = "";
        before = ", ";
    }
    putc('\n', to);
    return *before == ',';
}

/* --- the process --- */

/* Write the script to `fd` and go back to its beginning. */
static const char *write_script(int fd, const struct plot *p)
{
    int copy = dup(fd);
    FILE *to = copy < 0 ? NULL : fdopen(copy, "w");
    bool any;

    if (!to)
        return strerror(errno);
    any = put_script(to, p);
    if (fclose(to) || lseek(fd, 0, SEEK_SET))
        return strerror(errno);
    return any ? NULL : "there are no points to draw";
}

/* Start gnuplot with these three streams; 0, or an errno. */
static int start(pid_t *pid, const int fd[3])
{
    static char name[] = "gnuplot";
    char *const argv[] = { name, NULL };
    extern char **environ;
    posix_spawn_file_actions_t act;
    posix_spawnattr_t attr;
    sigset_t none;
    int error;

    posix_spawn_file_actions_init(&act);
    posix_spawnattr_init(&attr);
    for (int i = 0; i < 3; i++)
        posix_spawn_file_actions_adddup2(&act, fd[i], i);
    sigemptyset(&none);
    posix_spawnattr_setsigmask(&attr, &none);
    posix_spawnattr_setpgroup(&attr, 0);
    posix_spawnattr_setflags(&attr,
                             POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETPGROUP);
    error = posix_spawnp(pid, argv[0], &act, &attr, argv, environ);
    posix_spawnattr_destroy(&attr);
    posix_spawn_file_actions_destroy(&act);
    return error;
}

/* Wait for it; false if it has to be ended. */
static bool wait_patiently(pid_t pid, int *status)
{
    const struct timespec moment = { .tv_nsec = 5 * 1000 * 1000 };
    double until = clock_seconds() + patience;

    while (waitpid(pid, status, WNOHANG) == 0) {
        if (clock_seconds() > until) {
            kill(-pid, SIGKILL);
            waitpid(pid, status, 0);
            return false;
        }
        nanosleep(&moment, NULL);
    }
    return true;
}

/* All that was written to a file in memory, with a zero after it. */
static bool read_back(int fd, struct buffer *to)
{
    off_t size = lseek(fd, 0, SEEK_END);
    char *text = size < 0 ? NULL : buffer_room(to, (size_t)size + 1);
    ssize_t n = text ? pread(fd, text, (size_t)size, 0) : -1;

    if (n < 0)
        return false;
    text[n] = '\0';
    to->len += (size_t)n;
    return true;
}

static void say(char **why, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void say(char **why, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    if (vasprintf(why, format, args) < 0)
        *why = NULL;
    va_end(args);
}

/* Why it failed: the last line of its standard error, which follows lines
   that repeat the script; else how it ended. */
static void explain(char **why, int status, int stderr_fd)
{
    struct buffer said = { .bytes = NULL };
    const char *last = "";

    if (read_back(stderr_fd, &said)) {
        while (said.len && (unsigned char)said.bytes[said.len - 1] <= ' ')
            said.bytes[--said.len] = '\0';
        last = strrchr(said.bytes, '\n');
        last = last ? last + 1 : said.bytes;
    }
    if (*last)
        say(why, "gnuplot: %.200s", last + strspn(last, " \t"));
    else if (WIFSIGNALED(status))
        say(why, "gnuplot: ended by signal %d", WTERMSIG(status));
    else
        say(why, "gnuplot: exit code %d", WEXITSTATUS(status));
    buffer_clear(&said);
}

static bool run_gnuplot(const int fd[3], struct buffer *svg, char **why)
{
    static bool hung; /* once is enough */
    int error, status = 0;
    pid_t pid;

    if (hung) {
        say(why, "gnuplot: not tried again, since it hung before");
        return false;
    }
    error = start(&pid, fd);
    if (error) {
        say(why, "gnuplot: %s",
            error == ENOENT ? "not found; it is in the package gnuplot-nox"
                            : strerror(error));
        return false;
    }
    if (!wait_patiently(pid, &status)) {
        hung = true;
        say(why, "gnuplot: not done after %.0f seconds", patience);
        return false;
    }
    if (!WIFEXITED(status) || WEXITSTATUS(status)) {
        explain(why, status, fd[2]);
        return false;
    }
    if (read_back(fd[1], svg) && strstr(svg->bytes, "</svg>"))
        return true;
    buffer_clear(svg);
    say(why, "gnuplot: wrote no SVG");
    return false;
}

bool draw_plot(const struct plot *p, struct buffer *svg, char **why)
{
    const char *wait = getenv("SEEN_LAB_PATIENCE");
    const char *wrong = NULL;
    bool good = false;
    int fd[3];

    if (wait && atof(wait) > 0)
        patience = atof(wait);
    *why = NULL;
    for (int i = 0; i < 3; i++) {
        fd[i] = memfd_create("seen-lab", MFD_CLOEXEC);
        if (fd[i] < 0)
            wrong = strerror(errno);
    }
    if (!wrong)
        wrong = write_script(fd[0], p);
    if (wrong)
        say(why, "%s", wrong);
    else
        good = run_gnuplot(fd, svg, why);
    for (int i = 0; i < 3; i++)
        if (fd[i] >= 0)
            close(fd[i]);
    return good;
}
