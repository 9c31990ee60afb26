/** Answers of hasMany() and hasKeys(). */
export const NO: 0;
export const YES: 1;
/** The profile of the filter refuses the URL. */
export const NOT_A_URL: 2;
/** This reader does not know the name of the URL's host: see README.md. */
export const UNKNOWN: 3;
/** A block of the file that the URL needs is damaged. */
export const DAMAGED: 4;

export type Code =
  | 'NOMEM' | 'RANGE' | 'FULL' | 'MISMATCH' | 'CORRUPT' | 'IO' | 'BUSY'
  | 'UNABLE' | 'EXISTS' | 'ABSENT' | 'BAD_URL' | 'UNKNOWN';

/** Why something was refused. */
export class SeenError extends Error {
  readonly code: Code;
  /** The byte of a file or a URL, or 0. */
  readonly at: number;
}

export interface Info {
  /** As "blocked", "ribbon:8" or "routed:16/bloom". */
  readonly kind: string;
  /** How URLs become keys: "raw", "whatwg", "surt", "surt:host", "surt:1" ... */
  readonly profile: string;
  /** Distinct URLs that it was planned for. */
  readonly capacity?: number;
  /** URLs that were added, equal neighbours counted once. */
  readonly offered?: number;
  readonly keyed: boolean;
  /** How often a "yes" is wrong now, and at capacity. Of a `layered` filter
      that is asked where it lies, both are the latter. */
  readonly rate: number;
  readonly plannedRate: number;
  /** Distinct URLs, estimated from the cells. */
  readonly entries: number;
  /** Of all cells. */
  readonly bytes: number;
  /** What a question costs at most, in random reads of memory. */
  readonly cost: number;
  /** title, holder, as-of, timemap ... */
  readonly meta: { readonly [name: string]: string };
}

export interface Options {
  /** Refuse filters of another profile. */
  profile?: string;
  /** Refuse filters of which a question may cost more; 100,000. */
  cost?: number;
}

export interface FarOptions extends Options {
  /** Blocks of 64 KiB that a question may need; 32. */
  blocks?: number;
  /** Of a server without ranges: the most bytes of a file; 64 MiB. */
  download?: number;
  fetch?: typeof fetch;
  /** Ends requests; without it each ends after `timeout` ms (300,000). */
  signal?: AbortSignal;
  timeout?: number;
}

/** A filter in memory. */
export class Filter {
  private constructor();
  readonly info: Info;
  /** Throws a SeenError if there is no answer. */
  has(url: string): boolean;
  hasMany(urls: readonly string[]): Uint8Array;
  /** Hashes of canonical texts: lo, hi, lo, hi, ... */
  hasKeys(keys: BigUint64Array): Uint8Array;
}

/** A filter that is asked where it lies. */
export class FarFilter {
  private constructor();
  readonly info: Info;
  readonly requests: number;
  readonly bytes: number;
  has(url: string): Promise<boolean>;
  hasMany(urls: readonly string[]): Promise<Uint8Array>;
}

/** A file of which parts can be read. */
export interface Source {
  readonly size?: number;
  /** The bytes from `from` on, fewer than `length` only at the end. */
  read(from: number, length: number): Promise<Uint8Array>;
}

export interface Key {
  readonly text: string;
  readonly lo: bigint;
  readonly hi: bigint;
}

type Bytes = ArrayBuffer | ArrayBufferView;

export function open(file: Bytes, options?: Options): Promise<Filter>;
export function ask(where: string | URL | Source, options?: FarOptions):
  Promise<FarFilter>;
export function key(url: string, profile: string): Promise<Key>;
export function applyDelta(file: Bytes, delta: Bytes): Promise<Uint8Array>;
/** Use these bytes, or this module, instead of seen.wasm beside seen.js. */
export function useModule(wasm: BufferSource | WebAssembly.Module):
  Promise<void>;
