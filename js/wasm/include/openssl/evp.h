/* evp.h - of OpenSSL's functions those that lib/share calls for SHA-256. */
#ifndef JS_EVP_H
#define JS_EVP_H

#include <stdbool.h>
#include <stddef.h>

typedef struct js_sha256 EVP_MD_CTX;

EVP_MD_CTX *EVP_MD_CTX_new(void);
void EVP_MD_CTX_free(EVP_MD_CTX *d);
const void *EVP_sha256(void);
int EVP_DigestInit_ex(EVP_MD_CTX *d, const void *what, void *engine);
int EVP_DigestUpdate(EVP_MD_CTX *d, const void *bytes, size_t len);
int EVP_DigestFinal_ex(EVP_MD_CTX *d, unsigned char *sum, unsigned *len);
bool OSSL_LIB_CTX_get0_global_default(void);

#endif
