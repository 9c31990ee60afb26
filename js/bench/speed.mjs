/*
 * speed.mjs - questions per second of CPU time, on a filter in memory.
 *
 *     node js/bench/speed.mjs build/js filter.seen ...
 *
 * 200,000 URLs of 67 bytes that the filter does not have, and as many keys; the
 * best of 15 rounds.
 */
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';

const [folder, ...files] = process.argv.slice(2);
const { open } = await import(`file://${resolve(folder)}/seen.js`);
const N = 200000;
const urls = Array.from({ length: N }, (_, i) => `http://www.site${i % 977
  }.example/some/path/of/pages/page-${String(i).padStart(6, '0')}.html?x=1`);
const keys = BigUint64Array.from({ length: 2 * N }, (_, i) =>
  BigInt.asUintN(64, BigInt(i + 1) * 0x9e3779b97f4a7c15n));

function best(work) {
  let least = Infinity;
  for (let round = 0; round < 15; round++) {
    const before = process.cpuUsage();
    work();
    const { user, system } = process.cpuUsage(before);
    least = Math.min(least, user + system);
  }
  return (N / least).toFixed(1);
}

for (const file of files) {
  const filter = await open(readFileSync(file));
  let asked = '-';
  try {
    asked = best(() => filter.hasKeys(keys));
  } catch { /* it hashes texts by itself */ }
  console.log(`${filter.info.kind} ${filter.info.profile}: ${
    best(() => filter.hasMany(urls))} million URLs, ${asked} million keys`);
}
