/*
 * pattern_parse.c - the text of a pattern to a tree of parts.
 *
 *     a(b|c)+     BOTH ── a
 *                   └──── BOTH ── GROUP ── EITHER ── b, c
 *                           └──── STAR ─── GROUP ─── EITHER ── b, c  (copied)
 *
 * The grammar is that of glibc with REG_EXTENDED, in the locale of the
 * program, for bytes. Whether a text is a pattern is for regcomp() to say,
 * which has the messages, too; a text that it accepts is understood here as
 * it is there, also where POSIX leaves the meaning open: "a|" may be empty,
 * ")" without "(" is a byte, "{,3}" means "{0,3}", "^*" is refused.
 */
#include "pattern_inside.h"

#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "pattern_set.h"

enum { PARTS = 512, REPEATS = 0x7fff };

/* --- parts --- */

struct pattern_part *pattern_part_new(struct pattern_parts *in,
                                      enum pattern_kind kind,
                                      struct pattern_part *left,
                                      struct pattern_part *right)
{
    struct pattern_part *p, **more;

    if (in->n == in->chunks * PARTS) {
        more = realloc(in->chunk, (in->chunks + 1) * sizeof *more);
        if (!more)
            return NULL;
        in->chunk = more;
        more[in->chunks] = malloc(PARTS * sizeof *p);
        if (!more[in->chunks])
            return NULL;
        in->chunks++;
    }
    p = &in->chunk[in->n / PARTS][in->n % PARTS];
    in->n++;
    *p = (struct pattern_part){ .kind = kind, .left = left, .right = right };
    if (left)
        left->up = p;
    if (right)
        right->up = p;
    return p;
}

void pattern_parts_clear(struct pattern_parts *p)
{
    for (size_t i = 0; i < p->chunks; i++)
        free(p->chunk[i]);
    free(p->chunk);
    free(p->set);
    *p = (struct pattern_parts){ .n = 0 };
}

/* --- tokens --- */

enum token {
    T_BYTE,
    T_ANY,   /* . */
    T_CLASS, /* \w \W \s \S: value */
    T_BRACKET,
    T_OPEN,
    T_CLOSE,
    T_EITHER,
    T_STAR,
    T_PLUS,
    T_MAYBE,
    T_BRACE,
    T_UNBRACE,
    T_ANCHOR, /* around */
    T_REFERENCE,
    T_BROKEN, /* a backslash at the end */
    T_END
};

struct pattern_reader {
    struct pattern_parts *parts;
    const char *at; /* after the token, or NULL: it failed there */
    enum token token;
    unsigned char value;
    uint8_t around, or_around; /* \b and \B are one of two */
    uint32_t byte_set[256];    /* + 1; of those that were needed */
    size_t room;               /* of sets */
    enum pattern_parsed result;
};

static void *fail(struct pattern_reader *r, enum pattern_parsed result)
{
    if (r->result == PATTERN_PARSED)
        r->result = result;
    return NULL;
}

static enum token escaped(struct pattern_reader *r, char c)
{
    static const struct {
        char c;
        uint8_t around, or_around;
    } anchors[] = {
        { '<', AFTER_OTHER | BEFORE_WORD, 0 },
        { '>', AFTER_WORD | BEFORE_OTHER, 0 },
        { 'b', AFTER_OTHER | BEFORE_WORD, AFTER_WORD | BEFORE_OTHER },
        { 'B', AFTER_WORD | BEFORE_WORD, AFTER_OTHER | BEFORE_OTHER },
        { '`', AFTER_TEXT, 0 },
        { '\'', BEFORE_END, 0 },
    };

    for (size_t i = 0; i < sizeof anchors / sizeof *anchors; i++)
        if (anchors[i].c == c) {
            r->around = anchors[i].around;
            r->or_around = anchors[i].or_around;
            return T_ANCHOR;
        }
    if (c >= '1' && c <= '9')
        return T_REFERENCE;
    return strchr("wWsS", c) ? T_CLASS : T_BYTE;
}

