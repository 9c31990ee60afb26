/*
 * seen.js - ask filters of URLs, in browsers and in Node.
 *
 *     import { open, ask, YES } from 'seen';
 *
 *     const filter = await open(bytes);            // a file in memory
 *     filter.has('http://a.example/');             // true or false
 *
 *     const far = await ask('https://archive.example/haw.seen');
 *     await far.has('http://a.example/');          // asks for one block
 *
 * The work is done by seen.wasm, which is the project's C library. Each filter
 * has an instance of it, and so a memory of its own: what a file does there
 * concerns that filter only. A file that makes the module fail is refused.
 */

import { SeenError } from './error.js';
import { known } from './names.js';
import { HttpSource, Ranges } from './ranges.js';

export { SeenError };

/** Answers of hasMany() and hasKeys(). */
export const NO = 0, YES = 1, NOT_A_URL = 2, UNKNOWN = 3, DAMAGED = 4;

const CODES = ['OK', 'NOMEM', 'RANGE', 'FULL', 'MISMATCH', 'CORRUPT', 'IO',
               'BUSY', 'UNABLE', 'EXISTS', 'ABSENT', 'BAD_URL'];
const IO = 6;

// --- the module ---------------------------------------------------------------

let compiling = null;

/** Use these bytes, or this module, instead of seen.wasm beside this file. */
export function useModule(wasm) {
  compiling = wasm instanceof WebAssembly.Module
    ? Promise.resolve(wasm) : WebAssembly.compile(wasm);
  return compiling.then(() => undefined);
}

async function compile() {
  const url = new URL('./seen.wasm', import.meta.url);
  if (url.protocol === 'file:') {
    const { readFile } = await import(/* @vite-ignore */ 'node:fs/promises');
    return WebAssembly.compile(await readFile(url));
  }
  const answer = await fetch(url);
  if (!answer.ok)
    throw new SeenError('IO', `${url.href}: ${answer.status}`);
  return WebAssembly.compile(await answer.arrayBuffer());
}

function moduleOnce() {
  compiling ??= compile().catch((error) => {
    compiling = null; // the next call tries again
    throw error;
  });
  return compiling;
}

// --- names of hosts -----------------------------------------------------------

const from = [], to = [];
known.split(' ').forEach((digits, i) => {
  const n = parseInt(digits, 36);
  if (i % 2 === 0)
    from.push((to.at(-1) ?? 0) + n);
  else
    to.push(from.at(-1) + n);
});

/** Are all characters known that are not ASCII? */
function knows(label) {
  for (const character of label) {
    const c = character.codePointAt(0);
    let low = 0, high = to.length; // the first range that ends behind c
    while (low < high) {
      const middle = low + high >> 1;
      if (to[middle] > c)
        high = middle;
      else
        low = middle + 1;
    }
    if (c > 0x7f && !(from[low] <= c))
      return false;
  }
  return true;
}

// Names that were encoded: they come again and again.
const names = new Map();

function encodeName(label, transitional) {
  if (!knows(label))
    return null; // it may be newer than the tables of the programs
  // The programs look at such labels in parts, and find other things wrong.
  if (transitional ? /-(?![\p{L}\p{N}-]|$)/u.test(label)
                   : /[\u00df\u1e9e\u03c2\u200c\u200d]/.test(label) &&
                     /[^\p{L}\p{M}\p{N}\p{Cf}-]/u.test(label))
    return null;
  label = transitional
    ? label.replace(/[\u00df\u1e9e]/g, 'ss').replace(/\u03c2/g, '\u03c3')
           .replace(/[\u200c\u200d]/g, '')
    : label.replace(/\u1e9e/g, '\u00df');
  try {
    // The label of ASCII behind it keeps a number from being an address.
    const host = new URL(`http://${label}.a/`).hostname;
    const name = host.slice(0, -2);
    return host.endsWith('.a') && name && !name.includes('.') ? name : null;
  } catch {
    return null;
  }
}

