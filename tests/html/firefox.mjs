// Opens pages in Debian's Firefox: no console messages, contents, switches, address, tables and the what-if work. It covers a second
// engine, and less than check.mjs: no axe, no layout of text, no print.
//
//   node --experimental-websocket tests/html/firefox.mjs FOLDER PAGE...     for screenshots in FOLDER
//
// Speaks WebDriver BiDi itself: the Firefox of playwright is a build of its own. FIREFOX is the browser (default firefox-esr).
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

const [folder, ...pages] = process.argv.slice(2);
assert(folder && pages.length > 0, 'usage: firefox.mjs FOLDER PAGE...');
const profile = mkdtempSync(join(tmpdir(), 'docshape-firefox-'));
const browser = spawn(process.env.FIREFOX ?? 'firefox-esr', ['--headless', '--no-remote', '--remote-debugging-port=0', '--profile', profile]);

const address = await new Promise((found, fail) => {
  let text = '';
  browser.stderr.on('data', (data) => {
    text += data;
    const line = /WebDriver BiDi listening on (ws:\S+)/.exec(text);
    if (line) found(line[1]);
  });
  browser.on('exit', () => fail(new Error(`Firefox ended: ${text}`)));
});
const socket = new WebSocket(`${address}/session`);
await new Promise((open, fail) => { socket.onopen = open; socket.onerror = () => fail(new Error('no connection to Firefox')); });

const waiting = new Map();
let logged = [];
socket.onmessage = ({ data }) => {
  const { id, method, params, ...reply } = JSON.parse(data);
  if (method === 'log.entryAdded') logged.push(`${params.level}: ${params.text}`);
  waiting.get(id)?.(reply);
};
let calls = 0;
const send = async (method, params = {}) => {
  calls += 1;
  const id = calls;
  const reply = await new Promise((done) => {
    waiting.set(id, done);
    socket.send(JSON.stringify({ id, method, params }));
  });
  assert(!reply.error, `${method}: ${reply.message}`);
  return reply.result;
};

await send('session.new', { capabilities: {} });
await send('session.subscribe', { events: ['log.entryAdded'] });
const [{ context }] = (await send('browsingContext.getTree')).contexts;
const open = (url) => send('browsingContext.navigate', { context, url, wait: 'complete' });
/** Runs a function in the page. */
const run = async (work) => {
  const { result, exceptionDetails } = await send('script.evaluate', {
    expression: `(async () => JSON.stringify(await (${work})()))()`, target: { context }, awaitPromise: true, userActivation: true,
  });
  assert(!exceptionDetails, exceptionDetails?.text);
  return result.value === undefined ? undefined : JSON.parse(result.value);
};
const screenshot = async (name) => {
  const { data } = await send('browsingContext.captureScreenshot', { context });
  writeFileSync(join(folder, `firefox-${name}.png`), Buffer.from(data, 'base64'));
};

for (const page of pages) {
  const [url, name] = [pathToFileURL(resolve(page)).href, basename(page, '.html')];
  for (const [width, height] of [[1280, 900], [390, 844]]) {
    await send('browsingContext.setViewport', { context, viewport: { width, height } });
    await open(url);
    await screenshot(`${name}-${width}`);
    assert.equal(await run(() => document.documentElement.scrollWidth > document.documentElement.clientWidth), false, 'the page is too wide');
  }
  await send('browsingContext.setViewport', { context, viewport: { width: 1280, height: 900 } });
  await open(url);
  const found = await run(() => {
    const isShown = (element) => element.getClientRects().length > 0;
    const box = document.querySelector('#show-1');
    if (box) box.click();
    const panel = document.querySelector('.what-if');
    const sliders = panel ? [...panel.querySelectorAll('input')] : [];
    sliders.forEach((slider, place) => {
      slider.value = place === 0 ? 50 : 0;
      slider.dispatchEvent(new Event('input', { bubbles: true }));
    });
    return {
      rail: !document.querySelector('.rail') || isShown(document.querySelector('.rail')),
      tools: document.querySelectorAll('.tools').length === document.querySelectorAll('.scroll table').length,
      off: !box || [...document.querySelectorAll('section .s1')].every((element) => !isShown(element)),
      output: sliders.length > 0 ? panel.querySelector('output').textContent : '100 %',
      query: location.search,
      isRun: box !== null,
    };
  });
  assert.deepEqual([found.rail, found.tools, found.off, found.output], [true, true, true, '100 %'], JSON.stringify(found));
  if (found.isRun) {
    assert.match(found.query, /off=/, 'the address does not keep what is switched off');
    await open(url + found.query);
    assert.equal(await run(() => document.querySelector('#show-1').checked), false);
  }
  assert.deepEqual(logged, [], page);
  logged = [];
}
socket.close();
browser.removeAllListeners('exit');
browser.on('exit', () => rmSync(profile, { recursive: true, force: true }));
browser.kill();
console.log(`Firefox: ${pages.length} pages, nothing to complain of`);
