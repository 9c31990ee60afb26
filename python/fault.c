/*
 * fault.c - a file that is cut short raises IOFailure instead of ending Python.
 *
 * SIGBUS belongs to the whole interpreter. So the handler takes only faults in
 * the mapped files of filters, and passes all others on to the one that was
 * there before: faulthandler's, which prints a traceback, or none, which ends
 * the process. One that is installed later takes SIGBUS away from us, as
 * faulthandler.enable() does; therefore every filter that is opened looks
 * again.
 */
#include "binding.h"

#include <signal.h>

#include <seen/store.h>

static struct sigaction before; /* of the handler that was there */
static volatile sig_atomic_t passed;

/*
 * Give SIGBUS back: a fault happens again, and what was sent is sent again.
 * Handlers that end the process do that by going back to the one before them,
 * which may be ours again: then the process ends.
 */
static void pass_on(int signal, const siginfo_t *it)
{
    const struct sigaction none = { .sa_handler = SIG_DFL };

    sigaction(signal, passed ? &none : &before, NULL);
    passed = 1;
    if (it->si_code <= 0)
        raise(signal);
}

static void on_bus(int signal, siginfo_t *it, void *unused)
{
    (void)unused;
    if (it->si_code <= 0 || !seen_store_fault(it->si_addr))
        pass_on(signal, it);
}

void python_take_faults(void)
{
    struct sigaction now,
        ours = { .sa_sigaction = on_bus, .sa_flags = SA_SIGINFO | SA_ONSTACK };

    if (sigaction(SIGBUS, NULL, &now) ||
        (now.sa_flags & SA_SIGINFO && now.sa_sigaction == on_bus))
        return;
    before = now;
    passed = 0;
    sigaction(SIGBUS, &ours, NULL);
}
