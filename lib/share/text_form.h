/*
 * text_form.h - the rows of the text form; doc/format.md specifies them.
 *
 *     seen,1                       the form and its version
 *     checksum,sha-256:5feceb...   of all other lines
 *     hashing,1                    how keys become cells
 *     applied,17                   if not 0: changes that the file has had
 *     cells,1268992                how many bytes follow
 *     kind,blocked                 plan, counts and metadata
 *     ...
 *     at,base64                    a name that metadata cannot have
 *     0,AAEC...                    192 bytes per line, unless all are zero
 *     192,...
 *
 * The checksum is that of the text, not of the cells: refusing a text that
 * claims a terabyte of zeros costs no more than its few lines, and `sed 2d
 * haw.csv | sha256sum` verifies it.
 */
#ifndef SEEN_SHARE_TEXT_FORM_H
#define SEEN_SHARE_TEXT_FORM_H

#include <seen/share.h>

enum {
    TEXT_FORM = 1, /* the version */
    ROW = 192,     /* bytes, 256 letters: no '=' before the last row */
    LINE_MOST = 512 << 10 /* letters: metadata of quotes only */
};

#define TEXT_SUM "sha-256:"

#endif
