/*
 * amqp_tls.c - TLS for connections to RabbitMQ.
 *
 * librabbitmq compares host names itself and knows no addresses in
 * certificates; OpenSSL does both, so it gets the name and the check happens
 * within the handshake. No password is sent to a server that was not checked.
 */
#include "amqp_link.h"

#include <arpa/inet.h>
#include <amqp_ssl_socket.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

/* Keep the reason, which librabbitmq does not pass on. */
static int keep_result(int good, X509_STORE_CTX *store)
{
    SSL *ssl = X509_STORE_CTX_get_ex_data(
        store, SSL_get_ex_data_X509_STORE_CTX_idx());
    int *result = ssl ? SSL_CTX_get_app_data(SSL_get_SSL_CTX(ssl)) : NULL;

    if (!good && result)
        *result = X509_STORE_CTX_get_error(store);
    return good;
}

static bool is_address(const char *host)
{
    unsigned char bytes[sizeof(struct in6_addr)];

    return inet_pton(AF_INET, host, bytes) == 1 ||
           inet_pton(AF_INET6, host, bytes) == 1;
}

static bool expect_host(SSL_CTX *ctx, const char *host)
{
    X509_VERIFY_PARAM *param = SSL_CTX_get0_param(ctx);

    if (is_address(host))
        return X509_VERIFY_PARAM_set1_ip_asc(param, host) == 1;
    X509_VERIFY_PARAM_set_hostflags(param,
                                    X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
    return X509_VERIFY_PARAM_set1_host(param, host, 0) == 1;
}

amqp_socket_t *queue_amqp_tls(amqp_connection_state_t state,
                              const struct queue_amqp_address *to, int *result,
                              struct seen_error *why)
{
    amqp_socket_t *socket = amqp_ssl_socket_new(state);
    SSL_CTX *ctx = socket ? amqp_ssl_socket_get_context(socket) : NULL;

    *result = X509_V_OK;
    if (!ctx) {
        seen_fail(why, SEEN_NOMEM, 0, "no memory for TLS");
        return NULL;
    }
    amqp_ssl_socket_set_verify_peer(socket, to->verify != QUEUE_VERIFY_NONE);
    amqp_ssl_socket_set_verify_hostname(socket, 0); /* done by OpenSSL */
    SSL_CTX_set_min_proto_version(ctx, TLS1_2_VERSION);
    SSL_CTX_set_app_data(ctx, result);
    if (to->verify != QUEUE_VERIFY_NONE) {
        SSL_CTX_set_verify(ctx, SSL_VERIFY_PEER, keep_result);
        if (to->cacert
                ? SSL_CTX_load_verify_locations(ctx, to->cacert, NULL) != 1
                : SSL_CTX_set_default_verify_paths(ctx) != 1) {
            seen_fail(why, SEEN_UNABLE, 0, "%.90s: not CA certificates in PEM",
                      to->cacert ? to->cacert : "the system's store");
            return NULL;
        }
    }
    if (to->verify == QUEUE_VERIFY_FULL && !expect_host(ctx, to->host)) {
        seen_fail(why, SEEN_RANGE, 0, "%.90s: not a host name for TLS",
                  to->host);
        return NULL;
    }
    if (to->cert &&
        amqp_ssl_socket_set_key(socket, to->cert, to->key) != AMQP_STATUS_OK) {
        seen_fail(why, SEEN_UNABLE, 0,
                  "%.50s, %.50s: not a certificate and its key in PEM",
                  to->cert, to->key);
        return NULL;
    }
    return socket;
}
