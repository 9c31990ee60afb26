/*
 * inject.c - make the Nth call of a kind fail, in a program as it is.
 *
 * A library for LD_PRELOAD. It counts the calls that a program makes, per
 * class, and lets chosen ones fail, fall short, or be the last:
 *
 *     SEEN_FAULT=write:17:17:28     the 17th write finds the disk full
 *     SEEN_FAULT=sync:3:-:5         the 3rd flush and all later ones fail
 *     SEEN_FAULT=read:4:4:short     the 4th read returns half
 *     SEEN_FAULT=change:9:9:kill    SIGKILL before the 9th call that changes
 *                                   the disk
 *     SEEN_FAULT=change:9:9:stop    SIGSTOP, for a test that cuts the power
 *     SEEN_FAULT=memory:80:80:12    the 80th allocation returns NULL
 *
 * SEEN_FAULT_REPORT names a file of struct report, which is mapped: its
 * counts are right even if the program is killed.
 *
 * How calls are caught. Replacing write() would miss the write that stdio
 * makes, because glibc does not call itself through its symbol table. So a
 * seccomp filter turns the system calls themselves into SIGSYS, and the
 * handler counts, decides, and makes the call in place of the program. The
 * filter lets through what comes from libc's syscall(), which the handler
 * uses. Nothing of libc is replaced, and nothing escapes but calls that a
 * library makes by syscall(), or by io_uring. ptrace would do the same, with
 * a second process and two switches per call; here a call costs 2 us more.
 *
 * Allocations are no system calls. glibc's own calls of malloc() go through
 * its symbol table, so replacing malloc(), calloc(), realloc() and their like
 * catches all: those of strdup(), fopen(), open_memstream() and every library.
 *
 * Counting begins at main(): before that, the loader is at work.
 *
 * What is not counted: sockets, pipes and event descriptors, other than
 * standard input and output (a test of clients is elsewhere, and libuv ends
 * the program if its own pipe fails); standard error, which the test reads;
 * stores to mapped pages, which are not calls.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

/* The machine's registers: six arguments, and the result. */
#if defined __x86_64__
enum { ARCH = AUDIT_ARCH_X86_64 };
static const int registers[] = { REG_RDI, REG_RSI, REG_RDX,
                                 REG_R10, REG_R8,  REG_R9 };
#define ARGUMENT(u, i) ((u)->uc_mcontext.gregs[registers[i]])
#define RESULT(u) ((u)->uc_mcontext.gregs[REG_RAX])
#elif defined __aarch64__
enum { ARCH = (int)AUDIT_ARCH_AARCH64 };
#define ARGUMENT(u, i) ((u)->uc_mcontext.regs[i])
#define RESULT(u) ((u)->uc_mcontext.regs[0])
#else
#error "inject.c knows the registers of x86-64 and AArch64 only"
#endif

/* sweep.py has the same names in the same order. */
enum class {
    READ,
    WRITE,
    SYNC,
    RENAME,
    OPEN,
    SIZE,
    MAP,
    CLOSE,
    LOCK,
    LINK,
    LIST,
    STAT,
    MEMORY,
    CHANGE, /* all of them that change the disk */
    CLASSES
};

static const char *const names[CLASSES] = {
    "read",  "write", "sync", "rename", "open", "size",   "map",
    "close", "lock",  "link", "list",   "stat", "memory", "change"
};

enum { SHORT = -1, KILL = -2, STOP = -3, ROOM = 2000 };

struct report {
    _Atomic uint64_t calls[CLASSES];
    _Atomic uint64_t faults; /* how many were made */
    char trace[ROOM];        /* who made the first call that failed */
};

static struct report nowhere, *report = &nowhere;
static enum class wanted = CLASSES;
static uint64_t first, last;
static int action;
static atomic_bool counting;

/* --- the decision --- */

