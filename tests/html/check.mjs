// Opens a report in a browser and checks it: no network requests, no console messages, every picture present, no overlapping
// text, strategies can be switched off, links have targets, accessibility rules (axe) pass. Writes screenshots.
//
//   node tests/html/check.mjs RUN/report.html FOLDER
//
// scripts/check-report.sh installs the modules (playwright-core and axe-core, found in MODULES or the current folder) and
// runs this. CHROMIUM is the browser (default /usr/bin/chromium); CHARTS names the kinds of pictures that must be present.
import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

const modules = createRequire(join(resolve(process.env.MODULES ?? '.'), 'x.js'));
const { chromium } = modules('playwright-core');
const axe = readFileSync(modules.resolve('axe-core/axe.min.js'), 'utf8');
const [file, folder] = process.argv.slice(2);
assert(file && folder, 'usage: check.mjs REPORT FOLDER');
mkdirSync(folder, { recursive: true });
const url = pathToFileURL(resolve(file)).href;

const bytes = statSync(file).size;
assert(bytes < 1_500_000, `the page has ${bytes} bytes`);

/** Pictures: each named once, each with something in it. */
async function pictures(page) {
  const charts = await page.locator('svg.chart:not(.glyph)').evaluateAll((all) =>
    all.map((svg) => ({ id: svg.id, marks: svg.querySelectorAll('.mark').length, label: svg.getAttribute('aria-label') })));
  assert.equal(new Set(charts.map(({ id }) => id)).size, charts.length, 'two pictures of one name');
  for (const { id, marks, label } of charts) assert(id && marks > 0 && label, `nothing in ${id}`);
  for (const start of (process.env.CHARTS ?? 'forest percentiles throughput growth sizes cost').split(' ')) {
    assert(charts.some(({ id }) => id.startsWith(start)), `no picture of ${start}`);
  }
}

/** Ids are unique, and every link within the page has its end. */
async function links(page) {
  const lost = await page.evaluate(() => {
    const ids = [...document.querySelectorAll('[id]')].map((element) => element.id);
    const twice = ids.filter((id, place) => ids.indexOf(id) !== place).map((id) => `two elements are #${id}`);
    const dead = [...document.querySelectorAll('a[href]')].map((link) => link.getAttribute('href'))
      .filter((href) => !ids.includes(href.slice(1))).map((href) => `${href} leads nowhere`);
    return [...twice, ...dead];
  });
  assert.deepEqual(lost, []);
}

/** Within a picture no text leaves it and no two lie on each other; on the page no element is wider than the window. */
async function layout(page) {
  const clashes = await page.evaluate(() => [...document.querySelectorAll('svg.chart:not(.glyph)')].flatMap((svg) => {
    const frame = svg.getBoundingClientRect();
    if (frame.width === 0) return [];
    const texts = [...svg.querySelectorAll('text')].filter((text) => text.textContent.trim());
    const boxes = texts.map((text) => [text.textContent, text.getBoundingClientRect()]);
    const out = boxes.filter(([, box]) => box.left < frame.left - 1 || box.right > frame.right + 1);
    const over = boxes.flatMap(([one, a], place) => boxes.slice(place + 1).filter(([, b]) =>
      Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1 && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 4)
      .map(([other]) => `${svg.id}: "${one}" on "${other}"`));
    return [...out.map(([text]) => `${svg.id}: "${text}" leaves the picture`), ...over];
  }));
  assert.deepEqual(clashes, []);
  const wide = await page.evaluate(() => {
    const width = document.documentElement.clientWidth;
    const scrolls = (element) => element && (['auto', 'scroll', 'hidden'].includes(getComputedStyle(element).overflowX) || scrolls(element.parentElement));
    return [...document.body.querySelectorAll('*')]
      .filter((element) => element.getBoundingClientRect().right > width + 1 && !scrolls(element.parentElement))
      .map((element) => `${element.tagName} ${element.id || element.className} ends at ${element.getBoundingClientRect().right} of ${width}`)
      .concat(document.documentElement.scrollWidth > width ? [`the page is ${document.documentElement.scrollWidth} wide`] : []);
  });
  assert.deepEqual(wide, []);
}

/** Contrast, names and roles, with everything unfolded. */
async function accessibility(page) {
  await page.evaluate(() => document.querySelectorAll('details').forEach((fold) => { fold.open = true; }));
  // The content security policy of the page admits no other script, but the debugger may evaluate one.
  await page.evaluate(axe);
  const { violations } = await page.evaluate(() => window.axe.run(document, { resultTypes: ['violations'] }));
  const severe = violations.filter(({ impact }) => ['serious', 'critical'].includes(impact));
  const problems = severe.map(({ id, help, nodes }) => `${id}: ${help}: ${nodes.slice(0, 3).map((node) => `${node.html.slice(0, 160)} ${node.any[0]?.message ?? ''}`).join('; ')}`);
  assert.deepEqual(problems, []);
  await page.evaluate(() => document.querySelectorAll('details:not([data-open])').forEach((fold) => { fold.open = fold.hasAttribute('data-open'); }));
}