static enum token plain(struct pattern_reader *r, char c)
{
    r->around = c == '^' ? AFTER_LINE : BEFORE_LINE;
    r->or_around = 0;
    switch (c) {
    case '.': return T_ANY;
    case '[': return T_BRACKET;
    case '(': return T_OPEN;
    case ')': return T_CLOSE;
    case '|': return T_EITHER;
    case '*': return T_STAR;
    case '+': return T_PLUS;
    case '?': return T_MAYBE;
    case '{': return T_BRACE;
    case '}': return T_UNBRACE;
    case '^':
    case '$': return T_ANCHOR;
    default: return T_BYTE;
    }
}

static void fetch(struct pattern_reader *r)
{
    char c = r->at ? *r->at : '\0';

    if (!c) {
        r->token = T_END;
        return;
    }
    r->at++;
    if (c != '\\') {
        r->token = plain(r, c);
    } else if (!*r->at) {
        r->token = T_BROKEN;
    } else {
        c = *r->at++;
        r->token = escaped(r, c);
    }
    r->value = (unsigned char)c;
}

/* --- parts that take a byte --- */

static struct pattern_part *set_part(struct pattern_reader *r,
                                     const struct pattern_set *s)
{
    struct pattern_parts *in = r->parts;
    struct pattern_set *more = array_grow(in->set, &r->room, in->sets + 1,
                                          sizeof *more);
    struct pattern_part *p = pattern_part_new(in, PATTERN_BYTES, NULL, NULL);

    if (more)
        in->set = more;
    if (!more || !p)
        return fail(r, PATTERN_NO_MEMORY);
    p->number = (uint32_t)in->sets;
    in->set[in->sets++] = *s;
    return p;
}

/* A byte that comes often has one set. */
static struct pattern_part *byte_part(struct pattern_reader *r)
{
    struct pattern_set s = { { 0 } };
    struct pattern_part *p;
    uint32_t *known = &r->byte_set[r->value];

    if (*known) {
        p = pattern_part_new(r->parts, PATTERN_BYTES, NULL, NULL);
        if (!p)
            return fail(r, PATTERN_NO_MEMORY);
        p->number = *known - 1;
        return p;
    }
    pattern_set_add(&s, r->value);
    p = set_part(r, &s);
    if (p)
        *known = p->number + 1;
    return p;
}

/* \w \W \s \S */
static struct pattern_part *class_part(struct pattern_reader *r)
{
    struct pattern_set s = { { 0 } };
    bool word = r->value == 'w' || r->value == 'W';

    pattern_set_class(&s, word ? "alnum" : "space");
    if (word)
        pattern_set_add(&s, '_');
    if (r->value == 'W' || r->value == 'S')
        pattern_set_invert(&s);
    return set_part(r, &s);
}

/* "." is every byte but zero. */
static struct pattern_part *any_part(struct pattern_reader *r)
{
    struct pattern_set s = { { 0 } };

    pattern_set_add(&s, 0);
    pattern_set_invert(&s);
    return set_part(r, &s);
}

static struct pattern_part *bracket_part(struct pattern_reader *r)
{
    struct pattern_set s;

    r->at = pattern_set_read(&s, r->at);
    return r->at ? set_part(r, &s) : fail(r, PATTERN_INVALID);
}

/* --- the tree --- */

static struct pattern_part *either(struct pattern_reader *r, unsigned depth);

/* New with the parts below it; NULL if there is no memory, or too many. */
static struct pattern_part *join(struct pattern_reader *r,
                                 enum pattern_kind kind,
                                 struct pattern_part *left,
                                 struct pattern_part *right)
{
    struct pattern_part *p;

    if (r->parts->n > PATTERN_NODES)
        return fail(r, PATTERN_TOO_MUCH);
    p = pattern_part_new(r->parts, kind, left, right);
    return p ? p : fail(r, PATTERN_NO_MEMORY);
}

