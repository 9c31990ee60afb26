/*
 * cost.h - how expensive a question may be: the default of --cost, for serve
 * and harvest.
 *
 * The unit is that of seen_filter_cost(), about 10 ns. A filter for ordinary
 * use costs 1 to some hundreds. A million are 10 ms per URL.
 */
#ifndef SEEN_CMD_COST_H
#define SEEN_CMD_COST_H

enum { COST_DEFAULT = 1000000 };

#endif
