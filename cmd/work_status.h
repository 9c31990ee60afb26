/* work_status.h - seen work status: workers, visits, hosts, what is stuck. */
#ifndef SEEN_CMD_WORK_STATUS_H
#define SEEN_CMD_WORK_STATUS_H

#include "command.h"

/* Of a frontier, or of the folder of a crawl. */
enum outcome cmd_work_status(const char *where, bool json);

#endif
