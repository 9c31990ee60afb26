/*
 * ask.mjs - ask all filters of a folder for the URLs of its file "urls".
 *
 *     node ask.mjs FOLDER >answers
 *
 * A line of JSON per *.seen: its name, and either the answers as a string of
 * digits, or the code and words of the refusal.
 */
import { readdirSync, readFileSync } from 'node:fs';

const js = `file://${process.env.SEEN_JS}`;
const { open, SeenError } = await import(`${js}/seen.js`);

const folder = process.argv[2];
const urls = readFileSync(`${folder}/urls`, 'utf8').trim().split('\n');
for (const name of readdirSync(folder).filter((n) => n.endsWith('.seen'))) {
  try {
    const filter = await open(readFileSync(`${folder}/${name}`),
                              { cost: 1e9 });
    console.log(JSON.stringify([name, filter.hasMany(urls).join('')]));
  } catch (error) {
    if (!(error instanceof SeenError))
      throw error;
    console.log(JSON.stringify([name, null, error.code, error.message]));
  }
}
