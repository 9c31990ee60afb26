/*
 * digest.c - SHA-256, by OpenSSL, which uses the CPU's instructions for it if
 * there are any.
 */
#include "sha256.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include <openssl/crypto.h>
#include <openssl/evp.h>

enum { PIECE = 256 << 10 }; /* stays in the cache until it is hashed */

/* Without memory for OpenSSL's own state, which is made at the first call and
   never again, its functions would crash: so it is looked for each time. */
bool sha256_init(struct sha256 *d)
{
    EVP_MD_CTX *state = OSSL_LIB_CTX_get0_global_default() ? EVP_MD_CTX_new()
                                                           : NULL;

    if (state && !EVP_DigestInit_ex(state, EVP_sha256(), NULL)) {
        EVP_MD_CTX_free(state);
        state = NULL;
    }
    d->state = state;
    return state;
}

void sha256_add(struct sha256 *d, const void *bytes, size_t len)
{
    if (d->state && !EVP_DigestUpdate(d->state, bytes, len))
        sha256_clear(d);
}

bool sha256_end(struct sha256 *d, unsigned char sum[SEEN_DIGEST])
{
    return d->state && EVP_DigestFinal_ex(d->state, sum, NULL);
}

void sha256_clear(struct sha256 *d)
{
    EVP_MD_CTX_free(d->state);
    d->state = NULL;
}

/* Read until the end; an interrupted read is repeated. */
static enum seen_code digest_rest(struct sha256 *d, int fd, uint64_t *length,
                                  struct seen_error *why)
{
    unsigned char *piece = malloc(PIECE);
    enum seen_code code = SEEN_OK;
    ssize_t n = piece ? 1 : 0;

    if (!piece)
        code = seen_fail(why, SEEN_NOMEM, 0, "no memory for a digest");
    while (n > 0 || (n < 0 && errno == EINTR)) {
        n = read(fd, piece, PIECE);
        if (n > 0) {
            sha256_add(d, piece, (size_t)n);
            *length += (uint64_t)n;
        }
    }
    if (n < 0)
        code = seen_fail(why, SEEN_IO, *length, "cannot be read");
    free(piece);
    return code;
}

enum seen_code seen_digest_file(const char *path,
                                unsigned char digest[SEEN_DIGEST],
                                uint64_t *length, struct seen_error *why)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC), system;
    struct sha256 d = { .state = NULL };
    uint64_t bytes = 0;
    enum seen_code code;

    if (fd < 0)
        return seen_fail(why, SEEN_IO, 0, "cannot be opened");
    posix_fadvise(fd, 0, 0, POSIX_FADV_SEQUENTIAL);
    if (!sha256_init(&d))
        code = seen_fail(why, SEEN_NOMEM, 0, "no memory for a digest");
    else
        code = digest_rest(&d, fd, &bytes, why);
    if (code == SEEN_OK && !sha256_end(&d, digest))
        code = seen_fail(why, SEEN_NOMEM, 0, "no memory for a digest");
    if (code == SEEN_OK && length)
        *length = bytes;
    system = errno;
    sha256_clear(&d);
    close(fd);
    errno = system;
    return code;
}
