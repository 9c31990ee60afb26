/*
 * ranges_test.mjs - filters that are asked where they lie.
 *
 * A server here sends ranges, and lies about them in the ways that a test
 * wants. Answers are those of the vectors, or none.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import test from 'node:test';

const root = process.env.SEEN_SOURCE ?? '.';
const js = `file://${process.env.SEEN_JS ?? `${process.cwd()}/build/js`}`;
const { ask, SeenError, YES, NO, NOT_A_URL, UNKNOWN, DAMAGED } =
  await import(`${js}/seen.js`);

const read = (name) => readFileSync(`${root}/vectors/${name}`);
const vectors = JSON.parse(read('vectors.json'));
const urls = vectors.keys.map((row) => row.url);
const added = 'http://h0.example/d0/p0';

/* What the server does with a request for a range; tests replace it. */
let serve;
const requests = [];
const server = createServer((request, answer) => {
  const range = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range);
  requests.push(request.headers.range);
  serve(answer, range && Number(range[1]), range && Number(range[2]) + 1,
        request);
});
await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
const address = `http://127.0.0.1:${server.address().port}/f.seen`;
test.after(() => server.close());

function honest(file, more = {}) {
  return (answer, from, to) => {
    to = Math.min(to, file.length);
    answer.writeHead(206, { 'content-range': `bytes ${from}-${to - 1}/${
      file.length}`, 'etag': '"one"', ...more });
    answer.end(file.subarray(from, to));
  };
}

function compare(found, one) {
  for (const [i, answer] of [...one.answers].entries())
    if (found[i] === YES || found[i] === NO || answer !== '-')
      if (found[i] !== UNKNOWN && found[i] !== NOT_A_URL)
        assert.equal(found[i], Number(answer), `${one.file}: ${urls[i]}`);
}

test('all vectors, by ranges', async () => {
  for (const one of vectors.files.filter((file) => !file.secret)) {
    serve = honest(read(one.file));
    const filter = await ask(address);
    assert.deepEqual(filter.info.meta, one.meta);
    assert.ok(filter.info.rate > 0 || one.file.includes('empty'), one.file);
    compare(await filter.hasMany(urls), one);
  }
});

test('files that must be refused are, or have no answer', async () => {
  for (const row of vectors.refused) {
    const file = Buffer.alloc(row.length);
    read(row.file).copy(file, 0, 0, row.length);
    for (const [at, bytes] of row.edits)
      Buffer.from(bytes, 'hex').copy(file, at);
    const source = { size: file.length,
                     read: async (from, n) => file.subarray(from, from + n) };
    try {
      const answers = await (await ask(source)).hasMany([added]);
      // What only the end of the file says is not read, nor are other blocks.
      assert.ok(answers[0] === DAMAGED || /byte before|block 1/.test(row.why),
                row.why);
    } catch (error) {
      assert.ok(error instanceof SeenError, error.stack);
    }
  }
});

test('two requests for the first question, one for a later one', async () => {
  serve = honest(read('files/large.seen'));
  const filter = await ask(address);
  assert.equal(await filter.has(added), true);
  assert.equal(filter.requests, 2);
  assert.ok(filter.bytes <= 131072 + 65536);
  await filter.has(added);
  assert.equal(filter.requests, 2); // its block is here
  for (let i = 0; i < 40; i++) {
    const before = filter.bytes;
    await filter.has(`http://b.example/${i}`);
    assert.ok(filter.bytes - before <= 65536);
  }
  assert.ok(filter.requests <= 1 + 4);
  assert.ok(requests.every((range) => !range.includes('example')));
});

test('questions at the same time take turns', async () => {
  serve = honest(read('files/large-ribbon.seen'));
  const filter = await ask(address);
  const many = Array.from({ length: 50 }, (_, i) =>
    filter.has(`http://many.example/${i * 600}`));
  assert.deepEqual(await Promise.all(many), Array(50).fill(true));
});

test('a server without ranges sends the file, if it is small', async () => {
  const file = read('files/blocked.seen');
  serve = (answer) => {
    answer.writeHead(200, { 'content-length': file.length });
    answer.end(file);
  };
  const filter = await ask(address);
  assert.equal(await filter.has(added), true);
  assert.equal(filter.requests, 1);
  await assert.rejects(ask(address, { download: 4000 }), { code: 'IO' });
  serve = (answer) => {
    answer.writeHead(200); // no length, and no end
    const piece = Buffer.alloc(65536);
    const more = () => { while (answer.write(piece)); };
    answer.on('drain', more);
    more();
  };
  await assert.rejects(ask(address, { download: 1 << 20 }), { code: 'IO' });
});

