// SPDX-License-Identifier: Apache-2.0
// AES and SHA-2 of OpenSSL's libcrypto, by its functions for blocks: they need neither providers nor a configuration file, so that the static
// library adds ten kilobytes to the program and nothing to its start. HMAC is behind EVP, whose providers would add 4 MB, as would elliptic curves:
// they are taken from the shared libcrypto, which is opened when the first one is asked for.
#ifndef BLECTL_CCRYPTO_H
#define BLECTL_CCRYPTO_H

#define OPENSSL_SUPPRESS_DEPRECATED
#include <dlfcn.h>
#include <openssl/aes.h>
#include <openssl/bn.h>
#include <openssl/crypto.h>
#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/obj_mac.h>
#include <openssl/params.h>
#include <openssl/sha.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>

// Swift's SIMD16<UInt8>, so that no Swift code handles a pointer.
typedef unsigned char shim_block __attribute__((ext_vector_type(16)));

static inline shim_block shim_aes128(shim_block key, shim_block block) {
  AES_KEY schedule;
  shim_block result;
  AES_set_encrypt_key((const unsigned char *)&key, 128, &schedule);
  AES_encrypt((const unsigned char *)&block, (unsigned char *)&result, &schedule);
  OPENSSL_cleanse(&schedule, sizeof schedule);
  return result;
}

// A 128-bit number as a block, most significant byte first, and back.
static inline shim_block shim_block_of(uint64_t high, uint64_t low) {
  uint64_t halves[2] = {__builtin_bswap64(high), __builtin_bswap64(low)};
  shim_block block;
  __builtin_memcpy(&block, halves, sizeof block);
  return block;
}

static inline uint64_t shim_half(shim_block block, int is_low) {
  uint64_t halves[2];
  __builtin_memcpy(halves, &block, sizeof block);
  return __builtin_bswap64(halves[is_low != 0]);
}

// A SHA-2 hash that is being computed. It is a value: nothing needs to be freed.
typedef struct {
  SHA256_CTX narrow;
  SHA512_CTX wide;
  int bits;
} shim_hash;

// `bits` is 256, 384 or 512.
static inline shim_hash shim_hash_begin(int bits) {
  shim_hash hash = {.bits = bits};
  if (bits == 256) SHA256_Init(&hash.narrow);
  else if (bits == 384) SHA384_Init(&hash.wide);
  else SHA512_Init(&hash.wide);
  return hash;
}

// Adds the first `count` bytes of four blocks.
static inline shim_hash shim_hash_add(shim_hash hash, shim_block block0, shim_block block1, shim_block block2, shim_block block3, int count) {
  shim_block blocks[4] = {block0, block1, block2, block3};
  if (count < 0 || count > (int)sizeof blocks) return hash;
  if (hash.bits == 256) SHA256_Update(&hash.narrow, blocks, (size_t)count);
  else SHA512_Update(&hash.wide, blocks, (size_t)count);
  return hash;
}

typedef struct {
  shim_block block0, block1, block2, block3;
} shim_digest;

// The hash, which begins with the first byte. The bytes that follow it are 0.
static inline shim_digest shim_hash_end(shim_hash hash) {
  unsigned char bytes[64] = {0};
  shim_digest digest;
  if (hash.bits == 256) SHA256_Final(bytes, &hash.narrow);
  else SHA512_Final(bytes, &hash.wide);
  __builtin_memcpy(&digest.block0, bytes, 16);
  __builtin_memcpy(&digest.block1, bytes + 16, 16);
  __builtin_memcpy(&digest.block2, bytes + 32, 16);
  __builtin_memcpy(&digest.block3, bytes + 48, 16);
  return digest;
}

