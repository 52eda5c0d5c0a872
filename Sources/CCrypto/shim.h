// AES of OpenSSL's libcrypto, by its function for one block: that needs neither providers nor a configuration file, so that the static library
// adds ten kilobytes to the program and nothing to its start.
#ifndef BLECTL_CCRYPTO_H
#define BLECTL_CCRYPTO_H

#define OPENSSL_SUPPRESS_DEPRECATED
#include <openssl/aes.h>
#include <openssl/crypto.h>

// Swift's SIMD16<UInt8>, so that nobody there has to handle a pointer.
typedef unsigned char shim_block __attribute__((ext_vector_type(16)));

static inline shim_block shim_aes128(shim_block key, shim_block block) {
  AES_KEY schedule;
  shim_block result;
  AES_set_encrypt_key((const unsigned char *)&key, 128, &schedule);
  AES_encrypt((const unsigned char *)&block, (unsigned char *)&result, &schedule);
  OPENSSL_cleanse(&schedule, sizeof schedule);
  return result;
}

#endif
