/*
 * package_test.mjs - what the package has: small, typed, without dependencies.
 */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import test from 'node:test';
import { brotliCompressSync } from 'node:zlib';

const folder = process.env.SEEN_JS ?? `${process.cwd()}/build/js`;
const module = await import(`file://${folder}/seen.js`);

test('at most 60 kB compressed', () => {
  const files = ['seen.wasm', ...readdirSync(folder).filter((n) =>
    n.endsWith('.js'))];
  const size = files.reduce((sum, name) =>
    sum + brotliCompressSync(readFileSync(`${folder}/${name}`)).length, 0);
  assert.ok(size <= 60000, `${size} bytes`);
});

test('the types name what is exported, and nothing else', () => {
  const types = readFileSync(`${folder}/seen.d.ts`, 'utf8');
  const named = [...types.matchAll(/^export (?:const|class|function) (\w+)/gm)];
  assert.deepEqual(named.map((found) => found[1]).sort(),
                   Object.keys(module).sort());
  for (const name of ['Filter', 'FarFilter']) {
    const body = new RegExp(`class ${name} \\{([^}]*)\\}`).exec(types)[1];
    const members = [...body.matchAll(/^  (?:readonly )?(\w+)[(:]/gm)]
      .map((found) => found[1]);
    for (const member of Object.getOwnPropertyNames(module[name].prototype))
      if (!['constructor', 'open'].includes(member))
        assert.ok(members.includes(member), `${name}.${member}`);
  }
});

test('no dependencies, and imports of its own files only', () => {
  const it = JSON.parse(readFileSync(`${folder}/package.json`));
  assert.equal(it.dependencies, undefined);
  assert.match(it.version, /^\d+\.\d+\.\d+/);
  for (const name of readdirSync(folder).filter((n) => n.endsWith('.js')))
    for (const [, from] of readFileSync(`${folder}/${name}`, 'utf8')
      .replace(/^\/\*[^]*?\*\//, '').matchAll(/\b(?:from|import\(.*?) '([^']+)'/g))
      assert.match(from, /^\.\/\w+\.js$|^node:fs\/promises$/);
});

test('the module needs nothing but what seen.js gives it', () => {
  const wasm = new WebAssembly.Module(readFileSync(`${folder}/seen.wasm`));
  for (const { module: from, name } of WebAssembly.Module.imports(wasm))
    assert.match(`${from}.${name}`, /^host\.\w+$|^env\.(exp|log|pow|expm1|log1p)$/);
});
