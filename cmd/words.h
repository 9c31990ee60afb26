/*
 * words.h - the words of the command line, and passwords among them.
 *
 * What a process was started with is read by everybody who lists processes.
 * So commands get a copy of their words, and the words themselves lose their
 * passwords: in addresses of databases, brokers and filters, and in URLs.
 * Nothing changes for the command: a URL that it is asked about is still the
 * one that was written.
 *
 * Threads: called before threads start.
 */
#ifndef SEEN_CMD_WORDS_H
#define SEEN_CMD_WORDS_H

/* A copy of argv, until the next call; NULL without memory. The passwords of
   argv itself become ***. */
char **words_take(int argc, char **argv);

/*
 * Replace passwords within a word by ***:
 *
 *     postgresql://me:secret@db/x         postgresql://me:***@db/x
 *     postgresql://db/x?password=secret   postgresql://db/x?password=***
 *     --queue=amqp://me:se/cret@mq/       --queue=amqp://me:***@mq/
 *     host=db password=secret user=me     host=db password=*** user=me
 */
void words_mask(char *word);

/* The same in each word of a text for people, which may quote addresses. */
void words_mask_text(char *text);

#endif
