/*
 * suffix.c - what does the name of a file say that it is?
 *
 * The bytes decide what a file is read as; its name decides only whether it is
 * missed. A file of a folder that is not recognised may be an archive's file
 * that is damaged or of an unknown kind, and its URLs would be "new". Only if
 * its name says that it is something else can it be left out as if it were not
 * there. So this is a list of other things that lie beside archives, not of
 * the names that archives use. Names of text that may be a list of URLs
 * (urls.txt, urls.csv) are not in it: a list in UTF-16 is missed.
 */
#include "source.h"

#include <string.h>

#include "../text/span.h"

static const char *const packings[] = { "gz", "zst", "bz2", "xz", "br" };

static const char *const others[] = {
    /* documents */
    "htm", "html", "xhtml", "shtml", "xml", "xsl", "rss", "atom", "css", "js",
    "mjs", "md", "rst", "tex", "pdf", "ps", "rtf", "doc", "docx", "xls",
    "xlsx", "ppt", "pptx", "odt", "ods", "odp", "epub",
    /* pictures, sound, fonts */
    "png", "jpg", "jpeg", "gif", "svg", "webp", "avif", "ico", "bmp", "tif",
    "tiff", "psd", "mp3", "ogg", "oga", "wav", "flac", "mp4", "m4a", "m4v",
    "ogv", "webm", "avi", "mov", "mkv", "woff", "woff2", "ttf", "otf", "eot",
    /* programs, packages */
    "o", "a", "so", "exe", "dll", "class", "jar", "py", "pyc", "sh", "deb",
    "rpm", "apk", "iso", "zip", "tar", "tgz", "rar",
    /* tables, databases and what SQLite has beside them */
    "parquet", "avro", "orc", "db", "db-wal", "db-shm", "db-journal", "sqlite",
    "sqlite3", "sqlite-wal", "sqlite-shm",
    /* a filter: also crawl.seen.journal */
    "seen"
};

static bool listed(const char *const *word, size_t n, struct seen_span suffix)
{
    for (size_t i = 0; i < n; i++)
        if (span_like(suffix, word[i]))
            return true;
    return false;
}

/* Take the last suffix off a name; a name that begins with a dot is one. */
static bool take_suffix(struct seen_span *name, struct seen_span *suffix)
{
    const char *dot = name->len ? memrchr(name->text + 1, '.', name->len - 1)
                                : NULL;

    if (!dot)
        return false;
    suffix->text = dot + 1;
    suffix->len = name->len - (size_t)(dot + 1 - name->text);
    name->len = (size_t)(dot - name->text);
    return true;
}

bool cdx_named_otherwise(const char *path)
{
    const char *slash = strrchr(path, '/');
    struct seen_span name = span_of(slash ? slash + 1 : path), suffix;

    if (!take_suffix(&name, &suffix))
        return false;
    if (listed(packings, sizeof packings / sizeof *packings, suffix) &&
        !take_suffix(&name, &suffix))
        return false;
    if (listed(others, sizeof others / sizeof *others, suffix))
        return true;
    return take_suffix(&name, &suffix) && span_is(suffix, "seen");
}