/* The call stack, as object+offset, for addr2line. */
static void note_trace(void)
{
    void *stack[32];
    int n = backtrace(stack, 32);
    size_t len = 0;

    for (int i = 0; i < n; i++) {
        Dl_info where;
        int room = (int)(ROOM - len), got;

        if (!dladdr(stack[i], &where) || !where.dli_fname)
            continue;
        got = snprintf(report->trace + len, (size_t)room, "%s+%#tx\n",
                       where.dli_fname,
                       (char *)stack[i] - (char *)where.dli_fbase);
        if (got < 0 || got >= room)
            return;
        len += (size_t)got;
    }
}

/* One call of a class: 0 if it is to be made, else the action. */
static int decide(enum class class)
{
    uint64_t n = atomic_fetch_add(&report->calls[class], 1) + 1;

    if (class != wanted || n < first || n > last)
        return 0;
    if (atomic_fetch_add(&report->faults, 1) == 0 && action != KILL &&
        action != STOP) {
        atomic_store(&counting, false);
        note_trace();
        atomic_store(&counting, true);
    }
    if (action == KILL) {
        syscall(SYS_kill, syscall(SYS_getpid), SIGKILL);
        syscall(SYS_exit_group, 99);
    }
    if (action == STOP) {
        syscall(SYS_kill, syscall(SYS_getpid), SIGSTOP);
        return 0;
    }
    return action;
}

/* --- system calls --- */

static const struct call {
    int number;
    enum class class;
    int fd;     /* which argument is a descriptor, -1 if none is */
    int length; /* which one may become shorter, -1 if none may */
} calls[] = {
    { SYS_read, READ, 0, 2 },
    { SYS_pread64, READ, 0, 2 },
    { SYS_readv, READ, 0, -1 },
    { SYS_write, WRITE, 0, 2 },
    { SYS_pwrite64, WRITE, 0, 2 },
    { SYS_writev, WRITE, 0, -1 },
    { SYS_copy_file_range, WRITE, 2, 4 },
    { SYS_sendfile, READ, 1, 3 },
    { SYS_fsync, SYNC, -1, -1 },
    { SYS_fdatasync, SYNC, -1, -1 },
    { SYS_msync, SYNC, -1, -1 },
    { SYS_sync_file_range, SYNC, -1, -1 },
    { SYS_renameat, RENAME, -1, -1 },
    { SYS_renameat2, RENAME, -1, -1 },
    { SYS_openat, OPEN, -1, -1 },
    { SYS_ftruncate, SIZE, -1, -1 },
    { SYS_fallocate, SIZE, -1, -1 },
    { SYS_mmap, MAP, -1, -1 },
    { SYS_close, CLOSE, 0, -1 },
    { SYS_flock, LOCK, -1, -1 },
    { SYS_linkat, LINK, -1, -1 },
    { SYS_unlinkat, LINK, -1, -1 },
    { SYS_mkdirat, LINK, -1, -1 },
    { SYS_getdents64, LIST, -1, -1 },
    { SYS_newfstatat, STAT, -1, -1 },
#ifdef __x86_64__
    { SYS_rename, RENAME, -1, -1 },
    { SYS_open, OPEN, -1, -1 },
    { SYS_link, LINK, -1, -1 },
    { SYS_unlink, LINK, -1, -1 },
    { SYS_rmdir, LINK, -1, -1 },
    { SYS_mkdir, LINK, -1, -1 },
#endif
};
enum { CALLS = sizeof calls / sizeof calls[0] };

static bool changes(const struct call *call, const long *argument)
{
    switch (call->class) {
    case WRITE:
    case SYNC:
    case RENAME:
    case SIZE:
    case LINK: return true;
    case OPEN:
        return argument[call->number == SYS_openat ? 2 : 1] &
               (O_CREAT | O_TRUNC);
    default: return false;
    }
}

/* A file or a folder, or standard input or output? */
static bool of_interest(const struct call *call, const long *argument)
{
    struct stat is;
    long fd;

    if (call->fd < 0)
        return true;
    fd = argument[call->fd];
    if (fd == STDIN_FILENO || fd == STDOUT_FILENO)
        return true;
    if (fd == STDERR_FILENO)
        return false;
    return syscall(SYS_fstat, fd, &is) == 0 &&
           (S_ISREG(is.st_mode) || S_ISDIR(is.st_mode));
}

