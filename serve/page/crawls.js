/* crawls.js - new numbers on the page for operators, without a reload.

   The page is fetched again and compared with the one that is shown, element
   by element. Only what differs is changed, so that scroll position, focus,
   selection and what was typed stay. Elements with data-keep belong to this
   script or to the user and are left alone. */
'use strict';

const EVERY = 2000, PATIENCE = 10000;           /* ms */

const pause = document.getElementById('pause');
const note = document.getElementById('note');
let paused = false, timer = 0;

function say(text) {
    if (note.textContent !== text)
        note.textContent = text;
}

function copyAttributes(from, to) {
    for (const {name} of [...to.attributes])
        if (!from.hasAttribute(name))
            to.removeAttribute(name);
    for (const {name, value} of from.attributes)
        if (to.getAttribute(name) !== value)
            to.setAttribute(name, value);
}

const isAlike = (a, b) => a.nodeType === b.nodeType && a.nodeName === b.nodeName &&
    (a.id || '') === (b.id || '');

/* Make `to` equal to `from`. */
function follow(from, to) {
    if (to.nodeType !== Node.ELEMENT_NODE) {
        if (to.data !== from.data)
            to.data = from.data;
        return;
    }
    if (to.hasAttribute('data-keep'))
        return;
    copyAttributes(from, to);
    const wanted = [...from.childNodes];
    let at = to.firstChild;
    for (const child of wanted) {
        let same = at;
        while (same && !isAlike(child, same))
            same = child.id ? same.nextSibling : null;
        if (!same) {
            to.insertBefore(document.importNode(child, true), at);
            continue;
        }
        while (at !== same) {                   /* what was before it is gone */
            const next = at.nextSibling;
            at.remove();
            at = next;
        }
        follow(child, same);
        at = same.nextSibling;
    }
    while (at) {
        const next = at.nextSibling;
        at.remove();
        at = next;
    }
}

async function update() {
    try {
        const reply = await fetch(location.href, {cache: 'no-store',
            headers: {Accept: 'text/html'}, signal: AbortSignal.timeout(PATIENCE)});
        if (!reply.ok)
            throw new Error(reply.status === 404 ? 'This crawl is gone.'
                : 'The server answers ' + reply.status + '.');
        const fresh = new DOMParser().parseFromString(await reply.text(), 'text/html');
        if (!paused) {
            follow(fresh.getElementById('main'), document.getElementById('main'));
            say('');
        }
    } catch (error) {
        say(error instanceof TypeError || error.name === 'TimeoutError'
            ? 'The server cannot be reached; trying again.' : error.message);
    }
    plan();
}

function plan() {
    clearTimeout(timer);
    if (!paused && !document.hidden)
        timer = setTimeout(update, EVERY);
}

pause.addEventListener('click', () => {
    paused = !paused;
    pause.setAttribute('aria-pressed', paused);
    say(paused ? 'Paused.' : '');
    plan();
});
document.addEventListener('visibilitychange', plan);
pause.hidden = false;
plan();
