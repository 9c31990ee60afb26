/*
 * names_test.mjs - a name that is not ASCII has the program's key, or none.
 *
 * Labels of one to five characters of all planes, many of scripts that mix and
 * of those with rules of their own: directions, joiners, accents, widths.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import test from 'node:test';

const seen = process.env.SEEN ?? 'build/seen';
const js = `file://${process.env.SEEN_JS ?? `${process.cwd()}/build/js`}`;
const { key } = await import(`${js}/seen.js`);

let state = 0x5eed5eed;
function random(n) {
  state ^= state << 13;
  state ^= state >>> 17;
  state ^= state << 5;
  return (state >>> 0) % n;
}

const ranges = [[0x80, 0x250], [0x300, 0x370], [0x370, 0x530], [0x590, 0x700],
                [0x900, 0xe00], [0x1e00, 0x2000], [0x2000, 0x2c00],
                [0x3000, 0x3400], [0x4e00, 0x9fff], [0xac00, 0xd7a4],
                [0xf900, 0x10000], [0x10000, 0x12000], [0x1d000, 0x20000],
                [0x20000, 0x33480]];
const odd = [...'\u00df\u1e9e\u03c2\u200c\u200d\u00ad\u3002\uff0e\u30fb\u00b7',
             ...'\u0375\u05f3\u0660\u06f0\u094d\u0301\u2603\u0130\u0131-_+1a',
             'xn--', '\u{1f469}\u200d\u{1f4bb}', '\u0645\u200c\u06cc'];

function label() {
  let text = '';
  const mixed = random(3), from = ranges[random(ranges.length)];
  for (let n = 1 + random(5); n; n--) {
    const [low, high] = mixed ? from : ranges[random(ranges.length)];
    text += random(4) === 0 ? odd[random(odd.length)]
                            : String.fromCodePoint(low + random(high - low));
  }
  return text;
}

for (const profile of ['whatwg', 'surt'])
  test(`names under ${profile}`, async () => {
    const urls = [];
    for (let i = 0; i < 6000; i++) {
      const name = random(3) ? label() : `${label()}.${label()}`;
      urls.push(`http://${name.replace(/[\ud800-\udfff](?![\udc00-\udfff])/gu,
                                       'x')}.example/`);
    }
    const out = spawnSync(seen, ['key', '--json', '--profile', profile],
                          { input: urls.join('\n') + '\n', maxBuffer: 1 << 30 });
    let same = 0, none = 0;
    for (const line of out.stdout.toString().trim().split('\n')) {
      const theirs = JSON.parse(line);
      try {
        const ours = await key(theirs.url, profile);
        // What the program refuses, nobody can have added.
        if (theirs.key !== undefined)
          assert.equal(ours.text, theirs.key, theirs.url);
        same++;
      } catch (error) {
        assert.equal(error.code, 'BAD_URL', error.stack);
        none += theirs.key !== undefined;
      }
    }
    assert.ok(same > 400, `${same} equal, ${none} without an answer`);
  });
