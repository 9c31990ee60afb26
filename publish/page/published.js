/*
 * published.js - answer the page's questions here, without a server.
 *
 *     page.js ──> agg/URL, agg, archives ──> this file ──> seen.js ──> filters
 *
 * The page is that of `seen serve`, and asks as it asks there (doc/protocol.md).
 * What it asks for stays in the browser: of filters only blocks of 64 KiB are
 * fetched, or whole files if a list needs most of them. filters.json says which
 * filters there are.
 */
import { NOT_A_URL, YES, NO, ask, open } from './seen.js';

const here = new URL('../', import.meta.url);
const AT_ONCE = 4;              /* filters that are opened together */
const WHOLE = 512 << 20;        /* bytes of a file that is fetched as a whole */
const BLOCK = 65536;

/* Each: {name, path, length, filter, whole, why}. */
const archives = [];
const ready = start();

function address(path) {
    return new URL(path.split('/').map(encodeURIComponent).join('/'), here);
}

async function openOne(archive) {
    try {
        archive.filter = await ask(address(archive.path));
        archive.info = archive.filter.info;
    } catch (error) {
        archive.why = error instanceof TypeError ? 'it cannot be fetched' : error.message;
    }
}

async function start() {
    const answer = await fetch(new URL('filters.json', here), {cache: 'no-cache'});
    if (!answer.ok)
        throw new Error('The list of filters cannot be fetched.');
    const list = await answer.json();
    document.getElementById('version').textContent = 'seen ' + list.version;
    for (const {path, length} of list.filters)
        archives.push({name: path.replace(/\.seen$/, ''), path, length});
    const waiting = archives.slice();
    const work = async () => {
        for (let archive; (archive = waiting.shift());)
            await openOne(archive);
    };
    await Promise.all(Array.from({length: AT_ONCE}, work));
    return list;
}

function stop(signal) {
    if (signal?.aborted)
        throw new DOMException('stopped', 'AbortError');
}

/* Ask one archive; null for what it cannot answer. */
async function askArchive(archive, urls) {
    if (!archive.info)
        return urls.map(() => null);
    try {
        if (!archive.whole && urls.length * BLOCK > archive.length / 2 &&
            archive.length <= WHOLE && urls.length > 1) {
            const answer = await fetch(address(archive.path));
            if (answer.ok)
                archive.whole = await open(await answer.arrayBuffer());
        }
        const found = await (archive.whole ?? archive.filter).hasMany(urls);
        archive.why = null;
        return [...found];
    } catch (error) {
        archive.why = error instanceof TypeError ? 'it cannot be fetched' : error.message;
        return urls.map(() => null);
    }
}

const whyUnknown = (archive, answer) => archive.why ||
    (answer === NOT_A_URL ? 'it does not accept this URL'
        : answer === null ? 'it could not be asked'
            : 'this page cannot tell how it files this address');

const json = (value, status = 200) => new Response(JSON.stringify(value), {status});

/* As the server fills the templates of archives. */
const fill = (template, url) => template && (template.includes('{url}')
    ? template.replace('{url}', () => url) : template + url);

async function askOne(url, signal) {
    const answers = [];
    for (const archive of archives) {
        stop(signal);
        const [answer] = await askArchive(archive, [url]);
        const {title, 'as-of': as_of, timemap, timegate} = archive.info?.meta ?? {};
        const known = answer === YES || answer === NO;
        answers.push({name: archive.name, title, as_of, rate: archive.info?.rate, answer,
            seen: known ? answer === YES : null,
            why: known ? undefined : whyUnknown(archive, answer),
            timemap: fill(timemap, url), timegate: fill(timegate, url)});
    }
    if (answers.length && answers.every(({answer}) => answer === NOT_A_URL))
        return json({error: 'no archive accepts it'}, 400);
    return json({url, archives: answers});
}

async function askMany(text, signal) {
    const urls = text.split('\n').slice(0, -1);
    const columns = [];
    for (const archive of archives) {
        stop(signal);
        columns.push(await askArchive(archive, urls));
    }
    const names = (i, is) => archives.filter((_, a) => is(columns[a][i]))
        .map((archive) => archive.name).join(',') || '-';
    return new Response(urls.map((url, i) => {
        if (archives.length && columns.every((column) => column[i] === NOT_A_URL))
            return '!\t-\t' + url + '\n';
        return names(i, (answer) => answer === YES) + '\t' +
            names(i, (answer) => answer !== YES && answer !== NO) + '\t' + url + '\n';
    }).join(''));
}

function listAll(version) {
    return json({version, archives: archives.map(({name, path, info, why}) => ({
        name, file: address(path).href, state: info ? 'ready' : 'away', why,
        title: info?.meta.title, holder: info?.meta.holder, as_of: info?.meta['as-of'],
        kind: info?.kind ?? '', profile: info?.profile, entries: info?.entries,
        bytes: info?.bytes, rate: info?.rate, planned_rate: info?.plannedRate}))});
}

/* What page.js calls instead of fetch(). */
globalThis.seenAnswer = async (path, {method, body, signal} = {}) => {
    const list = await ready;
    stop(signal);
    if (path === 'archives')
        return listAll(list.version);
    if (method === 'POST')
        return askMany(body, signal);
    return askOne(decodeURIComponent(path.replace(/^agg\/(\?url=)?/, '')), signal);
};