static long make(int number, const long *a)
{
    long got = syscall(number, a[0], a[1], a[2], a[3], a[4], a[5]);

    return got == -1 ? -errno : got;
}

static long instead(const struct call *call, long *argument)
{
    int fault = 0;

    if (atomic_load(&counting) && of_interest(call, argument)) {
        if (changes(call, argument))
            fault = decide(CHANGE);
        if (!fault)
            fault = decide(call->class);
    }
    if (fault == SHORT && call->length >= 0 && argument[call->length] > 1)
        argument[call->length] /= 2;
    else if (fault > 0) {
        if (call->class == CLOSE) /* which closes even if it fails */
            make(call->number, argument);
        return -fault;
    }
    return make(call->number, argument);
}

/*
 * A thread that blocks all signals would be killed by the next SIGSYS. The
 * mask is set when the handler returns, from the context.
 */
static long block(ucontext_t *context, const long *argument)
{
    uint64_t *mask = (uint64_t *)&context->uc_sigmask, set;
    uint64_t ours = (uint64_t)1 << (SIGSYS - 1);

    if (argument[2])
        memcpy((void *)argument[2], mask, sizeof set);
    if (!argument[1])
        return 0;
    memcpy(&set, (void *)argument[1], sizeof set);
    if (argument[0] == SIG_BLOCK)
        *mask |= set;
    else if (argument[0] == SIG_UNBLOCK)
        *mask &= ~set;
    else if (argument[0] == SIG_SETMASK)
        *mask = set;
    else
        return -EINVAL;
    *mask &= ~ours;
    return 0;
}

static void trapped(int signal, siginfo_t *about, void *where)
{
    ucontext_t *context = where;
    int before = errno;
    long argument[6], result = -ENOSYS;

    (void)signal;
    for (int i = 0; i < 6; i++)
        argument[i] = (long)ARGUMENT(context, i);
    if (about->si_syscall == SYS_rt_sigprocmask)
        result = block(context, argument);
    else
        for (int i = 0; i < CALLS; i++)
            if (calls[i].number == about->si_syscall)
                result = instead(&calls[i], argument);
    RESULT(context) = result;
    errno = before;
}

static void die(const char *what)
{
    fprintf(stderr, "inject: %s: %s\n", what, strerror(errno));
    _exit(77);
}

static void trap(void)
{
    struct sigaction how = { .sa_sigaction = trapped,
                             .sa_flags = SA_SIGINFO | SA_NODEFER };
    uintptr_t pass = (uintptr_t)&syscall;
    struct sock_filter code[16 + CALLS], *c = code;
    unsigned n;

    /* Calls from libc's syscall() pass, and so do those of another machine. */
    *c++ = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
                                        offsetof(struct seccomp_data, arch));
    *c++ = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K,
                                        (uint32_t)ARCH, 1, 0);
    *c++ = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    *c++ = (struct sock_filter)BPF_STMT(
        BPF_LD | BPF_W | BPF_ABS,
        offsetof(struct seccomp_data, instruction_pointer) + 4);
    *c++ = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K,
                                        (uint32_t)(pass >> 32), 0, 4);
    *c++ = (struct sock_filter)BPF_STMT(
        BPF_LD | BPF_W | BPF_ABS,
        offsetof(struct seccomp_data, instruction_pointer));
    *c++ = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K,
                                        (uint32_t)pass, 0, 2);
    *c++ = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JGT | BPF_K,
                                        (uint32_t)pass + 64, 1, 0);
    *c++ = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    *c++ = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
                                        offsetof(struct seccomp_data, nr));
    for (n = 0; n < CALLS; n++)
        *c++ = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K,
                                            (uint32_t)calls[n].number,
                                            (uint8_t)(CALLS - n + 1), 0);
    *c++ = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K,
                                        SYS_rt_sigprocmask, 1, 0);
    *c++ = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    *c++ = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP);

    if (sigaction(SIGSYS, &how, NULL) != 0)
        die("sigaction");
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER,
              &(struct sock_fprog){ .len = (unsigned short)(c - code),
                                    .filter = code }) != 0)
        die("seccomp");
}

