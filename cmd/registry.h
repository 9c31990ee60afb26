/*
 * registry.h - seen publish --registry: an overview of hosts and locations.
 */
#ifndef SEEN_CMD_REGISTRY_H
#define SEEN_CMD_REGISTRY_H

#include "command.h"

/*
 * Write registry.html and registry.txt into a folder: the places that the
 * files in `lists` name (NULL ends them), those that filters of the folder
 * were harvested from, and the folder itself, if it was published.
 */
enum outcome cmd_registry_write(const char *folder, char **lists, bool dry,
                                bool json, bool quiet);

#endif
