/*
 * names-make.mjs - write names.js: the characters about which the program and
 * this host's class URL agree.
 *
 *     node js/names-make.mjs build/seen >js/names.js
 *
 * Each character is tried in some names, under both profiles that encode names.
 * It is known if the two give the same name at least once under each, and never
 * a different one. What is not known is newer than the tables of the programs,
 * or is something else in them; a name with such a character has no key, and so
 * no answer.
 */
import { spawnSync } from 'node:child_process';

const around = [(c) => `a${c}b`, (c) => c, (c) => `\u05d0${c}\u05d0`,
                (c) => `\u0628${c}\u0628`, (c) => `\u05d0${c}`];
const characters = [];
for (let c = 0x80; c < 0x110000; c++)
  if (c < 0xd800 || c > 0xdfff)
    characters.push(c);

/** What the program makes of names, null if it refuses or keeps their bytes. */
function program(labels, profile) {
  const input = labels.map((label) => `http://${label}.example/\n`).join('');
  const out = spawnSync(process.argv[2], ['key', '--json', '--profile', profile],
                        { input, maxBuffer: 1 << 30 }).stdout.toString();
  return out.trim().split('\n').map((line) => {
    const { key } = JSON.parse(line);
    const name = profile === 'surt'
      ? key.slice(0, key.indexOf(')')).replace(/^example,/, '')
      : key?.slice(7, key.indexOf('.example/'));
    return name?.includes('%') ? null : name ?? null;
  });
}

function host(label, profile) {
  if (profile === 'surt')
    label = label.replace(/[\u00df\u1e9e]/g, 'ss')
                 .replace(/\u03c2/g, '\u03c3').replace(/[\u200c\u200d]/g, '');
  else
    label = label.replace(/\u1e9e/g, '\u00df');
  try {
    const name = new URL(`http://${label}.a/`).hostname.slice(0, -2);
    return name && !name.includes('.') ? name : null;
  } catch {
    return null;
  }
}

const equal = { whatwg: new Set(), surt: new Set() }, other = new Set();
for (const profile of ['whatwg', 'surt'])
  for (const name of around) {
    const labels = characters.map((c) => name(String.fromCodePoint(c)));
    const theirs = program(labels, profile);
    for (const [i, c] of characters.entries()) {
      const ours = host(labels[i], profile);
      if (ours !== null)
        (ours === theirs[i] ? equal[profile] : other).add(c);
    }
  }

let end = 0, begin = -1;
const gaps = [];
for (let c = 0x80; c <= 0x110000; c++) {
  const known = equal.whatwg.has(c) && equal.surt.has(c) && !other.has(c);
  if (known && begin < 0)
    begin = c;
  if (!known && begin >= 0) {
    gaps.push((begin - end).toString(36), (c - begin).toString(36));
    end = c;
    begin = -1;
  }
}

console.log(`/* names.js - which characters of names are known: names-make.mjs has
   written it. */

// For each range: how many are before it, and how many it has; base 36.
export const known =
${gaps.join(' ').match(/.{1,74}(?: |$)/g).map((line) => `  '${line}'`).join(' +\n')};`);