typedef struct {
  EVP_MAC *(*fetch)(OSSL_LIB_CTX *, const char *, const char *);
  void (*free)(EVP_MAC *);
  EVP_MAC_CTX *(*new_context)(EVP_MAC *);
  void (*free_context)(EVP_MAC_CTX *);
  int (*init)(EVP_MAC_CTX *, const unsigned char *, size_t, const OSSL_PARAM *);
  int (*update)(EVP_MAC_CTX *, const unsigned char *, size_t);
  int (*final)(EVP_MAC_CTX *, unsigned char *, size_t *, size_t);
  EC_GROUP *(*new_group)(int);
  void (*free_group)(EC_GROUP *);
  const BIGNUM *(*order)(const EC_GROUP *);
  EC_POINT *(*new_point)(const EC_GROUP *);
  void (*free_point)(EC_POINT *);
  int (*read_point)(const EC_GROUP *, EC_POINT *, const unsigned char *, size_t, BN_CTX *);
  size_t (*write_point)(const EC_GROUP *, const EC_POINT *, point_conversion_form_t, unsigned char *, size_t, BN_CTX *);
  int (*is_on_curve)(const EC_GROUP *, const EC_POINT *, BN_CTX *);
  int (*multiply)(const EC_GROUP *, EC_POINT *, const BIGNUM *, const EC_POINT *, const BIGNUM *, BN_CTX *);
  BIGNUM *(*read_number)(const unsigned char *, int, BIGNUM *);
  void (*clear_number)(BIGNUM *);
  int (*is_zero)(const BIGNUM *);
  int (*compare)(const BIGNUM *, const BIGNUM *);
  void (*set_flags)(BIGNUM *, int);
  int are_there;
} shim_functions;

// Swift takes over functions and what is static in them, but no variables.
static inline shim_functions *shim_table(void) {
  static shim_functions functions;
  return &functions;
}

static inline void shim_load(void) {
  shim_functions *functions = shim_table();
  void *library = dlopen("libcrypto.so.3", RTLD_NOW | RTLD_LOCAL);
  if (!library) return;
  struct {
    void *function;
    const char *name;
  } wanted[] = {
      {&functions->fetch, "EVP_MAC_fetch"},
      {&functions->free, "EVP_MAC_free"},
      {&functions->new_context, "EVP_MAC_CTX_new"},
      {&functions->free_context, "EVP_MAC_CTX_free"},
      {&functions->init, "EVP_MAC_init"},
      {&functions->update, "EVP_MAC_update"},
      {&functions->final, "EVP_MAC_final"},
      {&functions->new_group, "EC_GROUP_new_by_curve_name"},
      {&functions->free_group, "EC_GROUP_free"},
      {&functions->order, "EC_GROUP_get0_order"},
      {&functions->new_point, "EC_POINT_new"},
      {&functions->free_point, "EC_POINT_clear_free"},
      {&functions->read_point, "EC_POINT_oct2point"},
      {&functions->write_point, "EC_POINT_point2oct"},
      {&functions->is_on_curve, "EC_POINT_is_on_curve"},
      {&functions->multiply, "EC_POINT_mul"},
      {&functions->read_number, "BN_bin2bn"},
      {&functions->clear_number, "BN_clear_free"},
      {&functions->is_zero, "BN_is_zero"},
      {&functions->compare, "BN_cmp"},
      {&functions->set_flags, "BN_set_flags"},
  };
  int found = 1;
  for (size_t index = 0; index < sizeof wanted / sizeof wanted[0]; index++) {
    void *function = dlsym(library, wanted[index].name);
    __builtin_memcpy(wanted[index].function, &function, sizeof function);
    found = found && function;
  }
  functions->are_there = found;
}

// NULL where the library, or one of the functions, is not there.
static inline const shim_functions *shim_library(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, shim_load);
  return shim_table()->are_there ? shim_table() : NULL;
}

static inline int shim_library_is_available(void) { return shim_library() != NULL; }

// One HMAC-SHA-256 that is being computed: 0 where it cannot be. `key` is up to four blocks, of which `bytes` count. Everything that was begun is
// ended.
static inline uintptr_t shim_mac_begin(shim_block key0, shim_block key1, shim_block key2, shim_block key3, int bytes) {
  const shim_functions *library = shim_library();
  shim_block key[4] = {key0, key1, key2, key3};
  EVP_MAC_CTX *context = NULL;
  if (!library || bytes < 0 || bytes > (int)sizeof key) return 0;
  EVP_MAC *algorithm = library->fetch(NULL, "HMAC", NULL);
  if (algorithm) {
    char digest[] = "SHA256";
    OSSL_PARAM parameters[2] = {{"digest", OSSL_PARAM_UTF8_STRING, digest, sizeof digest - 1, OSSL_PARAM_UNMODIFIED}, {NULL, 0, NULL, 0, 0}};
    context = library->new_context(algorithm);
    if (context && !library->init(context, (const unsigned char *)key, (size_t)bytes, parameters)) {
      library->free_context(context);
      context = NULL;
    }
    library->free(algorithm);
  }
  OPENSSL_cleanse(key, sizeof key);
  return (uintptr_t)context;
}

