/* A device is offered the file of an image, to decode it in the reader's place. */
#include "io/reader_parts.h"

#include <stdlib.h>

/* Larger files are decoded on the CPU. */
#define OFFER_BYTES_MAX ((size_t)256 << 20)

/* Of a file that a device decodes: a piece stays in the cache of a processor while it is packed. */
enum { OFFER_PIECE_BYTES = 1 << 16 };

bool gc_reader_makes_offers(const gconv_reader *reader)
{
    return reader->options.decoder != GCONV_DECODER_CPU && reader->decoder->type->offer != NULL;
}

/* Whether a device may decode the image. A file that is sound is the same to a tolerant reader. */
static bool may_offer(const gconv_reader *reader)
{
    return gc_reader_makes_offers(reader) && reader->failure.status == GCONV_OK &&
           reader->delivered == 0 && !reader->offered;
}

void gc_reader_end_offer(gconv_reader *reader)
{
    free(reader->head);
    free(reader->piece);
    reader->head = reader->piece = NULL;
    reader->offered = false;
}

static gc_offer offer_bytes(gconv_reader *reader, const unsigned char *bytes, size_t count,
                            gconv_encoded *picture)
{
    gc_decoder *decoder = reader->decoder;
    reader->offer_given = count;
    *picture = (gconv_encoded){.bytes = bytes, .held = count, .size = reader->offer_bytes};
    return decoder->type->offer(decoder, picture, &reader->reason);
}

/* Reads the first `count` bytes of the file and offers them. */
static gc_offer offer_read(gconv_reader *reader, size_t count, gconv_encoded *picture)
{
    free(reader->head);
    if (!gc_input_load(&reader->input, count, &reader->head, &reader->reason))
        return GC_OFFER_REFUSED;
    return offer_bytes(reader, reader->head, count, picture);
}

/* Offers the bytes that are buffered, and more if the header goes on behind them. */
static gc_offer offer_head(gconv_reader *reader, gconv_encoded *picture)
{
    const unsigned char *bytes;
    size_t size = reader->offer_bytes, count = gc_input_head(&reader->input, &bytes);
    gc_offer offer = GC_OFFER_NEEDS_MORE;
    if (count > 0)
        offer = offer_bytes(reader, bytes, count < size ? count : size, picture);
    for (; offer == GC_OFFER_NEEDS_MORE && count < size; count *= 4) {
        count = count > 0 ? count : (size_t)OFFER_PIECE_BYTES;
        offer = offer_read(reader, 4 * count < size ? 4 * count : size, picture);
    }
    return offer;
}

bool gc_reader_offer(void *user, gconv_encoded *picture)
{
    gconv_reader *reader = user;
    if (!may_offer(reader) ||
        !gc_input_measure(&reader->input, OFFER_BYTES_MAX, &reader->offer_bytes, &reader->reason))
        return false;
    if (offer_head(reader, picture) != GC_OFFER_MADE) {
        gc_reader_end_offer(reader);
        return false;
    }
    reader->reason = "";
    reader->offered = true;
    picture->orientation = reader->orientation;
    return true;
}

bool gc_reader_more(void *user, const unsigned char **bytes, size_t *count)
{
    gconv_reader *reader = user;
    size_t left = reader->offer_bytes - reader->offer_given;
    size_t wanted = left < OFFER_PIECE_BYTES ? left : (size_t)OFFER_PIECE_BYTES;
    *count = 0;
    if (!reader->offered)
        return false;
    if (wanted == 0)
        return true;
    if (reader->piece == NULL)
        reader->piece = malloc(OFFER_PIECE_BYTES);
    if (reader->piece == NULL)
        return false;
    ssize_t got = gc_input_read_at(&reader->input, reader->piece, wanted, reader->offer_given);
    if (got <= 0)
        return false; /* the file has become shorter */
    reader->offer_given += (size_t)got;
    *bytes = reader->piece;
    *count = (size_t)got;
    return true;
}

void gc_reader_accept(void *user, size_t size)
{
    gconv_reader *reader = user;
    if (!reader->offered)
        return;
    gc_reader_end_offer(reader);
    reader->decoder->type->accept(reader->decoder, size);
    reader->accepted = true;
    reader->delivered = reader->shape.height;
}
