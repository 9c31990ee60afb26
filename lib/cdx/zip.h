/*
 * zip.h - where the members of a zip file are.
 *
 * A WACZ is a zip file of an archive's index and its WARC files:
 *
 *     indexes/index.cdx.gz, index.cdx, *.cdxj    what is read, if it is there
 *     archive/data.warc.gz ...                   what is read otherwise
 *     pages/, datapackage.json                   not needed here
 *
 * Members are mostly stored, that is they stand in the zip file as they are,
 * and are read from there; some are deflated.
 */
#ifndef SEEN_CDX_ZIP_H
#define SEEN_CDX_ZIP_H

#include <seen/error.h>
#include <seen/span.h>

#include "stream.h"

struct cdx_zip {
    char *directory; /* as it stands in the file */
    size_t len, at;
    uint64_t size; /* bytes of the whole file */
};

struct cdx_member {
    struct seen_span name; /* lives as long as the zip */
    enum cdx_packing packing; /* CDX_PLAIN or CDX_DEFLATE */
    uint64_t at, end;      /* its bytes in the file */
    uint32_t crc;
    const char *fault;     /* why it cannot be read; or NULL */
};

/* Read the directory of a zip file of `size` bytes: SEEN_IO, SEEN_NOMEM, or
   SEEN_CORRUPT if it has none. */
enum seen_code cdx_zip_open(struct cdx_zip *zip, int fd, uint64_t size,
                            struct seen_error *why);

/*
 * The next member that is not a folder and not empty; its fault is set if it
 * cannot be read. False at the end, or if the directory is damaged: then
 * cdx_zip_damaged() is true.
 */
bool cdx_zip_next(struct cdx_zip *zip, int fd, struct cdx_member *member);
bool cdx_zip_damaged(const struct cdx_zip *zip);
void cdx_zip_close(struct cdx_zip *zip);

#endif