static inline int shim_mac_add(uintptr_t mac, shim_block block, int bytes) {
  if (bytes < 0 || bytes > (int)sizeof block) return 0;
  return shim_library()->update((EVP_MAC_CTX *)mac, (const unsigned char *)&block, (size_t)bytes);
}

// How many bytes the code has, 0 where it failed; `first` and `second` hold them.
typedef struct {
  shim_block first, second;
  int bytes;
} shim_mac_result;

static inline shim_mac_result shim_mac_end(uintptr_t mac) {
  shim_mac_result result;
  unsigned char bytes[32] = {0};
  size_t count = 0;
  result.bytes = shim_library()->final((EVP_MAC_CTX *)mac, bytes, &count, sizeof bytes) ? (int)count : 0;
  __builtin_memcpy(&result.first, bytes, 16);
  __builtin_memcpy(&result.second, bytes + 16, 16);
  shim_library()->free_context((EVP_MAC_CTX *)mac);
  return result;
}

enum { shim_p256_done, shim_p256_no_library, shim_p256_bad_scalar, shim_p256_bad_point };

// A point of the curve P-256: its coordinates, most significant byte first.
typedef struct {
  shim_block x0, x1, y0, y1;
  int status;
} shim_p256_point;

// The product of a scalar and a point, or the generator where `point.status` is not 0. The scalar must be in 1...n - 1 and the point on the curve.
static inline shim_p256_point shim_p256_multiply(shim_block scalar0, shim_block scalar1, shim_p256_point point) {
  const shim_functions *library = shim_library();
  shim_p256_point result = {.status = shim_p256_no_library};
  shim_block bytes[2] = {scalar0, scalar1};
  unsigned char whole[65] = {POINT_CONVERSION_UNCOMPRESSED};
  if (!library) return result;
  EC_GROUP *group = library->new_group(NID_X9_62_prime256v1);
  BIGNUM *scalar = library->read_number((const unsigned char *)bytes, sizeof bytes, NULL);
  EC_POINT *factor = group ? library->new_point(group) : NULL, *product = group ? library->new_point(group) : NULL;
  if (group && scalar && factor && product) {
    library->set_flags(scalar, BN_FLG_CONSTTIME);
    __builtin_memcpy(whole + 1, &point.x0, 16);
    __builtin_memcpy(whole + 17, &point.x1, 16);
    __builtin_memcpy(whole + 33, &point.y0, 16);
    __builtin_memcpy(whole + 49, &point.y1, 16);
    int is_generator = point.status != 0;
    if (library->is_zero(scalar) || library->compare(scalar, library->order(group)) >= 0)
      result.status = shim_p256_bad_scalar;
    else if (!is_generator && (!library->read_point(group, factor, whole, sizeof whole, NULL) || library->is_on_curve(group, factor, NULL) != 1))
      result.status = shim_p256_bad_point;
    else if (library->multiply(group, product, is_generator ? scalar : NULL, is_generator ? NULL : factor, is_generator ? NULL : scalar, NULL) &&
             library->write_point(group, product, POINT_CONVERSION_UNCOMPRESSED, whole, sizeof whole, NULL) == sizeof whole) {
      __builtin_memcpy(&result.x0, whole + 1, 16);
      __builtin_memcpy(&result.x1, whole + 17, 16);
      __builtin_memcpy(&result.y0, whole + 33, 16);
      __builtin_memcpy(&result.y1, whole + 49, 16);
      result.status = shim_p256_done;
    }
  }
  library->free_point(product);
  library->free_point(factor);
  library->clear_number(scalar);
  library->free_group(group);
  OPENSSL_cleanse(bytes, sizeof bytes);
  OPENSSL_cleanse(whole, sizeof whole);
  return result;
}

#endif