/* --- memory --- */

void *__libc_malloc(size_t);
void *__libc_calloc(size_t, size_t);
void *__libc_realloc(void *, size_t);
void *__libc_memalign(size_t, size_t);

/* True if this allocation fails. */
static bool fails(void)
{
    if (!atomic_load_explicit(&counting, memory_order_relaxed) ||
        decide(MEMORY) == 0)
        return false;
    errno = ENOMEM;
    return true;
}

void *malloc(size_t size)
{
    return fails() ? NULL : __libc_malloc(size);
}

void *calloc(size_t n, size_t size)
{
    return fails() ? NULL : __libc_calloc(n, size);
}

void *realloc(void *old, size_t size)
{
    return fails() ? NULL : __libc_realloc(old, size);
}

void *aligned_alloc(size_t alignment, size_t size)
{
    return fails() ? NULL : __libc_memalign(alignment, size);
}

void *memalign(size_t alignment, size_t size)
{
    return aligned_alloc(alignment, size);
}

int posix_memalign(void **out, size_t alignment, size_t size)
{
    void *got = fails() ? NULL : __libc_memalign(alignment, size);

    if (got)
        *out = got;
    return got ? 0 : ENOMEM;
}

/* --- the start --- */

static uint64_t number_at(const char **at, uint64_t otherwise)
{
    char *end;
    uint64_t n = strtoull(*at, &end, 10);

    if (end == *at) {
        n = otherwise;
        end += *end == '-';
    }
    *at = end + (*end == ':');
    return n;
}

static void prepare(void)
{
    const char *fault = getenv("SEEN_FAULT"), *file;

    file = getenv("SEEN_FAULT_REPORT");
    if (file) {
        int fd = open(file, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

        if (fd < 0 || ftruncate(fd, sizeof *report) != 0)
            die(file);
        report = mmap(NULL, sizeof *report, PROT_READ | PROT_WRITE, MAP_SHARED,
                      fd, 0);
        if (report == MAP_FAILED)
            die(file);
        close(fd);
    }
    for (enum class i = 0; fault && i < CLASSES; i++) {
        size_t len = strlen(names[i]);

        if (strncmp(fault, names[i], len) == 0 && fault[len] == ':') {
            wanted = i;
            fault += len + 1;
            first = number_at(&fault, 1);
            last = number_at(&fault, UINT64_MAX);
            action = strcmp(fault, "short") == 0  ? SHORT
                     : strcmp(fault, "kill") == 0 ? KILL
                     : strcmp(fault, "stop") == 0 ? STOP
                                                  : atoi(fault);
            break;
        }
    }
    backtrace((void *[1]){ NULL }, 1); /* it loads a library at first */
    unsetenv("LD_PRELOAD");
    unsetenv("SEEN_FAULT");
    unsetenv("SEEN_FAULT_REPORT");
    if (wanted != MEMORY || report != &nowhere)
        trap();
}

static int (*program)(int, char **, char **);

static int start(int argc, char **argv, char **environment)
{
    prepare();
    atomic_store(&counting, true);
    return program(argc, argv, environment);
}

int __libc_start_main(int (*main)(int, char **, char **), int argc,
                      char **argv, void (*init)(void), void (*fini)(void),
                      void (*rtld_fini)(void), void *stack);
int __libc_start_main(int (*main)(int, char **, char **), int argc,
                      char **argv, void (*init)(void), void (*fini)(void),
                      void (*rtld_fini)(void), void *stack)
{
    int (*next)(int (*)(int, char **, char **), int, char **, void (*)(void),
                void (*)(void), void (*)(void), void *);

    *(void **)&next = dlsym(RTLD_NEXT, "__libc_start_main");
    program = main;
    return next(start, argc, argv, init, fini, rtld_fini, stack);
}
