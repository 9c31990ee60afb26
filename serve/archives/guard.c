/* guard.c - an empty page in place of SIGBUS. */
#include "guard.h"

#include <signal.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

static __thread volatile sig_atomic_t guarded, fell;

/* Map an empty page where the file has none any more, and remember it. */
static void on_bus(int signal, siginfo_t *it, void *unused)
{
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    void *at = (void *)((uintptr_t)it->si_addr & ~(page - 1));

    (void)unused;
    if (!guarded ||
        mmap(at, page, PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED) {
        struct sigaction none = { .sa_handler = SIG_DFL };

        sigaction(signal, &none, NULL); /* our own mistake: crash */
        return;
    }
    fell = 1;
}

void guard_install(void)
{
    struct sigaction act = { .sa_sigaction = on_bus, .sa_flags = SA_SIGINFO };

    sigaction(SIGBUS, &act, NULL);
}

void guard_begin(void)
{
    fell = 0;
    guarded = 1;
}

bool guard_end(void)
{
    guarded = 0;
    return fell;
}
