/*
 * page.js - ask the server, and show its answers.
 *
 *     ?url=... ──> agg/URL ──> one answer per archive
 *     a list   ──> POST agg, piece by piece ──> counts, table, download
 *     archives ──> the table of archives
 *
 * On a page of `seen publish` a function answers in place of the server:
 * publish/page/published.js.
 *
 * All requests are relative to the page, which may be under any path. Answers
 * of the server are put into the document as text, never as HTML: titles and
 * holders may be written by anyone.
 */
'use strict';

const SHOWN = 300;              /* rows of a long list that the page shows */
const PIECE = 1 << 18;          /* characters of a long list asked at once */
const AGAIN = 3000;             /* ms until a filter that is being checked
                                   is requested again */

const byId = (id) => document.getElementById(id);

/* An element: el('a', {href: './', class: 'x'}, 'text', another). Attributes
   that are null or false are left out, and so are such children. */
function el(name, attributes, ...children) {
    const svg = ['svg', 'rect', 'circle', 'path'].includes(name);
    const it = svg ? document.createElementNS('http://www.w3.org/2000/svg', name)
        : document.createElement(name);
    for (const [key, value] of Object.entries(attributes || {}))
        if (value !== null && value !== undefined && value !== false)
            it.setAttribute(key, value === true ? '' : value);
    it.append(...children.filter((c) => c !== null && c !== undefined && c !== false));
    return it;
}

const small = (text) => el('span', {class: 'small'}, text);

/* --- numbers as people read them --- */

const count = (n) => Math.round(n).toLocaleString('en');

const several = (n, one, many) => count(n) + ' ' + (n === 1 ? one : many);

function percent(share) {
    if (share > 0 && share < 1e-6)
        return '<\u00a00.0001\u00a0%';
    return (share * 100).toLocaleString('en', {maximumSignificantDigits:
        share < 0.1 ? 2 : 3}) + '\u00a0%';
}

function size(bytes) {
    const units = ['bytes', 'kB', 'MB', 'GB', 'TB'];
    let i = 0;
    while (bytes >= 999.5 && i < units.length - 1) {
        bytes /= 1000;
        i++;
    }
    return bytes.toLocaleString('en', {maximumSignificantDigits: 3}) + '\u00a0' + units[i];
}

/* 0.0031 -> "1 in 320": rates are estimates, so two digits are enough. */
function oneIn(rate) {
    return '1 in ' + (1 / rate).toLocaleString('en', {maximumSignificantDigits: 2,
        notation: rate < 1e-6 ? 'compact' : 'standard', compactDisplay: 'long'});
}

const known = (n) => typeof n === 'number' && isFinite(n);

const link = (href) => typeof href === 'string' && /^https?:\/\//i.test(href) ? href : null;

/* --- small drawings --- */

/* A bar of a share of 1, with a tick where a limit is. */
function bar(share, label, tick) {
    const part = Math.max(0, Math.min(1, share)) * 100;
    return el('svg', {class: 'bar', role: 'img', 'aria-label': label,
        viewBox: '0 0 100 12', preserveAspectRatio: 'none'},
    el('rect', {class: 'track', y: 2, width: 100, height: 8}),
    el('rect', {class: 'part', y: 2, width: part > 0 ? Math.max(part, 0.8) : 0, height: 8}),
    known(tick) && el('rect', {class: 'tick', x: tick * 100 - 0.6, width: 1.2, height: 12}));
}

function mark(sign) {
    return el('svg', {class: 'mark', 'aria-hidden': 'true', viewBox: '0 0 20 20'},
        el('circle', {class: 'disc', cx: 10, cy: 10, r: 8.5}),
        el('path', {class: 'sign', d: sign}));
}

/* --- requests to the server --- */

/* An answer of 200, or an Error with a message for people. */
async function ask(path, options) {
    const answer = globalThis.seenAnswer;       /* of a published page */
    let reply;
    try {
        reply = await (answer ? answer(path, options) : fetch(path, options));
    } catch (error) {
        if (error.name === 'AbortError' || answer)
            throw error;
        throw new Error('The server cannot be reached. Is the network up?');
    }
    if (reply.ok)
        return reply;
    let said = null;
    try {
        said = (await reply.json()).error;
    } catch (error) {
        if (error.name === 'AbortError')
            throw error;
    }
    if (reply.status === 414)
        said = 'it is too long';
    const trouble = new Error(said || 'The server answered with status ' + reply.status + '.');
    trouble.status = reply.status;
    throw trouble;
}