static struct pattern_part *copy_one(struct pattern_reader *r,
                                     const struct pattern_part *p)
{
    struct pattern_part *c = join(r, p->kind, NULL, NULL);

    if (c) {
        c->around = p->around;
        c->number = p->number;
        c->copied = true;
    }
    return c;
}

/* Copy a part and all that is below it, without recursion: trees are as deep
   as a pattern is long. */
static struct pattern_part *copy(struct pattern_reader *r,
                                 const struct pattern_part *root)
{
    struct pattern_part *top = copy_one(r, root), *c = top;
    const struct pattern_part *p = root;

    while (c) {
        bool left = p->left && !c->left;
        const struct pattern_part *below = left                    ? p->left
                                           : p->right && !c->right ? p->right
                                                                   : NULL;
        struct pattern_part *one;

        if (!below) {
            if (p == root)
                return top;
            p = p->up;
            c = c->up;
            continue;
        }
        one = copy_one(r, below);
        if (!one)
            return NULL;
        one->up = c;
        *(left ? &c->left : &c->right) = one;
        c = one;
        p = below;
    }
    return NULL;
}

/* The number behind "{" or ","; -1 if there is none, -2 if it is wrong. */
static int number(struct pattern_reader *r)
{
    int n = -1;

    for (;;) {
        fetch(r);
        if (r->token == T_END)
            return -2;
        if (r->token == T_UNBRACE || (r->token == T_BYTE && r->value == ','))
            return n;
        if (r->token != T_BYTE || r->value < '0' || r->value > '9' || n == -2)
            n = -2;
        else
            n = (n < 0 ? 0 : 10 * n) + r->value - '0';
        if (n > REPEATS)
            n = REPEATS + 1;
    }
}

/* "{m,n}"; *most is -1 for no bound. */
static bool interval(struct pattern_reader *r, int *least, int *most)
{
    *least = number(r);
    if (*least == -1 && r->token == T_BYTE)
        *least = 0;
    if (*least < 0)
        return false;
    *most = r->token == T_UNBRACE ? *least : number(r);
    return *most != -2 && r->token == T_UNBRACE && *least <= REPEATS &&
           *most <= REPEATS && (*most == -1 || *least <= *most);
}

/* What is left of "x{m,n}" after the first m: "(x(x)?)?" or "x*". */
static struct pattern_part *maybe(struct pattern_reader *r,
                                  struct pattern_part *part, int least,
                                  int most)
{
    struct pattern_part *tree;

    if (part->kind == PATTERN_GROUP)
        part->optional = true;
    tree = join(r, most < 0 ? PATTERN_STAR : PATTERN_EITHER, part, NULL);
    for (int i = least + 2; tree && i <= most; i++) {
        part = copy(r, part);
        tree = part ? join(r, PATTERN_BOTH, tree, part) : NULL;
        tree = tree ? join(r, PATTERN_EITHER, tree, NULL) : NULL;
    }
    return tree;
}

/* A part with the repetition that is the token. A part that comes zero times
   is NULL, and so may be `part`. */
static struct pattern_part *repeated(struct pattern_reader *r,
                                     struct pattern_part *part)
{
    int least = r->token == T_PLUS, most = r->token == T_MAYBE ? 1 : -1;
    struct pattern_part *begin = part, *rest;

    if (r->token == T_BRACE && !interval(r, &least, &most))
        return fail(r, PATTERN_INVALID);
    fetch(r);
    if (!part || !most)
        return NULL;
    for (int i = 2; begin && i <= least; i++) {
        part = copy(r, part);
        begin = part ? join(r, PATTERN_BOTH, begin, part) : NULL;
    }
    if (!begin || least == most)
        return begin;
    if (least)
        part = copy(r, part);
    rest = part ? maybe(r, part, least, most) : NULL;
    if (!rest || !least)
        return rest;
    return join(r, PATTERN_BOTH, begin, rest);
}

static struct pattern_part *anchor(struct pattern_reader *r)
{
    struct pattern_part *p = join(r, PATTERN_ANCHOR, NULL, NULL), *other;

