/* vectors_test.mjs - js/ passes all vectors: see vectors/README.md. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import test from 'node:test';

const root = process.env.SEEN_SOURCE ?? '.';
const js = `file://${process.env.SEEN_JS ?? `${process.cwd()}/build/js`}`;
const { open, key, applyDelta, SeenError, NOT_A_URL, UNKNOWN } =
  await import(`${js}/seen.js`);

const read = (name) => readFileSync(`${root}/vectors/${name}`);
const vectors = JSON.parse(read('vectors.json'));
const profiles = ['raw', 'whatwg', 'surt', 'surt:host', 'surt:1'];

export function edited(name, row) {
  const data = new Uint8Array(row.length);
  data.set(read(name).subarray(0, row.length));
  for (const [at, bytes] of row.edits)
    data.set(Buffer.from(bytes, 'hex'), at);
  return data;
}

const hex = (x) => x.toString(16).padStart(16, '0');

for (const profile of profiles)
  test(`keys of ${profile}`, async () => {
    for (const row of vectors.keys) {
      let made = null;
      try {
        const { text, lo, hi } = await key(row.url, profile);
        made = [text, hex(lo), hex(hi)];
      } catch (error) {
        assert.equal(error.code, 'BAD_URL', row.url);
      }
      // No answer is allowed for names that are not ASCII.
      if (made || /^[\0-\x7f]*$/.test(row.url) || !row[profile])
        assert.deepEqual(made, row[profile], row.url);
    }
  });

test('filters give these answers', async () => {
  const urls = vectors.keys.map((row) => row.url);
  let answered = 0, unknown = 0;
  for (const one of vectors.files) {
    if (one.secret) {
      await assert.rejects(open(read(one.file)), { code: 'UNABLE' });
      continue;
    }
    const filter = await open(read(one.file));
    assert.equal(filter.info.profile, one.profile);
    assert.deepEqual(filter.info.meta, one.meta);
    assert.equal(filter.info.kind.split(':')[0], one.kind.split(':')[0]);
    const found = filter.hasMany(urls);
    for (const [i, answer] of [...one.answers].entries()) {
      if (found[i] === UNKNOWN) {
        unknown++;
        assert.doesNotMatch(urls[i], /^[\0-\x7f]*$/);
      } else if (answer === '-') {
        assert.equal(found[i], NOT_A_URL, `${one.file}: ${urls[i]}`);
      } else if (found[i] !== NOT_A_URL ||
                 /^[\0-\x7f]*$/.test(urls[i])) {
        answered++;
        assert.equal(found[i], Number(answer), `${one.file}: ${urls[i]}`);
      }
    }
  }
  assert.ok(answered > 13000 && unknown < 20, `${answered} ${unknown}`);
});

test('files that must be refused are', async () => {
  for (const row of vectors.refused)
    await assert.rejects(open(edited(row.file, row)), SeenError, row.why);
});

test('deltas', async () => {
  for (const row of vectors.deltas) {
    const made = await applyDelta(read(row.from), read(row.delta));
    assert.deepEqual(Buffer.from(made), read(row.to));
  }
  for (const row of vectors.refused_deltas)
    await assert.rejects(
      applyDelta(read(row.from), edited(row.delta, row)), SeenError, row.why);
});
