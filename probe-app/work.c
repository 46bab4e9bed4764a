#include "work.h"

#include <errno.h>
#include <openssl/evp.h>
#include <string.h>

/* 512 rounds are 40 to 300 us: short enough to stop soon, long enough that looking costs nothing */
enum { ROUNDS_BETWEEN_LOOKS = 512 };

struct work_context {
	EVP_MD *sha256; /* fetched once: a lookup for every digest would cost more than the digest */
	EVP_MD_CTX *md;
};

struct work_context *work_open(struct fault *f)
{
	struct work_context *w = calloc(1, sizeof *w);
	if (!w) {
		fault_set(f, ENOMEM, "SHA-256");
		return NULL;
	}
	w->sha256 = EVP_MD_fetch(NULL, "SHA256", NULL);
	w->md = EVP_MD_CTX_new();
	if (w->sha256 && w->md && EVP_DigestInit_ex2(w->md, w->sha256, NULL) == 1)
		return w;
	fault_set(f, -ENOTSUP, "libcrypto offers no SHA-256 here (is it restricted by its configuration?)");
	work_close(w);
	return NULL;
}

void work_close(struct work_context *w)
{
	if (!w)
		return;
	EVP_MD_CTX_free(w->md);
	EVP_MD_free(w->sha256);
	free(w);
}

static int chain(EVP_MD_CTX *md, uint64_t rounds, uint8_t digest[WORK_DIGEST_BYTES])
{
	for (; rounds; rounds--)
		if (EVP_DigestUpdate(md, digest, WORK_DIGEST_BYTES) != 1 || EVP_DigestFinal_ex(md, digest, NULL) != 1 ||
		    EVP_DigestInit_ex2(md, NULL, NULL) != 1)
			return -EIO;
	return 0;
}

int work_rounds(struct work_context *w, uint64_t rounds, const struct stop *stop, uint8_t digest[WORK_DIGEST_BYTES])
{
	memset(digest, 0, WORK_DIGEST_BYTES);
	while (rounds) {
		uint64_t part = rounds < ROUNDS_BETWEEN_LOOKS ? rounds : ROUNDS_BETWEEN_LOOKS;
		if (stop && stop_requested(stop))
			return -ECANCELED;
		int rc = chain(w->md, part, digest);
		if (rc < 0)
			return rc;
		rounds -= part;
	}
	return 0;
}

void work_digest_text(const uint8_t digest[WORK_DIGEST_BYTES], char out[WORK_DIGEST_TEXT])
{
	for (size_t i = 0; i < WORK_DIGEST_BYTES; i++) {
		out[2 * i] = "0123456789abcdef"[digest[i] >> 4];
		out[2 * i + 1] = "0123456789abcdef"[digest[i] & 15];
	}
	out[2 * WORK_DIGEST_BYTES] = '\0';
}
