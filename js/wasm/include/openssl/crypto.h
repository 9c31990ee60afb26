/* crypto.h - nothing: see evp.h. */