// --- numbers, as C reads and writes them --------------------------------------

/** The digits of a number and its power of ten; ties go to an even digit. */
function digitsOf(x, most) {
  const [long, power] = x.toExponential(Math.min(most + 60, 100)).split('e');
  const all = long.replace('.', ''), tie = /^50*$/.test(all.slice(most));
  if (tie && Number(all[most - 1]) % 2 === 0)
    return [all.slice(0, most), Number(power)];
  const [short, e] = x.toExponential(most - 1).split('e');
  return [short.replace('.', ''), Number(e)];
}

function printNumber(x, fixed, most) {
  if (!Number.isFinite(x))
    return Number.isNaN(x) ? 'nan' : x < 0 ? '-inf' : 'inf';
  if (fixed)
    return x.toFixed(most);
  const sign = x < 0 ? '-' : '';
  let [digits, e] = digitsOf(Math.abs(x), most || 1);
  const tidy = (whole, part) =>
    sign + whole + `.${part}`.replace(/\.?0*$/, '');
  if (e < -4 || e >= (most || 1))
    return `${tidy(digits[0], digits.slice(1))}e${e < 0 ? '-' : '+'}${
      String(Math.abs(e)).padStart(2, '0')}`;
  digits = '0'.repeat(Math.max(0, -e)) + digits;
  e = Math.max(0, e);
  return tidy(digits.slice(0, e + 1), digits.slice(e + 1));
}

// --- an instance --------------------------------------------------------------

const utf8 = new TextEncoder(), text = new TextDecoder();
const strict = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

class Engine {
  static async make(files) {
    const engine = new Engine();
    engine.files = files; // the filter, a delta, its result
    const instance = await WebAssembly.instantiate(await moduleOnce(),
                                                   engine.imports());
    engine.calls = instance.exports;
    engine.at = engine.calls.batch();
    engine.most = engine.calls.sizes(0);
    engine.room = engine.calls.sizes(1);
    return engine;
  }

  get bytes() {
    return new Uint8Array(this.calls.memory.buffer);
  }

  view(at, len) {
    return new Uint8Array(this.calls.memory.buffer, at, len);
  }

  string(at) {
    const bytes = this.bytes;
    let end = at;
    while (bytes[end])
      end++;
    return text.decode(bytes.subarray(at, end));
  }

  imports() {
    const latin = (at, len) => String.fromCharCode(...this.view(at, len));
    const put = (string, to, room) => {
      const bytes = utf8.encode(string).subarray(0, room);
      this.view(to, bytes.length).set(bytes);
      return bytes.length;
    };
    return {
      env: { exp: Math.exp, log: Math.log, pow: Math.pow, expm1: Math.expm1,
             log1p: Math.log1p },
      host: {
        size: (file) => this.files[file]?.size ?? -1,
        read: (file, to, len, at) =>
          this.files[file].read(at, this.view(to, len)),
        want: (file, at, len) => this.files[file].want?.(at, len),
        write: (file, from, len, at) =>
          this.files[file].write(at, this.view(from, len)),
        parse: (at, len, to) => {
          const found = /^\d*\.?\d*(?:e[+-]?\d+)?/i.exec(latin(at, len))[0];
          const x = Number(found);
          new DataView(this.calls.memory.buffer)
            .setFloat64(to, Number.isNaN(x) ? 0 : x, true);
          return Number.isNaN(x) ? 0 : found.length;
        },
        print: (x, format, digits, to, room) =>
          put(printNumber(x, format === 102, digits), to, room),
        idna: (at, len, transitional, to, room) => {
          let label;
          try {
            label = strict.decode(this.view(at, len));
          } catch {
            return -1;
          }
          const key = transitional + label;
          let name = names.get(key);
          if (name === undefined) {
            name = encodeName(label, transitional);
            if (names.size >= 4096)
              names.clear();
            names.set(key, name);
          }
          return name === null || name.length > room ? -1
                                                     : put(name, to, room);
        },
      },
    };
  }

