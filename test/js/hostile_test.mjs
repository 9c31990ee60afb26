/*
 * hostile_test.mjs - files of strangers: refused, or answered as the program
 * does; never a crash, and never a hang.
 *
 * The inputs are good files and deltas with changed bytes, and what the fuzzer
 * of deltas keeps. What the reader accepts, the program has to accept, too, with
 * the same answers. test/js/corpus_test.py has files with right checksums.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync }
  from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'node:test';

const root = process.env.SEEN_SOURCE ?? '.';
const seen = process.env.SEEN ?? 'build/seen';
const js = `file://${process.env.SEEN_JS ?? `${process.cwd()}/build/js`}`;
const { open, applyDelta, SeenError, YES, NO } = await import(`${js}/seen.js`);

const folder = mkdtempSync(join(tmpdir(), 'seen-js-'));
test.after(() => rmSync(folder, { recursive: true }));

const urls = Array.from({ length: 150 }, (_, i) =>
  `http://h${i % 7}.example/d${i % 31}/p${i}`);

/* A generator with a fixed seed: xorshift32. */
let state = 0x5eed5eed;
function random(n) {
  state ^= state << 13;
  state ^= state >>> 17;
  state ^= state << 5;
  return (state >>> 0) % n;
}

/* What js says: answers, or null if refused with a reason. */
async function ask(bytes) {
  let filter;
  try {
    filter = await open(bytes);
  } catch (error) {
    assert.ok(error instanceof SeenError, `${error.stack}`);
    assert.ok(error.message.length > 3 && error.code !== 'UNKNOWN');
    return null;
  }
  return filter.hasMany(urls);
}

function askProgram(bytes, name = 'f.seen') {
  const path = join(folder, name);
  writeFileSync(path, bytes);
  const it = spawnSync(seen, ['check', path], { input: urls.join('\n') + '\n' });
  if (it.status === 2)
    return null;
  return it.stdout.toString().trim().split('\n')
           .map((line) => line.startsWith('seen') ? YES : NO);
}

async function compare(bytes, what) {
  const ours = await ask(bytes);
  if (ours)
    assert.deepEqual([...ours], askProgram(bytes), what);
  return ours !== null;
}

test('each golden file with changed bytes is refused', async () => {
  for (const name of readdirSync(`${root}/test/data/v2`)) {
    const good = readFileSync(`${root}/test/data/v2/${name}`);
    if (name.includes('keyed'))
      continue;
    assert.ok(await compare(good, name));
    for (let i = 0; i < 12; i++) {
      const bad = Buffer.from(good);
      const at = i < 6 ? random(400) : random(bad.length - 128);
      bad[at] ^= 1 + random(255);
      // One of two heads may be damaged.
      assert.equal(await compare(bad, `${name} ${at}`), at < 128);
    }
    for (let i = 0; i < 4; i++)
      assert.equal(await ask(good.subarray(0, random(good.length))), null);
  }
});

test('files of before, and those that are broken', async () => {
  for (const name of readdirSync(`${root}/test/data`))
    if (name.endsWith('.seen') && !name.includes('keyed'))
      assert.ok(await compare(readFileSync(`${root}/test/data/${name}`), name));
  for (const name of readdirSync(`${root}/test/data/broken`))
    assert.equal(await ask(readFileSync(`${root}/test/data/broken/${name}`)),
                 null, name);
});

test('deltas with changed bytes are refused', async () => {
  const from = readFileSync(`${root}/vectors/deltas/blocked-old.seen`);
  const good = readFileSync(`${root}/vectors/deltas/blocked.delta`);
  for (let i = 0; i < 60; i++) {
    const bad = Buffer.from(good);
    bad[random(bad.length)] ^= 1 + random(255);
    await assert.rejects(applyDelta(from, bad), SeenError);
  }
  for (const name of readdirSync(`${root}/test/fuzz/delta`)) {
    const data = readFileSync(`${root}/test/fuzz/delta/${name}`);
    await assert.rejects(applyDelta(from, data.subarray(1)), SeenError);
  }
});

test('what costs too much, or is of another profile, is refused', async () => {
  const file = readFileSync(`${root}/vectors/files/growing.seen`);
  const { info } = await open(file);
  assert.ok(info.cost > 1);
  await open(file, { cost: info.cost, profile: 'raw' });
  await assert.rejects(open(file, { cost: info.cost - 1 }), { code: 'RANGE' });
  await assert.rejects(open(file, { profile: 'surt' }), { code: 'MISMATCH' });
});

test('what fails in the module fails in that filter only', async () => {
  const good = readFileSync(`${root}/test/data/v2/bloom.seen`);
  const first = await open(good), second = await open(good);
  assert.throws(() => first.hasMany({ length: 1, 0: null }), TypeError);
  assert.equal(first.has(urls[0]), true);
  assert.equal(second.has(urls[0]), true);
});
