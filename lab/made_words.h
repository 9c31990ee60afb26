/* made_words.h - what made-up URLs are made of: for made.c, and for the test
   that reads the number of a URL back from its text. */
#ifndef SEEN_LAB_MADE_WORDS_H
#define SEEN_LAB_MADE_WORDS_H

#include "made.h"

enum {
    NUMBER_BITS = 48,
    HOST_BITS = 23,
    YEARS = 24,
    LONGEST = 8, /* of the words */
    COUNT_FROM = 1024
};
static const uint64_t NUMBER_MASK = (UINT64_C(1) << NUMBER_BITS) - 1;
static const uint64_t HOST_MASK = (UINT64_C(1) << HOST_BITS) - 1;

static const char word[256][LONGEST + 1] = {
    "air",      "alpine",   "angel",    "apple",    "arena",    "atlas",
    "august",   "avenue",   "baker",    "balance",  "ballet",   "banana",
    "bank",     "basket",   "beach",    "bear",     "bell",     "bicycle",
    "birch",    "blue",     "board",    "boat",     "book",     "border",
    "brave",    "bread",    "bridge",   "bright",   "bronze",   "brook",
    "brown",    "bud",      "bulb",     "butter",   "cabin",    "cable",
    "cactus",   "camera",   "candle",   "captain",  "carbon",   "castle",
    "cedar",    "chalk",    "chapel",   "cherry",   "choir",    "cider",
    "cinema",   "city",     "clay",     "cliff",    "clock",    "cloud",
    "coast",    "cobalt",   "comet",    "copper",   "coral",    "corner",
    "cotton",   "culture",  "cycle",    "dawn",     "delta",    "desert",
    "diary",    "dragon",   "eagle",    "earth",    "east",     "echo",
    "eclipse",  "ember",    "engine",   "event",    "fabric",   "family",
    "farm",     "fern",     "festival", "field",    "finch",    "fire",
    "fjord",    "flame",    "flora",    "forest",   "fountain", "fox",
    "frost",    "fruit",    "galaxy",   "gallery",  "gentle",   "ginger",
    "globe",    "gold",     "grain",    "green",    "guide",    "guitar",
    "harbor",   "harvest",  "hazel",    "health",   "hill",     "history",
    "holiday",  "honey",    "horse",    "hotel",    "iceberg",  "indigo",
    "iron",     "ivory",    "jade",     "journal",  "journey",  "jungle",
    "juniper",  "kayak",    "kettle",   "kingdom",  "knight",   "ladder",
    "lagoon",   "language", "lantern",  "laurel",   "leaf",     "legend",
    "lemon",    "letter",   "light",    "lion",     "local",    "lunar",
    "magic",    "maple",    "market",   "melody",   "mercury",  "metro",
    "mint",     "mirror",   "mobile",   "modern",   "moon",     "morning",
    "mountain", "music",    "nature",   "needle",   "network",  "north",
    "notes",    "novel",    "oak",      "ocean",    "olive",    "opera",
    "orange",   "orchard",  "orchid",   "otter",    "paper",    "pearl",
    "pebble",   "pepper",   "photo",    "piano",    "picture",  "pilot",
    "pine",     "planet",   "polar",    "press",    "prism",    "project",
    "purple",   "quartz",   "quest",    "quiet",    "rabbit",   "radio",
    "rain",     "raven",    "record",   "red",      "reef",     "report",
    "review",   "ribbon",   "river",    "robin",    "rocket",   "rose",
    "ruby",     "saddle",   "saffron",  "sailor",   "salmon",   "sand",
    "saturn",   "season",   "shadow",   "shore",    "simple",   "snow",
    "solar",    "song",     "south",    "spring",   "square",   "stone",
    "story",    "studio",   "sun",      "swan",     "table",    "tea",
    "temple",   "theater",  "thunder",  "tiger",    "timber",   "trail",
    "travel",   "tree",     "tulip",    "umbrella", "union",    "unique",
    "valley",   "vanilla",  "velvet",   "video",    "violet",   "violin",
    "volcano",  "voyage",   "water",    "wave",     "weather",  "west",
    "wheat",    "whisper",  "willow",   "wind",     "winter",   "wonder",
    "world",    "yellow",   "zebra",    "zenith",
};
static const char section[SECTIONS][LONGEST + 1] = {
    "news",   "articles", "archive", "blog",   "people", "projects",
    "events", "products", "forum",   "topics", "media",  "research",
    "sport",  "docs",     "shop",    "wiki",
};
static const char *const top[8] = { "com", "org", "net", "hr",
                                    "de",  "fr",  "at",  "info" };
static const char *const suffix[8] = {
    "", "24", "-online", "-info", "-press", "lab", "hub", "-archive"
};

/*
 * S a section, W a word, Y M D a date, N the rest as a number, B the rest in
 * base 36; all else stands for itself. N or B is last.
 */
static const char *const layout[8] = {
    "/S/W-W-N.html",      "/Y/M/D/W-W-N",           "/S/W/W/N",
    "/article?of=W&id=N", "/S/Y/W-W-W-N.html",      "/W/search?q=W+W&page=N",
    "/~W/W/W_N.html",     "/S/W/Y/M/report-B.html",
};

/* Bits of the number of a host, by its size. */
static const unsigned size_bits[8] = { 4, 7, 10, 12, 14, 17, 20, 22 };

static const uint64_t odd[3] = { UINT64_C(0x9e3779b97f4b),
                                 UINT64_C(0xbf58476d1ce5),
                                 UINT64_C(0x94d049bb1333) };

#endif
