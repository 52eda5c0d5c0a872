// AES of OpenSSL's libcrypto, by its function for one block: that needs neither providers nor a configuration file, so that the static library
// adds ten kilobytes to the program and nothing to its start. Message authentication codes are behind EVP, whose providers would add 4 MB:
// they are taken from the shared libcrypto, which is opened when the first one is asked for.
#ifndef BLECTL_CCRYPTO_H
#define BLECTL_CCRYPTO_H

#define OPENSSL_SUPPRESS_DEPRECATED
#include <dlfcn.h>
#include <openssl/aes.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/params.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>

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

enum { shim_mac_cmac_aes128, shim_mac_hmac_sha256 };

typedef struct {
  EVP_MAC *(*fetch)(OSSL_LIB_CTX *, const char *, const char *);
  void (*free)(EVP_MAC *);
  EVP_MAC_CTX *(*new_context)(EVP_MAC *);
  void (*free_context)(EVP_MAC_CTX *);
  int (*init)(EVP_MAC_CTX *, const unsigned char *, size_t, const OSSL_PARAM *);
  int (*update)(EVP_MAC_CTX *, const unsigned char *, size_t);
  int (*final)(EVP_MAC_CTX *, unsigned char *, size_t *, size_t);
  int are_there;
} shim_mac_functions;

// Swift takes over functions and what is static in them, but no variables.
static inline shim_mac_functions *shim_mac_table(void) {
  static shim_mac_functions functions;
  return &functions;
}

static inline void shim_mac_load(void) {
  shim_mac_functions *functions = shim_mac_table();
  void *library = dlopen("libcrypto.so.3", RTLD_NOW | RTLD_LOCAL);
  if (!library) return;
  *(void **)&functions->fetch = dlsym(library, "EVP_MAC_fetch");
  *(void **)&functions->free = dlsym(library, "EVP_MAC_free");
  *(void **)&functions->new_context = dlsym(library, "EVP_MAC_CTX_new");
  *(void **)&functions->free_context = dlsym(library, "EVP_MAC_CTX_free");
  *(void **)&functions->init = dlsym(library, "EVP_MAC_init");
  *(void **)&functions->update = dlsym(library, "EVP_MAC_update");
  *(void **)&functions->final = dlsym(library, "EVP_MAC_final");
  functions->are_there = functions->fetch && functions->free && functions->new_context && functions->free_context && functions->init &&
                         functions->update && functions->final;
}

// NULL where the library, or one of the functions, is not there.
static inline const shim_mac_functions *shim_mac_library(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, shim_mac_load);
  return shim_mac_table()->are_there ? shim_mac_table() : NULL;
}

static inline int shim_mac_is_available(void) { return shim_mac_library() != NULL; }

// One code that is being computed: 0 where it cannot be. `key` is up to four blocks, of which `octets` count. Everything that was begun is ended.
static inline uintptr_t shim_mac_begin(int kind, shim_block key0, shim_block key1, shim_block key2, shim_block key3, int octets) {
  const shim_mac_functions *library = shim_mac_library();
  shim_block key[4] = {key0, key1, key2, key3};
  EVP_MAC_CTX *context = NULL;
  if (!library || octets < 0 || octets > (int)sizeof key) return 0;
  EVP_MAC *algorithm = library->fetch(NULL, kind == shim_mac_cmac_aes128 ? "CMAC" : "HMAC", NULL);
  if (algorithm) {
    char cipher[] = "AES-128-CBC", digest[] = "SHA256";
    OSSL_PARAM parameters[2] = {
        {kind == shim_mac_cmac_aes128 ? "cipher" : "digest", OSSL_PARAM_UTF8_STRING, kind == shim_mac_cmac_aes128 ? cipher : digest,
         kind == shim_mac_cmac_aes128 ? sizeof cipher - 1 : sizeof digest - 1, OSSL_PARAM_UNMODIFIED},
        {NULL, 0, NULL, 0, 0}};
    context = library->new_context(algorithm);
    if (context && !library->init(context, (const unsigned char *)key, (size_t)octets, parameters)) {
      library->free_context(context);
      context = NULL;
    }
    library->free(algorithm);
  }
  OPENSSL_cleanse(key, sizeof key);
  return (uintptr_t)context;
}

static inline int shim_mac_add(uintptr_t mac, shim_block block, int octets) {
  if (octets < 0 || octets > (int)sizeof block) return 0;
  return shim_mac_library()->update((EVP_MAC_CTX *)mac, (const unsigned char *)&block, (size_t)octets);
}

// How many octets the code has, 0 where it failed; `first` and `second` hold them.
typedef struct {
  shim_block first, second;
  int octets;
} shim_mac_result;

static inline shim_mac_result shim_mac_end(uintptr_t mac) {
  shim_mac_result result;
  unsigned char octets[32] = {0};
  size_t count = 0;
  result.octets = shim_mac_library()->final((EVP_MAC_CTX *)mac, octets, &count, sizeof octets) ? (int)count : 0;
  __builtin_memcpy(&result.first, octets, 16);
  __builtin_memcpy(&result.second, octets + 16, 16);
  shim_mac_library()->free_context((EVP_MAC_CTX *)mac);
  return result;
}

#endif