    if (!p)
        return NULL;
    p->around = r->around;
    if (!r->or_around)
        return p;
    other = join(r, PATTERN_ANCHOR, NULL, NULL);
    if (!other)
        return NULL;
    other->around = r->or_around;
    return join(r, PATTERN_EITHER, p, other);
}

static struct pattern_part *group(struct pattern_reader *r, unsigned depth)
{
    size_t number = r->parts->groups++;
    struct pattern_part *p = NULL;

    fetch(r);
    if (r->token != T_CLOSE) {
        p = either(r, depth + 1);
        if (r->token != T_CLOSE)
            fail(r, PATTERN_INVALID);
    }
    if (r->result != PATTERN_PARSED)
        return NULL;
    p = join(r, PATTERN_GROUP, p, NULL);
    if (p)
        p->number = (uint32_t)number;
    return p;
}

/* A part with its repetitions; NULL, too, if it is empty. */
static struct pattern_part *piece(struct pattern_reader *r, unsigned depth)
{
    struct pattern_part *p = NULL;

    switch (r->token) {
    case T_END:
    case T_EITHER: return NULL;
    case T_STAR:
    case T_PLUS:
    case T_MAYBE:
    case T_BRACE:
    case T_BROKEN: return fail(r, PATTERN_INVALID);
    case T_REFERENCE: return fail(r, PATTERN_REFERENCE);
    case T_ANCHOR:
        p = anchor(r);
        fetch(r);
        return p;
    case T_BYTE:
    case T_CLOSE:
    case T_UNBRACE: p = byte_part(r); break;
    case T_ANY: p = any_part(r); break;
    case T_CLASS: p = class_part(r); break;
    case T_BRACKET: p = bracket_part(r); break;
    case T_OPEN: p = group(r, depth); break;
    }
    fetch(r);
    while (r->result == PATTERN_PARSED &&
           (r->token == T_STAR || r->token == T_PLUS || r->token == T_MAYBE ||
            r->token == T_BRACE))
        p = repeated(r, p);
    return p;
}

static bool ends(const struct pattern_reader *r, unsigned depth)
{
    return r->token == T_END || r->token == T_EITHER ||
           (depth && r->token == T_CLOSE);
}

static struct pattern_part *branch(struct pattern_reader *r, unsigned depth)
{
    struct pattern_part *tree = piece(r, depth), *next;

    while (r->result == PATTERN_PARSED && !ends(r, depth)) {
        next = piece(r, depth);
        if (tree && next)
            tree = join(r, PATTERN_BOTH, tree, next);
        else if (next)
            tree = next;
    }
    return tree;
}

/* NULL without a failure: it is empty. */
static struct pattern_part *either(struct pattern_reader *r, unsigned depth)
{
    struct pattern_part *tree = branch(r, depth), *next;

    while (r->result == PATTERN_PARSED && r->token == T_EITHER) {
        fetch(r);
        next = ends(r, depth) ? NULL : branch(r, depth);
        if (r->result == PATTERN_PARSED)
            tree = join(r, PATTERN_EITHER, tree, next);
    }
    return tree;
}

enum pattern_parsed pattern_parse(struct pattern_parts *to,
                                  const char *const *text, size_t n)
{
    struct pattern_reader r = { .parts = to };
    struct pattern_part *tree = NULL, *next, *end;

    *to = (struct pattern_parts){ .n = 0 };
    r.result = PATTERN_PARSED;
    for (size_t i = 0; i < n && r.result == PATTERN_PARSED; i++) {
        r.at = text[i];
        fetch(&r);
        next = either(&r, 0);
        if (r.result == PATTERN_PARSED)
            tree = i ? join(&r, PATTERN_EITHER, tree, next) : next;
    }
    end = r.result == PATTERN_PARSED ? join(&r, PATTERN_FINISH, NULL, NULL)
                                     : NULL;
    if (end)
        to->root = tree ? join(&r, PATTERN_BOTH, tree, end) : end;
    return r.result;
}
