/* pthread.h - WebAssembly has one thread here: locks are always free. */
#ifndef JS_PTHREAD_H
#define JS_PTHREAD_H

#include <sys/types.h>

static inline int pthread_mutex_init(pthread_mutex_t *m, const void *how)
{
    (void)m, (void)how;
    return 0;
}

static inline int pthread_mutex_destroy(pthread_mutex_t *m)
{
    (void)m;
    return 0;
}

static inline int pthread_mutex_lock(pthread_mutex_t *m)
{
    (void)m;
    return 0;
}

static inline int pthread_mutex_unlock(pthread_mutex_t *m)
{
    (void)m;
    return 0;
}

#endif
