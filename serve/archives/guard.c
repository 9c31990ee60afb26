/* guard.c - note in which thread a page was lost. */
#include "guard.h"

#include <signal.h>

#include <seen/store.h>

static __thread volatile sig_atomic_t fell;

static void on_bus(int signal, siginfo_t *it, void *unused)
{
    const struct sigaction none = { .sa_handler = SIG_DFL };

    (void)unused;
    if (it->si_code > 0 && seen_store_fault(it->si_addr)) {
        fell = 1;
        return;
    }
    sigaction(signal, &none, NULL); /* our own mistake: crash */
    if (it->si_code <= 0)
        raise(signal);
}

void guard_install(void)
{
    struct sigaction act = { .sa_sigaction = on_bus, .sa_flags = SA_SIGINFO };

    sigaction(SIGBUS, &act, NULL);
}

void guard_begin(void)
{
    fell = 0;
}

bool guard_end(void)
{
    return fell;
}
