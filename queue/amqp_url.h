/*
 * amqp_url.h - where a RabbitMQ server is, and how to log in there.
 *
 *     amqp[s]://[USER[:PASSWORD]@]HOST[:PORT][/VHOST][?SETTING=VALUE&...]
 *
 * All parts may hold bytes as %XX; a HOST that is an IPv6 address stands in
 * brackets. Without a VHOST it is "/", and without a USER it is guest.
 *
 *     password-file=FILE  its first line is the password
 *     cacert=FILE         CA certificates in PEM; otherwise those of the system
 *     cert=FILE, key=FILE the certificate of this client, in PEM
 *     verify=full         certificate and host name are checked: the default
 *     verify=peer         the certificate is, the host name is not
 *     verify=none         neither is: encrypted, but to anybody
 *     queues=A,B          names for `seen queue stats`, since the protocol cannot
 *                         list queues
 *
 * A password that is neither in the URL nor in a file is taken from the
 * environment: SEEN_AMQP_PASSWORD. No message repeats a password.
 *
 *     struct queue_amqp_address to;
 *
 *     if (queue_amqp_parse(&to, "amqps://seen@mq.example/jobs", &why) == SEEN_OK)
 *         connect(to.host, to.port);
 *     queue_amqp_forget(&to);
 *
 * Threads: plain functions of their arguments and of the environment.
 */
#ifndef SEEN_QUEUE_AMQP_URL_H
#define SEEN_QUEUE_AMQP_URL_H

#include <stdbool.h>

#include <seen/error.h>

enum queue_amqp_verify {
    QUEUE_VERIFY_FULL,
    QUEUE_VERIFY_PEER,
    QUEUE_VERIFY_NONE
};

struct queue_amqp_address {
    bool tls;
    unsigned port;
    enum queue_amqp_verify verify;
    char *host; /* without brackets */
    char *user, *password, *vhost;
    char *cacert, *cert, *key, *queues; /* or NULL */
    char *name; /* "RabbitMQ at mq.example:5671/jobs" */
};

/* Read an address; the password file, too. SEEN_RANGE if it is not valid,
   SEEN_IO if the file cannot be read; *to is cleared then. */
enum seen_code queue_amqp_parse(struct queue_amqp_address *to, const char *url,
                                struct seen_error *why);

/* Free what it holds and overwrite the password. */
void queue_amqp_forget(struct queue_amqp_address *to);

#endif
