/*
 * text_form.h - the rows of the text form; doc/format.md specifies them.
 *
 *     seen,1                       the form and its version
 *     checksum,sha-256:5feceb...   of all other lines
 *     hashing,1                    how keys become cells
 *     applied,17                   if not 0: changes that the file has had
 *     cells,1268992                how many bytes follow
 *     kind,blocked                 the text of store.h, counts and metadata
 *     ...
 *     at,base64                    of a name that no metadata can have
 *     0,AAEC...                    192 bytes a line, unless all are zero
 *     192,...
 *
 * The checksum is that of the text, not of the cells: a claim of a terabyte
 * of zeros costs no more than its few lines to refuse, and `sed 2d haw.csv |
 * sha256sum` is all it takes to verify.
 */
#ifndef SEEN_SHARE_TEXT_FORM_H
#define SEEN_SHARE_TEXT_FORM_H

#include <seen/share.h>

enum {
    TEXT_FORM = 1, /* the version */
    ROW = 192,     /* bytes, which are 256 letters: no '=' before the last */
    LINE_MOST = 512 << 10 /* letters: metadata with every byte a quote */
};

#define TEXT_SUM "sha-256:"

#endif
