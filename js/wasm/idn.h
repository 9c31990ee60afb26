/* idn.h - was a name refused that another version of Unicode may allow? */
#ifndef JS_IDN_H
#define JS_IDN_H

#include <stdbool.h>

/* Set by a lookup that fails; its user clears it. */
extern bool js_name_unsure;

#endif