/** Values: under the pointer, and with the arrow keys. */
async function values(page) {
  const chart = page.locator('svg.chart[id^=sizes]').first();
  await chart.focus();
  await page.keyboard.press('ArrowRight');
  assert.match(await page.locator('#tip').innerText(), /all documents: /);
  await page.keyboard.press('Escape');
  assert(await page.locator('#tip').isHidden(), 'the words stay');
  const bar = chart.locator('.mark').first();
  await bar.hover();
  assert(await page.locator('#tip').isVisible(), 'no words under the pointer');
  await page.mouse.move(0, 0);
}

/** A strategy that is switched off is nowhere, the others stay; with a click, and with the keyboard. */
async function switches(page) {
  const visible = (place) => page.locator(`.s${place}`).evaluateAll((all) =>
    all.filter((element) => getComputedStyle(element).display !== 'none').length);
  const [first, second] = [await visible(0), await visible(1)];
  assert(first > 0 && second > 0);
  const toggles = [() => page.locator('label:has(#show-1)').click(), async () => {
    await page.locator('#show-1').focus();
    await page.keyboard.press('Space');
  }];
  for (const toggle of toggles) {
    await toggle();
    assert.equal(await visible(1), 0, 'what is switched off still shows');
    assert.equal(await visible(0), first);
    await toggle();
    assert.equal(await visible(1), second, 'what is switched on again does not show');
  }
}

/** A link into a folded table unfolds it. */
async function folds(page) {
  const link = page.locator('.score tbody a').first();
  if (await link.count() === 0) return;
  await link.click();
  assert(await page.locator('#row-times-0-0').isVisible(), 'the row that a link leads to stays folded');
}

const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args: ['--no-sandbox'] });
const views = [
  { name: 'light', width: 1280, height: 900, colorScheme: 'light' },
  { name: 'dark', width: 1280, height: 900, colorScheme: 'dark' },
  { name: 'phone', width: 390, height: 844, colorScheme: 'light' },
  { name: 'old', width: 1280, height: 900, colorScheme: 'light', isOld: true },
];
for (const { name, width, height, isOld, ...options } of views) {
  const context = await browser.newContext({ viewport: { width, height }, ...options });
  const page = await context.newPage();
  const problems = [];
  page.on('console', (message) => problems.push(`console: ${message.text()}`));
  page.on('dialog', (dialog) => { problems.push(`dialog: ${dialog.message()}`); dialog.dismiss(); });
  page.on('pageerror', (error) => problems.push(`error: ${error.message}`));
  page.on('request', (request) => {
    if (request.url() !== url && !request.url().startsWith('data:')) problems.push(`request: ${request.url()}`);
  });
  await page.addInitScript(() => {
    window.longest = 0;
    new PerformanceObserver((list) => list.getEntries().forEach((task) => { window.longest = Math.max(window.longest, task.duration); }))
      .observe({ type: 'longtask', buffered: true });
  });
  // Simulates a browser without :has(): drops its rules; the script must do their work.
  if (isOld) {
    await page.addInitScript(() => {
      CSS.supports = () => false;
      document.addEventListener('DOMContentLoaded', () => {
        const { sheet } = document.querySelector('style');
        for (let place = sheet.cssRules.length - 1; place >= 0; place -= 1) {
          if (sheet.cssRules[place].selectorText?.includes(':has(')) sheet.deleteRule(place);
        }
      });
    });
  }
  await page.goto(url);
  await page.evaluate(() => document.querySelectorAll('details[open]').forEach((fold) => fold.setAttribute('data-open', '')));
  await page.waitForTimeout(200);
  // Printed, not asserted: test machines are slow.
  console.log(`${name}: the longest task took ${Math.round(await page.evaluate(() => window.longest))} ms`);

  await switches(page);
  if (!isOld) {
    await pictures(page);
    await links(page);
    await layout(page);
    await page.screenshot({ path: join(folder, `${name}.png`) });
    await page.screenshot({ path: join(folder, `${name}-whole.png`), fullPage: true, timeout: 120_000 });
    await values(page);
    await accessibility(page);
    await folds(page);
    if (name === 'light') await page.pdf({ path: join(folder, 'print.pdf'), format: 'A4' });
  }
  assert.deepEqual(problems, [], name);
  await context.close();
}
await browser.close();
console.log(`${file}: ${Math.round(bytes / 1000)} KB, nothing to complain of`);
