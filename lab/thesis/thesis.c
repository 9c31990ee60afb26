/* thesis.c - sizes and numbers of the text. */
#include "thesis.h"

#include "../paper_table.h"
#include "../urls.h"

uint64_t thesis_n(const struct lab *lab, uint64_t quick, uint64_t usual,
                  uint64_t full)
{
    uint64_t n = lab_fit(lab, lab_n(lab, quick, usual, full), 2);

    if (n < 100)
        lab_fail("%s URLs are too few to see anything: give 200 or more",
                 lab_count(2 * (double)n));
    return n;
}

void thesis_sizes(const struct lab *lab, struct section *s, uint64_t n,
                  unsigned runs)
{
    bool again = urls_count(lab->urls) / 2 / n < runs;

    section_text(s,
                 "Here: n = %s URLs, %u run%s with seeds%s of %s own%s. The "
                 "thesis: n = %s, %.0f runs.",
                 lab_count((double)n), runs, runs == 1 ? "" : "s",
                 again ? "" : " and URLs", runs == 1 ? "its" : "their",
                 again ? ", over the same list again and again" : "",
                 lab_count(thesis_says("urls")), thesis_says("runs"));
}

double thesis_says(const char *name)
{
    return paper_value(paper_table("thesis-text"), name);
}
