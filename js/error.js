/* error.js - why something was refused. */

/** `code` is one of the library's names, without SEEN_; `at` a byte or 0. */
export class SeenError extends Error {
  constructor(code, message, at = 0) {
    super(message);
    this.name = 'SeenError';
    this.code = code;
    this.at = at;
  }
}