  /** Call a function; what fails in it makes the instance useless. */
  call(name, ...args) {
    if (this.failed)
      throw this.failed;
    try {
      return this.calls[name](...args);
    } catch (error) {
      if (!(error instanceof WebAssembly.RuntimeError ||
            error instanceof RangeError))
        throw error;
      this.failed = new SeenError('CORRUPT',
        `the file makes the reader fail: ${error.message}`);
      this.calls = null; // and its memory
      throw this.failed;
    }
  }

  error(code) {
    return new SeenError(CODES[code] ?? 'UNKNOWN',
                         this.string(this.calls.error()),
                         this.calls.error_at());
  }

  /** Call a function that returns a code. */
  must(name, ...args) {
    const code = this.call(name, ...args);
    if (code)
      throw this.error(code);
  }

  /** Put a word where a batch begins, ended by a zero. */
  word(word) {
    const bytes = utf8.encode(word);
    if (bytes.length >= this.room)
      throw new SeenError('RANGE', 'a name is too long');
    this.view(this.at, bytes.length + 1).set([...bytes, 0]);
    return this.at;
  }

  /** Put URLs from `from` on into the batch; the number that fit. */
  fill(urls, from) {
    const to = this.view(this.at, this.room);
    const end = new Uint32Array(this.calls.memory.buffer, this.at + this.room,
                                this.most);
    let used = 0, n = 0;
    for (; n < this.most && from + n < urls.length; n++) {
      const url = urls[from + n];
      const { read, written } = utf8.encodeInto(url, to.subarray(used));
      if (read < url.length) {
        if (n)
          break;
        // Longer than the room: it is far above the most that a URL may have.
      }
      end[n] = used += written;
    }
    return n;
  }

  get answers() {
    return this.view(this.at + this.room + 4 * this.most, this.most);
  }

  get hashes() {
    return new BigUint64Array(this.calls.memory.buffer,
                              this.at + this.room + 5 * this.most,
                              2 * this.most);
  }
}

// --- files --------------------------------------------------------------------

class Bytes {
  constructor(bytes) {
    this.bytes = bytes;
    this.size = bytes.length;
  }

  read(at, to) {
    const from = this.bytes.subarray(at, Math.min(this.size, at + to.length));
    to.set(from);
    return from.length;
  }
}

class Result {
  constructor() {
    this.size = -1;
    this.bytes = new Uint8Array(0);
  }

  write(at, from) {
    const end = at + from.length;
    if (end > this.bytes.length) {
      const more = new Uint8Array(Math.max(end, 2 * this.bytes.length));
      more.set(this.bytes);
      this.bytes = more;
    }
    this.bytes.set(from, at);
    this.size = Math.max(this.size, end);
    return from.length;
  }

  read(at, to) {
    return new Bytes(this.bytes.subarray(0, this.size)).read(at, to);
  }
}

function asBytes(file) {
  if (file instanceof Uint8Array)
    return file;
  if (file instanceof ArrayBuffer)
    return new Uint8Array(file);
  if (ArrayBuffer.isView(file))
    return new Uint8Array(file.buffer, file.byteOffset, file.byteLength);
  throw new TypeError('a file is an ArrayBuffer or a Uint8Array');
}

// --- a filter -----------------------------------------------------------------

// What a question may cost, in lines of memory: a hostile plan makes one take
// minutes. 100,000 take about a millisecond.
const COST = 100000;

