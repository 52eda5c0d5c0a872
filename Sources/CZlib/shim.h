// SPDX-License-Identifier: Apache-2.0
// zlib's decompressor. zlib refers to a stream by its address, so the stream stays where calloc put it.
#ifndef BLECTL_CZLIB_H
#define BLECTL_CZLIB_H

#include <stdint.h>
#include <stdlib.h>
#include <zlib.h>

// `window_bits` chooses the format, as inflateInit2 has it. NULL without memory: the other functions accept that.
static inline z_stream *shim_inflate_begin(int window_bits) {
  z_stream *stream = (z_stream *)calloc(1, sizeof *stream);
  if (stream && inflateInit2(stream, window_bits) != Z_OK) {
    free(stream);
    stream = NULL;
  }
  return stream;
}

// Decompresses a part of the input, and changes both counts to what it took and what it wrote.
static inline int shim_inflate(z_stream *stream, const uint8_t *input, uInt *taken, uint8_t *output, uInt *written) {
  if (!stream) return Z_MEM_ERROR;
  stream->next_in = (Bytef *)input;
  stream->avail_in = *taken;
  stream->next_out = output;
  stream->avail_out = *written;
  int status = inflate(stream, Z_NO_FLUSH);
  *taken -= stream->avail_in;
  *written -= stream->avail_out;
  return status;
}

// What is wrong with the data, in zlib's words.
static inline const char *shim_inflate_problem(const z_stream *stream) { return stream && stream->msg ? stream->msg : "not enough memory"; }

static inline void shim_inflate_end(z_stream *stream) {
  if (stream) inflateEnd(stream);
  free(stream);
}

#endif
