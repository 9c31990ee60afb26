/*
 * resolve.h - what it costs to make a reference absolute: budget.h.
 *
 * Mostly a byte takes some nanoseconds. But a name with letters outside ASCII
 * is mapped, normalised and encoded by libidn2, label by label: 170 to 430 ns
 * per byte, measured, so that a page with 20,000 such links takes half a
 * second for nothing else.
 *
 *     if (!budget_spend(budget, web_resolve_steps(ref, base)))
 *         return;
 *     seen_url_whatwg(&url, &len, room, ref.text, ref.len, ...);
 */
#ifndef SEEN_WEB_RESOLVE_H
#define SEEN_WEB_RESOLVE_H

#include <stdint.h>

#include <seen/span.h>

uint64_t web_resolve_steps(struct seen_span ref, struct seen_span base);

#endif