function readInfo(engine) {
  const number = (which) => engine.call('number', which);
  const lines = engine.string(engine.call('describe')).split('\n');
  const info = { meta: {} };
  const plan = new Set(['kind', 'profile', 'keys', 'capacity', 'rate', 'bits',
                        'probes', 'multiplier', 'seed', 'over', 'tight',
                        'hostile', 'keyed', 'segments', 'shape', 'at', 'size',
                        'set', 'offered', 'part']);
  for (const line of lines) {
    const equals = line.indexOf('=');
    const name = line.slice(0, equals), value = line.slice(equals + 1);
    if (equals > 0 && !plan.has(name))
      info.meta[name] = value;
    else if (name === 'kind' || name === 'profile')
      info[name] = value;
    else if (name === 'capacity' || name === 'offered')
      info[name] = Number(value);
    else if (name === 'keyed')
      info.keyed = true;
  }
  info.keyed ??= false;
  info.rate = number(0);
  info.plannedRate = number(1);
  info.entries = number(2);
  info.bytes = number(3);
  info.cost = number(4);
  return Object.freeze(info);
}

/** Check what was opened against what the caller expects and allows. */
function accept(info, options) {
  const most = options.cost ?? COST;
  if (info.cost > most)
    throw new SeenError('RANGE', `a question to ${info.kind} costs up to ${
      info.cost}, more than ${most}`);
  if (options.profile !== undefined && options.profile !== info.profile)
    throw new SeenError('MISMATCH', `has the profile ${info.profile}`);
  if (info.keyed)
    throw new SeenError('UNABLE', 'is keyed: it is for those with its secret');
}

/** A filter whose file is in memory. open() makes it. */
export class Filter {
  #engine;

  constructor(engine, info) {
    this.#engine = engine;
    this.info = info;
  }

  /** Was the URL added? Throws a SeenError if it has no answer. */
  has(url) {
    const answer = this.hasMany([url])[0];
    if (answer > YES)
      throw noAnswer(answer, url);
    return answer === YES;
  }

  /** One of NO, YES, NOT_A_URL and UNKNOWN for each URL. */
  hasMany(urls) {
    const answers = new Uint8Array(urls.length), engine = this.#engine;
    if (engine.failed)
      throw engine.failed;
    for (let from = 0; from < urls.length;) {
      const n = engine.fill(urls, from);
      engine.must('ask', n);
      answers.set(engine.answers.subarray(0, n), from);
      from += n;
    }
    return answers;
  }

  /** The same for hashes of canonical texts: lo, hi, lo, hi, ... */
  hasKeys(keys) {
    const n = keys.length / 2, answers = new Uint8Array(n);
    const engine = this.#engine;
    if (engine.failed)
      throw engine.failed;
    for (let from = 0; from < n; from += engine.most) {
      const some = Math.min(n - from, engine.most);
      engine.hashes.set(keys.subarray(2 * from, 2 * (from + some)));
      engine.must('ask_keys', some);
      answers.set(engine.answers.subarray(0, some), from);
    }
    return answers;
  }
}

function noAnswer(answer, url) {
  return answer === NOT_A_URL
    ? new SeenError('BAD_URL', `not a URL: ${url}`)
    : answer === UNKNOWN
      ? new SeenError('UNKNOWN', `no answer: this reader does not know the ` +
                      `name of the host: ${url}`)
      : new SeenError('CORRUPT', `no answer: a block of ${url} is damaged`);
}

/**
 * Open a file in memory. It is checked as a whole, and copied.
 * Options: profile, which must be that of the filter; cost, the most that a
 * question may cost.
 */
export async function open(file, options = {}) {
  const bytes = asBytes(file);
  const engine = await Engine.make([new Bytes(bytes)]);
  engine.must('open', 0);
  const info = readInfo(engine);
  accept(info, options);
  engine.files = []; // the cells were copied
  return new Filter(engine, info);
}

// --- a filter that lies elsewhere ---------------------------------------------

/** A filter of which only what questions need is fetched. ask() makes it. */
export class FarFilter {
  #source;
  #options;
  #engine;
  #file;
  #last = Promise.resolve(); // questions take turns

  constructor(source, options) {
    this.#source = source;
    this.#options = options;
  }

