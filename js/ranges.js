/*
 * ranges.js - bytes of a file that lies elsewhere, as they are needed.
 *
 *     read(at, to)    the module reads what is here; what is not is noted
 *     want(at, len)   the module announces all blocks of its questions
 *     fetch()         get what was noted, neighbours together
 *
 * The second head, and the gap before it, are not fetched: they repeat what the
 * first one says, and a reader needs them only if that one is damaged. So a
 * first question takes two requests, and a later one takes one.
 */
import { SeenError } from './error.js';

const HEAD = 128, FIRST = 128 << 10, AT_ONCE = 6;
// The module has addresses of 32 bits, and a table of 4 GiB has 512 KiB.
const MOST_CELLS = 2 ** 32 - 2 ** 27, MOST_FRONT = 32 << 20;

function bounded(value, what) {
  if (value > Number.MAX_SAFE_INTEGER)
    throw new SeenError('CORRUPT', `claims ${value} bytes of ${what}`);
  return Number(value);
}

/** A file by an object with read(from, length), and maybe its size. */
export class Ranges {
  constructor(source, options) {
    this.source = source;
    this.most = options.blocks ?? 32; // per question
    this.requests = this.bytes = 0;
    this.pieces = [];
    this.wanted = [];
    this.whole = false; // are the last bytes those of the source?
  }

  async get(from, length) {
    this.requests++;
    const bytes = await this.source.read(from, length);
    this.bytes += bytes.length;
    if (bytes.length > length)
      throw new SeenError('IO', 'more bytes came than were asked for');
    return bytes;
  }

  /** The first bytes, which have the size of the file, and mostly its table. */
  async begin() {
    const first = await this.get(0, FIRST);
    const head = new DataView(first.buffer, first.byteOffset, first.length);
    if (first.length < HEAD)
      throw new SeenError('CORRUPT', 'is too short for a seen filter');
    const length = bounded(head.getBigUint64(112, true), 'a file');
    this.size = this.source.size ?? length;
    this.front = bounded(head.getBigUint64(96, true), 'a front');
    this.end = this.front + bounded(head.getBigUint64(104, true), 'cells');
    if (this.end - this.front > MOST_CELLS || this.front > MOST_FRONT)
      throw new SeenError('NOMEM', `has ${this.end - this.front
        } bytes of cells; this reader has room for ${MOST_CELLS}`);
    this.head = first.subarray(0, HEAD);
    this.pieces = [{ at: 0, bytes: first }];
  }

  read(at, to) {
    if (at >= this.size)
      return 0;
    for (const { at: from, bytes } of this.pieces)
      if (at >= from && at < from + bytes.length) {
        const some = bytes.subarray(at - from, at - from + to.length);
        to.set(some);
        return some.length;
      }
    if (!this.whole && at >= this.end) {
      // As they should be: zeros, and the head again.
      const second = this.size - HEAD;
      for (let i = 0; i < to.length; i++)
        to[i] = at + i < second ? 0 : this.head[at + i - second] ?? 0;
      return Math.min(to.length, this.size - at);
    }
    this.want(at, to.length);
    return -1;
  }

  want(at, length) {
    this.wanted.push([at, Math.min(at + length, this.size)]);
  }

  /** What was noted, without repetitions, neighbours together. */
  take() {
    const sorted = this.wanted.sort((a, b) => a[0] - b[0]), joined = [];
    for (const [from, to] of sorted) {
      const last = joined.at(-1);
      if (last && from <= last[1])
        last[1] = Math.max(last[1], to);
      else
        joined.push([from, to]);
    }
    this.wanted = [];
    return joined.filter(([from, to]) => !this.pieces.some(
      (piece) => piece.at <= from && piece.at + piece.bytes.length >= to));
  }

