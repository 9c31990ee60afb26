/* store.h - the store of a crawl in a folder: see engine/store.h. */
#ifndef SEEN_CRAWL_FOLDER_STORE_H
#define SEEN_CRAWL_FOLDER_STORE_H

#include "../engine/store.h"

extern const struct crawl_store crawl_folder_store;

#endif