/*
 * What was typed, as a URL: a missing scheme is added. "host:80" has no
 * scheme, although it looks so; "dns:host" has one. Throws an Error otherwise.
 */
function toUrl(typed) {
    const text = typed.trim().replace(/\p{Cs}/gu, '\ufffd');
    if (!text)
        throw new Error('Type or paste an address first.');
    if (/^https?:\/\//i.test(text)) {
        if (/^https?:\/\/+([?#]|$)/i.test(text))
            throw new Error('This address has no host, as in http://example.org.');
        return text.replace(/^https?/i, (scheme) => scheme.toLowerCase());
    }
    if (text.startsWith('//'))
        return 'http:' + text;
    if (/^[a-z][a-z0-9+.-]*:(?!\d+([/?#]|$))/i.test(text))
        return text;
    if (/\s/.test(text))
        throw new Error('This is not an address: there is a space in it.');
    if (!/^[^/?#]*[.:]/.test(text) && !/^localhost([/?#]|$)/i.test(text))
        throw new Error('This is not an address: a host has a dot, as in example.org. ' +
            'If it is one, write http://' + text);
    return 'http://' + text;
}

/* --- one address --- */

let asking = null;              /* aborts the running request */

const VERDICT = {
    yes: ['May hold it', 'M6 10.4l2.8 2.8 5.2-6'],
    no: ['Does not hold it', 'M6.5 10h7'],
    unknown: ['Cannot answer', 'M7.8 8a2.3 2.3 0 1 1 2.2 3v.6M10 14.4v.1']
};

function verdict(archive) {
    return archive.seen === true ? 'yes' : archive.seen === false ? 'no' : 'unknown';
}

function doubt(rate) {
    if (!known(rate))
        return null;
    if (rate <= 0)
        return '“May hold” is never wrong here.';
    return '“May hold” is wrong for about ' + oneIn(rate) + ' addresses that it does not hold.';
}

function answerItem(archive) {
    const which = verdict(archive);
    const timemap = link(archive.timemap), timegate = link(archive.timegate);
    const title = archive.title || archive.name;
    const notes = [];
    if (which === 'yes')
        notes.push(doubt(archive.rate));
    if (which === 'unknown')
        notes.push(archive.why || (archive.state === 'withdrawn' ? 'Its filter was withdrawn.'
            : 'Its filter is not ready.'));
    else if (archive.state === 'checking')
        notes.push('Its filter is still being checked.');
    return el('li', {class: which},
        el('p', {class: 'verdict'}, mark(VERDICT[which][1]), el('span', null, VERDICT[which][0])),
        el('div', null, el('h3', null, title),
            el('p', {class: 'small'}, notes.filter(Boolean).map((note) => note + ' ').join(''),
                archive.as_of && el('span', {class: 'date'}, 'As of ' + archive.as_of + '.'))),
        which === 'yes' && (timemap || timegate) && el('p', {class: 'links'},
            timemap && el('a', {href: timemap, rel: 'noreferrer',
                'aria-label': 'TimeMap of ' + title}, 'TimeMap'),
            timegate && el('a', {href: timegate, rel: 'noreferrer',
                'aria-label': 'Newest capture of ' + title}, 'Newest capture')));
}

function showAnswer(answer) {
    const rank = {yes: 0, unknown: 1, no: 2};
    const archives = answer.archives.slice()
        .sort((a, b) => rank[verdict(a)] - rank[verdict(b)]);
    const held = archives.filter((a) => a.seen === true).length;
    const mute = archives.filter((a) => verdict(a) === 'unknown').length;
    let text = 'No archive holds ';
    if (held)
        text = count(held) + ' of ' + several(archives.length, 'archive', 'archives') + ' may hold ';
    else if (mute && mute === archives.length)
        text = 'No archive can answer for ';
    else if (mute)
        text = 'None of the archives that can answer holds ';
    byId('summary').replaceChildren(el('p', {class: 'summary'}, text,
        el('span', {class: 'url'}, answer.url)));
    byId('answers').replaceChildren(...archives.map(answerItem));
    byId('answers').hidden = !archives.length;
}

function showFault(field, message) {
    byId(field + '-error').textContent = message;
    if (message)
        byId(field).setAttribute('aria-invalid', 'true');
    else
        byId(field).removeAttribute('aria-invalid');
}

function clearAnswer() {
    if (asking)
        asking.abort();
    asking = null;
    showFault('url', '');
    byId('summary').replaceChildren();
    byId('answers').replaceChildren();
    byId('answers').hidden = true;
    document.title = 'Have we seen this URL?';
}

async function askOne(url) {
    clearAnswer();
    const mine = asking = new AbortController();
    document.title = url + ' - have we seen it?';
    const patience = setTimeout(() => byId('summary').replaceChildren(
        el('p', {class: 'small'}, 'Asking…')), 400);
    try {
        const web = /^https?:/.test(url);
        const reply = await ask((web ? 'agg/' : 'agg/?url=') + encodeURIComponent(url),
            {headers: {Accept: 'application/json'}, signal: mine.signal});
        const answer = await reply.json();
        if (asking === mine)
            showAnswer(answer);
    } catch (error) {
        if (asking !== mine || error.name === 'AbortError')
            return;
        byId('summary').replaceChildren();
        showFault('url', error.status === 400 || error.status === 414
            ? 'This is not an address that can be looked up: ' + error.message : error.message);
    } finally {
        clearTimeout(patience);
    }
}

/*
 * The URL in the address of this page. If it was typed by hand,
 * ?url=http://x/?a&b, it reaches to the end; what we write is encoded.
 */
function questionHere() {
    const raw = /^\?url=(https?:\/\/.*)$/i.exec(location.search);
    return raw ? raw[1] : new URLSearchParams(location.search).get('url') || '';
}

function followAddress() {
    const typed = questionHere();
    clearAnswer();
    byId('url').value = typed;
    if (!typed)
        return;
    try {
        askOne(toUrl(typed));
    } catch (error) {
        showFault('url', error.message);
    }
}

function submitOne(event) {
    event.preventDefault();
    const field = byId('url');
    let url;
    try {
        url = toUrl(field.value);
    } catch (error) {
        clearAnswer();
        showFault('url', error.message);
        field.focus();
        return;
    }
    field.value = url;
    const here = '?url=' + encodeURIComponent(url);
    if (here === location.search)
        history.replaceState(null, '', here);
    else
        history.pushState(null, '', here);
    askOne(url);
}

/* A list pasted where one address is asked for goes to the box for lists. */
function pasteOne(event) {
    const lines = event.clipboardData.getData('text').trim();
    if (!/\n/.test(lines))
        return;
    event.preventDefault();
    byId('urls').value = lines;
    byId('urls').focus();
}

/* --- many addresses --- */

let archives = [];              /* as the server lists them */
let list = null;                /* a File that was chosen or dropped */
let run = null;                 /* aborts the running list */
let saved = null;               /* the address of the download */

function chooseFile(file) {
    list = file || null;
    byId('chosen').hidden = !list;
    byId('chosen-name').textContent = list ? list.name + ', ' + size(list.size) : '';
    byId('urls').readOnly = Boolean(list);
    showFault('urls', '');
    if (!list)
        byId('file').value = '';
}

/* The lines of a text or a File as [lines, share read], in pieces of whole
   lines. A line is {url, good}; those without a scheme get one, empty ones are
   left out. A line that the form for one address refuses is not good: the
   server is not asked, since some profiles accept any text. */
async function* pieces(source) {
    const whole = (lines) => lines.map((line) => line.trim()).filter(Boolean)
        .map((line) => {
            try {
                return {url: toUrl(line), good: true};
            } catch (error) {
                return {url: line.replace(/\t/g, ' '), good: false};
            }
        });
    const decoder = new TextDecoder();
    const blob = new Blob([source]);
    let rest = '';
    for (let at = 0; at < blob.size; at += PIECE) {
        const bytes = await blob.slice(at, at + PIECE).arrayBuffer();
        const lines = (rest + decoder.decode(bytes, {stream: true})).split(/\r\n|\r|\n/);
        rest = lines.pop();
        if (rest.length > 4 * PIECE)
            throw new Error('This is not a list of addresses: a line is very long.');
        yield [whole(lines), Math.min(1, (at + PIECE) / blob.size)];
    }
    yield [whole([rest + decoder.decode()]), 1];
}

function emptyTally() {
    return {asked: 0, held: 0, bad: 0, unknown: 0, by: new Map(), mute: new Map(),
        rows: [], parts: []};
}

/* Count one answer: the archives that may hold it, and those that cannot
   answer. */
function addRow(tally, held, mute, url) {
    const names = (text) => text === '-' || text === '!' ? [] : text.split(',');
    const add = (to, name) => to.set(name, (to.get(name) || 0) + 1);
    if (tally.rows.length < SHOWN)
        tally.rows.push([held, mute, url]);
    tally.asked++;
    if (held === '!')
        tally.bad++;
    else if (held !== '-')
        tally.held++;
    else if (mute !== '-')
        tally.unknown++;
    names(held).forEach((name) => add(tally.by, name));
    names(mute).forEach((name) => add(tally.mute, name));
}

/* The answers of the server to the good lines of a piece. */
function addToTally(tally, lines, text) {
    const answers = text.split('\n');
    const expected = lines.filter((line) => line.good).length;
    if (answers[answers.length - 1] === '')
        answers.pop();
    if (answers.length !== expected)
        throw new Error('The server answered for ' + count(answers.length) + ' of ' +
            several(expected, 'address', 'addresses') + '.');
    let at = 0, part = '';
    for (const line of lines) {
        const answer = line.good ? answers[at++] : '!\t-\t' + line.url;
        const [held, mute] = answer.split('\t', 2);
        addRow(tally, held, mute, answer.slice(held.length + mute.length + 2));
        part += answer + '\n';
    }
    tally.parts.push(part);
}

const notHeld = (tally) => tally.asked - tally.held - tally.bad - tally.unknown;

function countRow(label, n, tally) {
    return el('tr', null, el('th', {scope: 'row'}, label),
        el('td', {class: 'number'}, n === null ? '–' : count(n)),
        el('td', {class: 'chart'}, n === null ? 'Cannot answer'
            : bar(n / tally.asked, percent(n / tally.asked) + ' of the list')));
}

function countsTable(tally) {
    const both = (a) => a.title ? el('span', null, a.title + ' ', small(a.name)) : a.name;
    const answered = (a) => tally.asked - tally.bad > (tally.mute.get(a.name) || 0);
    const rows = archives.map((a) => countRow(both(a),
        answered(a) ? tally.by.get(a.name) || 0 : null, tally));
    for (const [name, n] of tally.by)
        if (!archives.some((a) => a.name === name))
            rows.push(countRow(name, n, tally));
    rows.push(countRow('No archive', notHeld(tally), tally));
    if (tally.unknown)
        rows.push(countRow('Unknown: some cannot answer', tally.unknown, tally));
    if (tally.bad)
        rows.push(countRow('Not an address', tally.bad, tally));
    return el('table', {class: 'counts'}, el('caption', null, 'How many each may hold'),
        el('thead', null, el('tr', null, el('th', {scope: 'col'}, 'Archive'),
            el('th', {scope: 'col', class: 'number'}, 'Count'),
            el('th', {scope: 'col', class: 'chart'}, 'Share'))),
        el('tbody', null, ...rows));
}

function rowsTable(tally) {
    const list = (names) => names.split(',').join(', ');
    const say = (held, mute) => held === '!' ? 'not an address' : held !== '-' ? list(held)
        : mute !== '-' ? 'unknown' : 'no archive';
    const muted = tally.mute.size > 0;
    const all = tally.rows.length === tally.asked;
    const title = all ? 'All answers' : 'The first ' + count(tally.rows.length) + ' of ' +
        count(tally.asked) + ' answers';
    return el('div', {class: 'scroll', role: 'region', tabindex: 0, 'aria-label': title},
        el('table', null, el('caption', {class: 'unseen'}, title),
            el('thead', null, el('tr', null, el('th', {scope: 'col'}, 'Address'),
                el('th', {scope: 'col'}, 'May be held by'),
                muted && el('th', {scope: 'col'}, 'Cannot answer'))),
            el('tbody', null, ...tally.rows.map(([held, mute, url]) => el('tr', null,
                el('th', {scope: 'row'}, url), el('td', null, say(held, mute)),
                muted && el('td', null, mute === '-' ? '' : list(mute)))))));
}

function showTally(tally, ending) {
    byId('many').classList.toggle('asked', tally.asked > 0);
    if (!tally.asked) {
        byId('bulk-summary').replaceChildren(el('p', null, ending));
        return;
    }
    byId('bulk-summary').replaceChildren(el('p', {class: 'summary'}, ending,
        several(tally.asked, 'address', 'addresses') + ' asked: ' + count(tally.held) +
        ' may be held, ' + count(notHeld(tally)) + ' not' +
        (tally.unknown ? ', ' + count(tally.unknown) + ' unknown' : '') +
        (tally.bad ? ', ' + several(tally.bad, 'is not an address', 'are not addresses') : '') + '.'));
    if (saved)
        URL.revokeObjectURL(saved);
    saved = URL.createObjectURL(new Blob(tally.parts, {type: 'text/tab-separated-values'}));
    byId('bulk-tables').replaceChildren(
        el('p', {class: 'download'}, el('a', {id: 'download', href: saved,
            download: 'seen-answers.tsv'}, 'Download all answers'),
        ' (TSV: archives that may hold it, archives that cannot answer, the address)'),
        countsTable(tally), rowsTable(tally));
    byId('bulk-tables').hidden = false;
}

async function submitMany(event) {
    event.preventDefault();
    const source = list || byId('urls').value;
    if (run)
        return;
    showFault('urls', '');
    if (!list && !source.trim()) {
        showFault('urls', 'Paste some addresses, or choose a file.');
        byId('urls').focus();
        return;
    }
    const mine = run = new AbortController();
    const tally = emptyTally();
    let ending = '';
    byId('bulk-tables').hidden = true;
    byId('bulk-summary').replaceChildren();
    byId('progress').value = 0;
    byId('running-text').textContent = '';
    byId('running').hidden = false;
    try {
        for await (const [lines, share] of pieces(source)) {
            const urls = lines.filter((line) => line.good).map((line) => line.url);
            let text = '';
            if (urls.length) {
                const reply = await ask('agg', {method: 'POST', signal: mine.signal,
                    headers: {'Content-Type': 'text/plain;charset=utf-8',
                        Accept: 'text/tab-separated-values'},
                    body: urls.join('\n') + '\n'});
                text = await reply.text();
            }
            if (lines.length)
                addToTally(tally, lines, text);
            byId('progress').value = share;
            byId('running-text').textContent = several(tally.asked, 'address', 'addresses') + ' asked';
        }
    } catch (error) {
        ending = 'Stopped. ';
        if (error.name !== 'AbortError')
            showFault('urls', error.name === 'NotReadableError' || error.name === 'NotFoundError'
                ? 'The file cannot be read.' : error.message);
    }
    const focused = byId('running').contains(document.activeElement);
    byId('running').hidden = true;
    run = null;
    showTally(tally, ending);
    if (focused)
        byId('urls').focus();
}

/* --- the archives --- */

/* A cell shows its label itself where the head of the table is hidden. */
function cell(label, kind, ...children) {
    return el('td', {role: 'cell', class: kind, 'data-label': label}, el('div', null, ...children));
}

function stateOf(archive) {
    if (archive.state === 'withdrawn' || archive.state === 'away')
        return archive.state + (archive.why ? ': ' + archive.why : '');
    return archive.state === 'checking' ? 'being checked' : null;
}

function rateCell(a) {
    if (!known(a.rate))
        return cell('Rate now', 'chart', '–');
    const planned = known(a.planned_rate) && a.planned_rate > 0 ? a.planned_rate : null;
    const above = planned && a.rate > planned * 1.005;
    const scale = planned && Math.max(planned * 1.25, a.rate);
    return cell('Rate now', 'chart', percent(a.rate),
        planned && bar(a.rate / scale, 'Rate now ' + percent(a.rate) + ', planned ' +
            percent(planned), planned / scale),
        planned && small((above ? 'above the ' : 'of ') + percent(planned) + ' planned'));
}

function roomCell(a) {
    if (!known(a.room))
        return cell('Room left', 'chart', known(a.capacity) ? 'grows as needed' : '–');
    if (/(^|\/)(fuse|ribbon|shards)/.test(a.kind))
        return cell('Room left', 'chart', 'made once');
    return cell('Room left', 'chart', a.room > 0 ? count(a.room) : 'full',
        a.capacity > 0 && bar(a.room / a.capacity, 'Room left: ' + percent(a.room / a.capacity)),
        a.capacity > 0 && small('of ' + count(a.capacity)));
}

function archiveRow(a, {load, room}) {
    const state = stateOf(a);
    return el('tr', {role: 'row'},
        el('th', {scope: 'row', role: 'rowheader'}, el('b', null, a.title || a.name),
            small([a.holder, a.title && a.name, a.kind, a.profile].filter(Boolean).join(' · ')),
            a.file && el('span', {class: 'small'}, ' · ', el('a', {href: a.file, download: true,
                'aria-label': 'Filter of ' + (a.title || a.name)}, 'filter')),
            state && el('div', null, el('span', {class: 'state'}, state))),
        cell('As of', null, a.as_of || '–'),
        cell('Entries', 'number', known(a.entries) ? count(a.entries) : '–'),
        cell('Size', 'number', known(a.bytes) ? size(a.bytes) : '–'),
        load && (known(a.load)
            ? cell('Load', 'chart', percent(a.load), bar(a.load, 'Load ' + percent(a.load)))
            : cell('Load', 'chart', '–')),
        rateCell(a), room && roomCell(a));
}

function showArchives() {
    if (!archives.length) {
        byId('archives-table').replaceChildren(el('p', null, 'This server has no archives yet.'));
        return;
    }
    /* Columns that no archive fills are left out: filters that lie elsewhere
       have no load. */
    const some = {load: archives.some((a) => known(a.load)),
        room: archives.some((a) => known(a.room) || known(a.capacity))};
    const columns = {Archive: null, 'As of': null, Entries: 'number', Size: 'number',
        ...some.load && {Load: null}, 'Rate now': null, ...some.room && {'Room left': null}};
    byId('archives-table').replaceChildren(el('table', {class: 'cards', role: 'table',
        'aria-labelledby': 'archives-title'},
    el('thead', {role: 'rowgroup'}, el('tr', {role: 'row'}, 
        ...Object.entries(columns).map(([name, kind]) =>
            el('th', {scope: 'col', role: 'columnheader', class: kind}, name)))),
    el('tbody', {role: 'rowgroup'}, ...archives.map((a) => archiveRow(a, some)))));
}

async function loadArchives(before) {
    let text = before;
    try {
        text = await (await ask('archives', {headers: {Accept: 'application/json'}})).text();
        if (text !== before) {
            const listed = JSON.parse(text);
            archives = listed.archives;
            byId('version').textContent = 'seen ' + listed.version;
            byId('to-search').hidden = !listed.search;
            byId('to-crawls').hidden = !listed.crawls;
            showArchives();
        }
        byId('archives-status').replaceChildren();
    } catch (error) {
        byId('archives-status').replaceChildren(el('p', null, error.message));
    }
    if (archives.some((a) => a.state === 'checking'))
        setTimeout(loadArchives, AGAIN, text);
}

/* --- events --- */

byId('ask').addEventListener('submit', submitOne);
byId('url').addEventListener('paste', pasteOne);
byId('url').addEventListener('input', () => showFault('url', ''));
byId('url').addEventListener('keydown', (event) => {
    if (event.key !== 'Escape')
        return;
    event.preventDefault();
    clearAnswer();
    byId('url').value = '';
});

byId('bulk').addEventListener('submit', submitMany);
byId('urls').addEventListener('input', () => showFault('urls', ''));
byId('urls').addEventListener('keydown', (event) => {
    if (event.key === 'Enter' && (event.ctrlKey || event.metaKey))
        byId('bulk').requestSubmit();
});
byId('many').addEventListener('keydown', (event) => {
    if (event.key === 'Escape' && run)
        run.abort();
});
byId('stop').addEventListener('click', () => run && run.abort());
byId('discard').addEventListener('click', () => {
    chooseFile(null);
    byId('urls').focus();
});
byId('file').addEventListener('change', (event) => chooseFile(event.target.files[0]));
for (const name of ['dragenter', 'dragover', 'dragleave', 'drop'])
    byId('bulk').addEventListener(name, (event) => {
        if (!event.dataTransfer.types.includes('Files'))
            return;
        event.preventDefault();
        byId('urls').classList.toggle('over', name === 'dragenter' || name === 'dragover');
        if (name === 'drop')
            chooseFile(event.dataTransfer.files[0]);
    });

window.addEventListener('popstate', followAddress);
for (const it of document.querySelectorAll('.scripted'))
    it.hidden = false;
followAddress();
loadArchives();