  /** Get what was noted for some questions; false if there was nothing. */
  async fetch(questions) {
    const ranges = this.take();
    const sum = ranges.reduce((all, [from, to]) => all + to - from, 0);
    if (!ranges.length)
      return false;
    if (questions && sum > questions * this.most * 65536)
      throw new SeenError('RANGE', `a question needs ${
        Math.ceil(sum / questions / 65536)} blocks: download the file`);
    const work = async () => {
      for (let range; (range = ranges.pop());) {
        const [from, to] = range, bytes = await this.get(from, to - from);
        if (bytes.length !== to - from)
          throw new SeenError('CORRUPT', `ends at byte ${
            from + bytes.length}; the file was cut short`);
        this.pieces.push({ at: from, bytes });
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, work));
    return true;
  }

  /** The blocks that were used are in the module's memory now. */
  forget() {
    this.wanted = [];
    this.pieces = this.pieces.filter(({ at }) => at < this.front);
  }
}

// --- HTTP ---------------------------------------------------------------------

/** At most `most` bytes of a body; more are an error. */
async function readBody(answer, most) {
  const reader = answer.body.getReader(), parts = [];
  let length = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done)
      break;
    length += value.length;
    if (length > most) {
      await reader.cancel();
      throw new SeenError('IO', `the server sends more than ${most} bytes`);
    }
    parts.push(value);
  }
  const bytes = new Uint8Array(length);
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  return bytes;
}

/**
 * A file on a web server. Every answer must be of the range that was asked for,
 * and of the same version of the file, as far as its head tells: Content-Range
 * and ETag are hidden from pages of other origins unless the server exposes
 * them. Checksums find what is left.
 */
export class HttpSource {
  constructor(url, options) {
    this.url = url;
    this.call = options.fetch ?? ((...args) => globalThis.fetch(...args));
    this.download = options.download ?? 64 << 20;
    this.signal = options.signal;
    this.patience = options.timeout ?? 300000;
    this.file = null; // of a server without ranges
  }

  async read(from, length) {
    if (this.file)
      return this.file.subarray(from, from + length);
    const answer = await this.call(this.url, {
      headers: { 'Range': `bytes=${from}-${from + length - 1}`,
                 'Accept-Encoding': 'identity' },
      signal: this.signal ?? AbortSignal.timeout(this.patience), cache: from ? 'default' : 'no-cache',
    });
    const coding = answer.headers.get('content-encoding');
    if (coding && coding !== 'identity')
      throw new SeenError('IO', `the server encodes the file as ${coding}`);
    const version = answer.headers.get('etag') ??
                    answer.headers.get('last-modified');
    if (from && version && this.version && version !== this.version)
      throw new SeenError('MISMATCH', 'was replaced by another file');
    if (!from)
      this.version = version;
    if (answer.status === 200)
      return this.readWhole(answer, from, length);
    if (answer.status !== 206)
      throw new SeenError('IO', `${this.url}: HTTP status ${answer.status}`);
    return this.readPart(answer, from, length);
  }

  async readWhole(answer, from, length) {
    const size = Number(answer.headers.get('content-length') ?? 0);
    if (size > this.download) {
      await answer.body?.cancel();
      throw new SeenError('IO', `the server has no ranges, and the file has ${
        size} bytes: download it`);
    }
    this.file = await readBody(answer, this.download);
    this.size = this.file.length;
    return this.file.subarray(from, from + length);
  }

  async readPart(answer, from, length) {
    const range = answer.headers.get('content-range');
    if (range !== null) {
      const found = /^bytes (\d+)-(\d+)\/(\d+)$/.exec(range);
      const [first, last, size] = (found ?? []).slice(1).map(Number);
      if (!found || first !== from || last >= from + length || last >= size ||
          (last + 1 < from + length && last + 1 !== size) ||
          (this.size !== undefined && size !== this.size))
        throw new SeenError(from ? 'MISMATCH' : 'IO',
          `the server sends the range ${range} for ${from}-${
            from + length - 1}`);
      this.size = size;
    }
    return readBody(answer, length);
  }
}
