/* classifier.c - the paper's rule or ours, by one call. */
#include "aggregation.h"

void aggregation_classify(struct aggregation_classifier *c,
                          const struct change_record *r, size_t n,
                          enum change_class *class)
{
    struct seen_error why;

    if (c->paper) {
        for (size_t i = 0; i < n; i++)
            lab_must(
                change_published_classify(c->paper, &r[i], &class[i], &why),
                &why);
        return;
    }
    lab_must(change_classify(c->state, r, n, &c->answers, &why), &why);
    for (size_t i = 0; i < n; i++)
        class[i] = c->answers.answer[i].class;
}

void aggregation_close(struct aggregation_classifier *c)
{
    struct seen_error why;

    if (c->paper)
        lab_must(change_published_close(c->paper, &why), &why);
    else
        lab_must(change_state_close(c->state, &why), &why);
    change_answers_clear(&c->answers);
}