  /** Requests and bytes so far. */
  get requests() {
    return this.#file.requests;
  }

  get bytes() {
    return this.#file.bytes;
  }

  async open() {
    const before = this.#file, file = new Ranges(this.#source, this.#options);
    file.requests = before?.requests ?? 0;
    file.bytes = before?.bytes ?? 0;
    this.#file = file;
    this.#source.size = this.#source.fixed;
    await file.begin();
    const engine = await Engine.make([file]);
    try {
      await this.#until(engine, 0, 'open', 1);
    } catch (error) {
      if (error.code !== 'CORRUPT' || file.whole)
        throw error;
      file.whole = true; // a damaged first head: look at the second one
      await this.#until(engine, 0, 'open', 1);
    }
    this.info = readInfo(engine);
    accept(this.info, this.#options);
    file.forget();
    this.#engine = engine;
  }

  /** Call a function until all that it reads is here. */
  async #until(engine, questions, name, ...args) {
    for (;;) {
      const code = engine.call(name, ...args);
      if (code !== IO || !await this.#file.fetch(questions)) {
        if (code)
          throw engine.error(code);
        return;
      }
    }
  }

  async has(url) {
    const answer = (await this.hasMany([url]))[0];
    if (answer > YES)
      throw noAnswer(answer, url);
    return answer === YES;
  }

  /** As Filter.hasMany(). Ask for many URLs at once: neighbours share blocks. */
  hasMany(urls) {
    const turn = this.#last.then(() => this.#twice(urls));
    this.#last = turn.catch(() => {});
    return turn;
  }

  /** A file that was replaced is opened again, once. */
  async #twice(urls) {
    try {
      const answers = await this.#all(urls);
      if (!answers.includes(DAMAGED))
        return answers;
    } catch (error) {
      if (error.code !== 'MISMATCH')
        throw error;
    }
    await this.open();
    return this.#all(urls);
  }

  async #all(urls) {
    const answers = new Uint8Array(urls.length), engine = this.#engine;
    if (engine.failed)
      throw engine.failed;
    for (let from = 0; from < urls.length;) {
      const n = engine.fill(urls, from);
      await this.#until(engine, n, 'ask', n);
      answers.set(engine.answers.subarray(0, n), from);
      this.#file.forget();
      from += n;
    }
    return answers;
  }
}

/**
 * Ask a filter where it is: an address, or an object with read(from, length)
 * and size. Head and table are fetched once, then the blocks of 64 KiB that
 * have the cells of a question. Whoever has the file learns these blocks, and
 * no URL.
 */
export async function ask(where, options = {}) {
  let source = where;
  if (typeof where === 'string' || where instanceof URL)
    source = new HttpSource(String(where), options);
  else
    source = { read: (...args) => where.read(...args), fixed: where.size };
  const filter = new FarFilter(source, options);
  await filter.open();
  return filter;
}

// --- keys and deltas ----------------------------------------------------------

let keys = null;

/** The canonical text of a URL under a profile, and its hash. */
export async function key(url, profile) {
  keys ??= Engine.make([]);
  const engine = await keys;
  try {
    engine.must('rules', engine.word(profile));
    if (!engine.fill([url], 0))
      throw new SeenError('BAD_URL', 'not a URL');
    engine.must('key');
  } catch (error) {
    if (engine.failed)
      keys = null;
    throw error;
  }
  const [lo, hi] = engine.hashes;
  const [at, len] = new Uint32Array(
    engine.calls.memory.buffer, engine.hashes.byteOffset + 16 * engine.most, 2);
  return { text: text.decode(engine.view(at, len)), lo, hi };
}

/** The file that a delta makes of another one. */
export async function applyDelta(file, delta) {
  const result = new Result();
  const engine = await Engine.make([new Bytes(asBytes(file)),
                                    new Bytes(asBytes(delta)), result]);
  engine.must('apply');
  return result.bytes.slice(0, result.size);
}
