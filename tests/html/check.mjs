// Opens a report in a browser: nothing is fetched, nothing is complained of, every picture is there, strategies can be
// switched off. Writes screenshots for the eye. Run by hand:
//
//   npm install --no-save playwright-core && node tests/html/check.mjs RUN/report.html FOLDER
//
// It takes CHROMIUM, or /usr/bin/chromium.
import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

const { chromium } = createRequire(join(process.cwd(), 'x.js'))('playwright-core');
const [file, folder] = process.argv.slice(2);
assert(file && folder, 'usage: check.mjs REPORT FOLDER');
mkdirSync(folder, { recursive: true });
const url = pathToFileURL(resolve(file)).href;

const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args: ['--no-sandbox'] });
const views = [
  { name: 'light', width: 1200, height: 900, colorScheme: 'light' },
  { name: 'dark', width: 1200, height: 900, colorScheme: 'dark' },
  { name: 'phone', width: 390, height: 844, colorScheme: 'light' },
];
for (const { name, width, height, ...options } of views) {
  const context = await browser.newContext({ viewport: { width, height }, ...options });
  const page = await context.newPage();
  const problems = [];
  page.on('console', (message) => problems.push(`console: ${message.text()}`));
  page.on('pageerror', (error) => problems.push(`error: ${error.message}`));
  page.on('request', (request) => {
    if (request.url() !== url && !request.url().startsWith('data:')) problems.push(`request: ${request.url()}`);
  });
  await page.goto(url);

  // Pictures: each named once, each with something in it, none wider than the page.
  const charts = await page.locator('svg.chart:not(.glyph)').evaluateAll((all) =>
    all.map((svg) => ({ id: svg.id, marks: svg.querySelectorAll('.mark').length, label: svg.getAttribute('aria-label') })));
  assert(charts.length > 0, 'no picture');
  assert.equal(new Set(charts.map(({ id }) => id)).size, charts.length, 'two pictures of one name');
  for (const { id, marks, label } of charts) assert(id && marks > 0 && label, `nothing in ${id}`);
  for (const start of (process.env.CHARTS ?? 'forest percentiles throughput growth sizes cost').split(' ')) {
    assert(charts.some(({ id }) => id.startsWith(start)), `no picture of ${start}`);
  }
  const overflow = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
  assert(overflow <= 0, `${name}: ${overflow} px wider than the window`);

  await page.screenshot({ path: join(folder, `${name}.png`), fullPage: true, timeout: 120_000 });

  // Within a picture no text leaves it, and no two texts lie on each other.
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
  assert.deepEqual(clashes, [], name);

  // Values: under the pointer, and with the arrow keys.
  const chart = page.locator('svg.chart[id^=percentiles]').first();
  await chart.focus();
  await page.keyboard.press('ArrowRight');
  assert.match(await page.locator('#tip').innerText(), /p50 .* is /);
  await page.screenshot({ path: join(folder, `${name}-tip.png`) });
  await page.keyboard.press('Escape');
  assert(await page.locator('#tip').isHidden(), 'the words stay');

  // A strategy that is switched off is nowhere, the others stay.
  const visible = (place) => page.locator(`.s${place}`).evaluateAll((all) =>
    all.filter((element) => getComputedStyle(element).display !== 'none').length);
  const others = await visible(0);
  assert(await visible(1) > 0 && others > 0);
  await page.locator('#show-1').uncheck();
  assert.equal(await visible(1), 0, 'what is switched off still shows');
  assert.equal(await visible(0), others);
  await page.locator('#show-1').check();

  assert.deepEqual(problems, [], name);
  if (name === 'light') await page.pdf({ path: join(folder, 'print.pdf'), format: 'A4' });
  await context.close();
}
await browser.close();
console.log(`${file}: all pictures are there`);