const large = read('files/large.seen');
const lies = {
  'another range': (answer, from, to) => {
    answer.writeHead(206, { 'content-range': `bytes ${from + 64}-${to + 63}/${
      large.length}` });
    answer.end(large.subarray(from + 64, to + 64));
  },
  'a range of another size': (answer, from, to) => {
    answer.writeHead(206, { 'content-range': `bytes ${from}-${to - 1}/${
      from ? large.length + 1 : large.length}` });
    answer.end(large.subarray(from, to));
  },
  'fewer bytes than it says': (answer, from, to) => {
    answer.writeHead(206, { 'content-range': `bytes ${from}-${to - 1}/${
      large.length}` });
    answer.end(large.subarray(from, from ? to - 1 : to));
  },
  'more bytes than it says': (answer, from, to) => {
    answer.writeHead(206, { 'content-range': `bytes ${from}-${to - 1}/${
      large.length}` });
    answer.end(Buffer.concat([large.subarray(from, to), Buffer.alloc(9)]));
  },
  'gzip': (answer, from, to) => {
    answer.writeHead(206, { 'content-range': `bytes ${from}-${to - 1}/${
      large.length}`, 'content-encoding': 'gzip' });
    answer.end(large.subarray(from, to));
  },
  'an error': (answer) => {
    answer.writeHead(503);
    answer.end('later');
  },
  'a page': (answer) => {
    answer.writeHead(200, { 'content-type': 'text/html' });
    answer.end('<title>404</title>'.repeat(100));
  },
  'nothing': (answer) => {
    answer.writeHead(206, { 'content-range': 'bytes 0-0/0' });
    answer.end();
  },
  'a broken line': (answer, from, to) => {
    answer.writeHead(206, { 'content-range': `bytes ${from}-${to - 1}/${
      large.length}`, 'content-length': to - from });
    answer.write(large.subarray(from, from + 100),
                 () => answer.socket.destroy());
  },
};
for (const [name, lie] of Object.entries(lies))
  test(`a server that sends ${name} gives no answer`, async () => {
    serve = lie;
    await assert.rejects(async () => (await ask(address)).has(added));
  });

test('a file that is replaced is opened again', async () => {
  const old = read('deltas/bloom-old.seen'), now = read('deltas/bloom-new.seen');
  const url = urls[205];
  for (const etags of [true, false]) {
    serve = honest(old);
    const filter = await ask(address);
    serve = (answer, from, to) => {
      const headers = { 'content-range': `bytes ${from}-${
        Math.min(to, now.length) - 1}/${now.length}` };
      if (etags)
        headers.etag = '"two"';
      answer.writeHead(206, headers);
      answer.end(now.subarray(from, to));
    };
    assert.equal(typeof await filter.has(url), 'boolean');
  }
  // Blocks of another version with the same sizes do not fit the table.
  const other = Buffer.from(large);
  other[80000 + 65536] ^= 1;
  for (const more of [{ etag: '"two"' }, {}]) {
    serve = honest(large);
    const filter = await ask(address);
    serve = honest(other, more);
    const answers = await filter.hasMany(urls.slice(0, 60));
    assert.ok([...answers].every((x) => x === YES || x === DAMAGED));
  }
});

test('heads that claim too much are refused before anything is fetched',
  async () => {
    for (const [at, value] of [[96, 1n << 60n], [104, 1n << 60n],
                               [112, 1n << 50n], [48, 1n << 40n]]) {
      const file = Buffer.from(large);
      file.writeBigUInt64LE(value, at);
      serve = honest(file);
      requests.length = 0;
      await assert.rejects(ask(address), SeenError);
      assert.ok(requests.length <= 3);
    }
    // A petabyte, and a server that agrees.
    const file = Buffer.from(large);
    file.writeBigUInt64LE(1n << 50n, 112);
    file.writeBigUInt64LE(1n << 49n, 104);
    file.writeBigUInt64LE(1n << 37n, 96);
    serve = (answer, from, to) => {
      answer.writeHead(206, { 'content-range': `bytes ${from}-${to - 1}/${
        2 ** 50}` });
      answer.end(Buffer.concat([file.subarray(from, to),
        Buffer.alloc(Math.max(0, to - Math.max(from, file.length)))]));
    };
    requests.length = 0;
    await assert.rejects(ask(address), { code: 'NOMEM' });
    assert.equal(requests.length, 1);
  });

test('a question that needs many blocks is refused', async () => {
  serve = honest(large);
  const filter = await ask(address, { blocks: 0.01 });
  const many = Array.from({ length: 40 }, (_, i) => `http://b.example/${i}`);
  await assert.rejects(filter.hasMany(many), { code: 'RANGE' });
});
