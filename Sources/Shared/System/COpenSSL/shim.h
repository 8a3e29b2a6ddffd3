// OpenSSL's function-like macros, as functions that Swift can import.
#pragma once
#include <openssl/bio.h>
#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/ec.h>
#include <openssl/ecdsa.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/rsa.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>
static inline long ossl_set_sni(SSL *s, const char *name) { return SSL_set_tlsext_host_name(s, (char *)name); }
static inline long ossl_set_mode(SSL *s, long mode) { return SSL_set_mode(s, mode); }
static inline long ossl_ctx_min_proto(SSL_CTX *c, int v) { return SSL_CTX_set_min_proto_version(c, v); }
static inline EVP_PKEY *ossl_rsa_gen(unsigned bits) { return EVP_RSA_gen(bits); }
static inline EVP_PKEY *ossl_p256_gen(void) { return EVP_EC_gen("P-256"); }
static inline long ossl_bio_data(BIO *b, char **p) { return BIO_get_mem_data(b, p); }
static inline unsigned long long ossl_op_no_renegotiation(void) { return SSL_OP_NO_RENEGOTIATION; }
static inline unsigned long long ossl_op_ignore_unexpected_eof(void) { return SSL_OP_IGNORE_UNEXPECTED_EOF; }
static inline void ossl_v3_ctx_nodb(X509V3_CTX *c) { X509V3_set_ctx_nodb(c); }
static inline int ossl_names_push(GENERAL_NAMES *names, GENERAL_NAME *name) { return sk_GENERAL_NAME_push(names, name); }
