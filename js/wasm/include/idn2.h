/* idn2.h - of libidn2's functions those that lib/url calls, with its numbers;
   js/wasm/idn2.c gives the work to the host's class URL. */
#ifndef JS_IDN2_H
#define JS_IDN2_H

#include <stdint.h>

enum {
    IDN2_NFC_INPUT = 1,
    IDN2_TRANSITIONAL = 4,
    IDN2_NONTRANSITIONAL = 8,
    IDN2_OK = 0,
    IDN2_MALLOC = -100,
    IDN2_ENCODING_ERROR = -200,
    IDN2_PUNYCODE_BAD_INPUT = -202,
    IDN2_PUNYCODE_BIG_OUTPUT = -203,
    IDN2_2HYPHEN = -301,
    IDN2_HYPHEN_STARTEND = -302,
    IDN2_LEADING_COMBINING = -303,
    IDN2_DISALLOWED = -304,
    IDN2_CONTEXTJ = -305,
    IDN2_ALABEL_ROUNDTRIP_FAILED = -314
};

int idn2_lookup_u8(const uint8_t *label, uint8_t **name, int flags);
int idn2_to_unicode_8z4z(const char *name, uint32_t **text, int flags);
void idn2_free(void *name);

#endif
