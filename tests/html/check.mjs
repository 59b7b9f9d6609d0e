// Opens a report in a browser and checks it: no network requests, no console messages, every picture present, no overlapping
// text, strategies can be switched off, links have targets, tables can be copied, the address keeps what was chosen, the what-if
// computes what the report computed, accessibility rules (axe) pass. Writes screenshots.
//
//   node tests/html/check.mjs RUN/report.html FOLDER
//
// scripts/check-report.sh installs the modules (playwright-core and axe-core, found in MODULES or the current folder) and
// runs this. CHROMIUM is the browser (default /usr/bin/chromium). CHARTS names the kinds of pictures that must be present, and is
// empty for reports that are not about a run; WHAT_IF is `yes` if the page must estimate other mixes, `no` if it must not.
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
assert(bytes < 600_000, `the page has ${bytes} bytes`);
/** The longest that the page may keep the browser busy, in ms; test machines are slow, so that this only finds disasters. */
const LONGEST = 1_000;
const isRun = process.env.CHARTS !== '';

/** Pictures: each named once, each with something in it. */
async function pictures(page) {
  const charts = await page.locator('svg.chart[id]').evaluateAll((all) =>
    all.map((svg) => ({ id: svg.id, marks: svg.querySelectorAll('.mark').length, label: svg.getAttribute('aria-label') })));
  assert.equal(new Set(charts.map(({ id }) => id)).size, charts.length, 'two pictures of one name');
  for (const { id, marks, label } of charts) assert(id && marks > 0 && label, `nothing in ${id}`);
  for (const start of (process.env.CHARTS ?? 'forest percentiles throughput sizes cost').split(' ').filter(Boolean)) {
    assert(charts.some(({ id }) => id.startsWith(start)), `no picture of ${start}`);
  }
}

/** Ids are unique, and every link within the page has its end. `links.mjs` follows the others. */
async function links(page) {
  const lost = await page.evaluate(() => {
    const ids = [...document.querySelectorAll('[id]')].map((element) => element.id);
    const twice = ids.filter((id, place) => ids.indexOf(id) !== place).map((id) => `two elements are #${id}`);
    const dead = [...document.querySelectorAll('a[href]')].map((link) => link.getAttribute('href'))
      .filter((href) => href.startsWith('#') && !ids.includes(href.slice(1))).map((href) => `${href} leads nowhere`);
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
  const problems = violations.map(({ id, help, impact, nodes }) => `${impact}: ${id}: ${help}: ${nodes.slice(0, 3).map((node) => `${node.html.slice(0, 160)} ${node.any[0]?.message ?? ''}`).join('; ')}`);
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

/** The table of contents: a rail where there is room, else folded; it marks the section in view, and stands beside the text. */
async function contents(page, isWide) {
  const links = page.locator(isWide ? '.rail a' : '.contents a');
  if (await links.count() === 0) return;
  const [rail, folded] = [page.locator('.rail'), page.locator('.contents')];
  assert.deepEqual([await rail.isVisible(), await folded.isVisible()], [isWide, !isWide]);
  if (!isWide) {
    assert(!await links.first().isVisible(), 'the contents are unfolded');
    await folded.locator('summary').click();
  }
  const place = Math.floor(await links.count() / 2);
  await links.nth(place).click();
  await page.waitForTimeout(100);
  const target = await links.nth(place).getAttribute('href');
  assert.equal(new URL(page.url()).hash, target);
  assert(await page.locator(target).evaluate((section) => section.getBoundingClientRect().top < innerHeight), `${target} is not in view`);
  if (isWide) {
    assert.equal(await page.locator('.rail [aria-current]').count(), 1);
    assert.equal(await links.nth(place).getAttribute('aria-current'), 'true');
    const [beside, text] = [await rail.boundingBox(), await page.locator(target).boundingBox()];
    assert(beside.x >= 0 && beside.x + beside.width <= text.x, 'the rail is on the text');
  } else {
    await folded.locator('summary').click();
  }
  await page.evaluate(() => scrollTo(0, 0));
}

/** Every table can be copied and saved, by keyboard, with the text and numbers that it shows. */
async function copies(page) {
  const tables = page.locator('.table');
  if (await tables.count() === 0) return;
  assert.equal(await page.locator('.tools').count(), await page.locator('.scroll table').count(), 'a table without buttons');
  await page.evaluate(() => document.querySelectorAll('details').forEach((fold) => { fold.open = true; }));
  const name = isRun ? 'times' : await page.locator('.scroll table').first().getAttribute('data-table');
  const box = page.locator('.table', { has: page.locator(`table[data-table="${name}"]`) }).first();
  const lines = await box.locator('tbody tr:not(.group)').count();
  await page.evaluate(() => {
    window.copied = null;
    Object.defineProperty(navigator, 'clipboard', { configurable: true, value: { writeText: async (text) => { window.copied = text; } } });
  });
  const [copy, save] = [box.locator('.tools button').nth(0), box.locator('.tools button').nth(1)];
  await copy.focus();
  assert(await box.locator('.tools').evaluate((tools) => new Promise((done) => {
    setTimeout(() => done(getComputedStyle(tools).opacity === '1'), 300);
  })), 'a focused button is not visible');
  await page.keyboard.press('Enter');
  await page.waitForFunction(() => window.copied !== null);
  const markdown = (await page.evaluate(() => window.copied)).trimEnd().split('\n');
  assert.equal(markdown.length, lines + 2);
  const columns = (line) => line.replace(/\\./g, '').split('|').length;
  assert(markdown.every((line) => columns(line) === columns(markdown[0])), 'rows of different lengths');
  assert(markdown.every((line) => !/<[a-z!/]/i.test(line)), 'markup in Markdown');
  const [download] = await Promise.all([page.waitForEvent('download'), save.click()]);
  assert.equal(download.suggestedFilename(), `${name}.csv`);
  const csv = readFileSync(await download.path(), 'utf8').trimEnd().split('\n');
  assert.equal(csv.length, lines + 1);
  assert(csv.every((line) => !/(^|,)"?[=@]/.test(line)), 'a formula in CSV');
  if (isRun) {
    assert(csv[0].startsWith('operation,strategy,mean_ns,'), csv[0]);
    // The exact number behind a text such as 1.23 ms.
    const shown = await box.locator('tbody tr:not(.group) td').first().innerText();
    const exact = Number(csv[1].match(/(?:"(?:[^"]|"")*"|[^,]*)(?:,|$)/g)[2].replace(',', ''));
    const unit = { ns: 1, 'µs': 1e3, ms: 1e6, s: 1e9 }[shown.split(/\s/)[1]];
    assert(Math.abs(exact / unit / Number(shown.split(/\s/)[0].replace(',', '')) - 1) < 0.006, `${exact} is not ${shown}`);
  }
  await page.evaluate(() => document.querySelectorAll('details:not([data-open])').forEach((fold) => { fold.open = fold.hasAttribute('data-open'); }));
}

/** The address keeps what is switched off; hostile ones do nothing. */
async function addresses(page) {
  const visible = () => page.locator('section .s1').evaluateAll((all) => all.filter((element) => getComputedStyle(element).display !== 'none').length);
  await page.locator('#show-1').uncheck();
  const kept = page.url();
  assert(new URL(kept).searchParams.has('off'), kept);
  await page.goto(kept);
  assert(!await page.locator('#show-1').isChecked(), 'the address is not restored');
  assert.equal(await visible(), 0);
  await page.locator('#show-1').check();
  assert(!new URL(page.url()).searchParams.has('off'), page.url());
  for (const hostile of [
    '?off=%00&off=<img src=x onerror=alert(1)>&mix=1-<script>&mix=NaN#"><script>alert(1)</script>',
    '?off=__proto__&mix=999-1e9---#%E0%A4%A', '?mix=-1#constructor', '?%&=&&#', '#row-times-99999-0', '#show-0', '#tip',
  ]) {
    await page.goto(url + hostile);
    assert(await page.locator('#show-1').isChecked(), hostile);
    assert(await visible() > 0, hostile);
  }
  await page.goto(url);
}

/** A pointer at one chart draws a line at the same place of its neighbours with the same axis, and so do the arrow keys. */
async function crossHair(page) {
  const chart = page.locator('#percentiles-0');
  const many = await page.locator('svg[id^=percentiles-]').count();
  await chart.scrollIntoViewIfNeeded();
  const box = await chart.boundingBox();
  await page.mouse.move(box.x + box.width * 0.3, box.y + box.height * 0.5);
  assert.equal(await page.locator('.hair').count(), many, 'not in every chart of the gallery');
  // The same percentile in each chart: as far from the mark of p50 as the ticks say.
  const places = await page.locator('svg[id^=percentiles-]').evaluateAll((all) => all.map((svg) => {
    const ticks = Object.fromEntries([...svg.querySelectorAll('.tick.m')].map((tick) => [tick.textContent, Number(tick.getAttribute('x'))]));
    return (svg.querySelector('.hair').getAttribute('x1') - ticks.p50) / (ticks.p90 - ticks.p50);
  }));
  assert(places.filter(Number.isFinite).every((place) => Math.abs(place - places[0]) < 0.02), `${places}`);
  await page.mouse.move(0, 0);
  assert.equal(await page.locator('.hair').count(), 0);
  await chart.focus();
  await page.keyboard.press('ArrowRight');
  assert(await page.locator('.hair').count() > 0, 'no line at the chosen mark');
  await page.keyboard.press('Escape');
  assert.equal(await page.locator('.hair').count(), 0);
}

/** Charts in a row share their y axis. */
async function scales(page) {
  const axes = await page.locator('svg[id^=percentiles-]').evaluateAll((all) => all.map((svg) =>
    [...svg.querySelectorAll('.tick.e')].map((tick) => tick.textContent).join()));
  for (let place = 0; place + 1 < axes.length; place += 2) assert.equal(axes[place], axes[place + 1]);
}

/** The script's estimates are those of the report, and a mix of weights is what its own times say. */
async function whatIf(page) {
  const panel = page.locator('.what-if');
  if (process.env.WHAT_IF) assert.equal(await panel.count() > 0, process.env.WHAT_IF === 'yes', 'the what-if');
  if (await panel.count() === 0) return;
  const own = await page.evaluate(() => {
    const table = (name) => document.querySelector(`#what-if [data-table=${name}]`);
    const all = [...table('own_times').tHead.rows[0].cells].slice(1).map((head) => Number(/\bs(\d+)/.exec(head.className)[1]));
    const row = (strategy) => document.querySelector(`[id^="what-if-0-"][id$="-${strategy}"]`);
    // Strategies that own times do not predict have own times, and no estimate.
    const heads = all.filter((strategy) => row(strategy));
    const times = [...table('own_times').tBodies[0].rows].map((line) => [...line.cells].slice(1)
      .filter((_, place) => heads.includes(all[place])).map((cell) => Number(cell.dataset.v)));
    const place = [...table('mix_estimates').tHead.rows[0].cells].findIndex((head) => head.dataset.key === 'estimated_ns');
    const estimates = heads.map((strategy) => Number(row(strategy).cells[place].dataset.v));
    return { heads, times, estimates };
  });
  const shown = () => panel.evaluate((element) => Object.fromEntries([...element.querySelectorAll('ol li')].map((item) =>
    [/\bs(\d+)/.exec(item.className)[1], { ns: Number(item.dataset.ns), text: item.querySelector('.time').textContent }])));
  const same = (found, expected) => own.heads.forEach((strategy, place) =>
    assert(Math.abs(found[strategy].ns / expected[place] - 1) < 1e-4, `${found[strategy].ns} is not ${expected[place]}`));
  // The measured mix: times are those that the report computed.
  same(await shown(), own.estimates);
  assert(await panel.locator('.measured').count() > 0, 'what was measured does not stand beside the estimate');
  // Any mix, set as a reader does: one operation by itself, then two.
  const sliders = panel.locator('input[type=range]');
  const count = await sliders.count();
  const set = (weights) => sliders.evaluateAll((all, weights) => all.forEach((slider, place) => {
    slider.value = weights[place];
    slider.dispatchEvent(new Event('input', { bubbles: true }));
  }), weights);
  const mixes = [own.times.map((_, place) => (place === 0 ? 40 : 0)), own.times.map((_, place) => [30, 70][place] ?? 0), own.times.map((_, place) => 3 * place + 1)];
  for (const weights of mixes) {
    await set(weights);
    const total = weights.reduce((sum, weight) => sum + weight, 0);
    same(await shown(), own.heads.map((_, strategy) => own.times.reduce((sum, row, operation) => sum + row[strategy] * weights[operation], 0) / total));
    assert.match(await panel.locator('output').first().innerText(), /%$/);
  }
  // The address keeps the mix, also a part of a percent.
  const [before, address] = [await shown(), page.url()];
  assert(new URL(address).searchParams.has('mix'), address);
  await page.goto(address);
  assert.deepEqual(await shown(), before);
  // At the share of a flip two strategies take the same time.
  await panel.getByRole('button', { name: 'Reset' }).click();
  same(await shown(), own.estimates);
  assert(!new URL(page.url()).searchParams.has('mix'), page.url());
  // With the keyboard.
  await sliders.first().focus();
  const share = await panel.locator('output').first().innerText();
  for (let step = 0; step < 9; step += 1) await page.keyboard.press('ArrowRight');
  assert.notEqual(await panel.locator('output').first().innerText(), share);
  // No share at all.
  await set(Array(count).fill(0));
  assert.match(await panel.innerText(), /at least one operation/);
  assert.equal(await panel.locator('ol li').count(), 0);
  await page.goto(page.url());
  assert.match(await panel.innerText(), /at least one operation/);
  await panel.getByRole('button').first().click();
  same(await shown(), own.estimates);
}

/** On a narrow screen the winner's columns come first where strategies stand side by side. */
async function winnerFirst(page, isNarrow) {
  const winner = await page.locator('main').getAttribute('data-winner');
  if (winner === null || await page.locator('table[data-table=mix_cost]').count() === 0) return;
  const first = await page.locator('table[data-table=mix_cost] thead tr').first().evaluate((row) => row.cells[1].className);
  assert(first.split(' ').includes(`s${isNarrow ? winner : 0}`), `${first} is the first column; ${winner} wins`);
}

/** On a phone all strategies and a picture are on the first screen, and what is read or touched is large enough. */
async function phone(page) {
  const found = await page.evaluate(() => {
    const visible = (element) => element.checkVisibility({ checkVisibilityCSS: true }) && element.getBoundingClientRect().width > 0;
    const small = [...document.querySelectorAll('svg.chart:not(.glyph)')].filter(visible).flatMap((svg) => {
      const scale = svg.getBoundingClientRect().width / svg.viewBox.baseVal.width;
      const sizes = [...svg.querySelectorAll('text')].map((text) => Number.parseFloat(getComputedStyle(text).fontSize) * scale);
      const least = Math.min(...sizes, 99);
      return least < 10.9 ? [`${svg.id}: labels of ${least.toFixed(1)} px`] : [];
    });
    const narrow = [...document.querySelectorAll('summary, button, .onward a, .reasons a, .heat a, label:has(input)')].filter(visible)
      .filter((one) => { const box = one.getBoundingClientRect(); return box.height < 23.9 || box.width < 23.9; })
      .map((one) => `${one.tagName} "${one.textContent.slice(0, 20)}" is ${one.getBoundingClientRect().height} px high`);
    const cut = [...document.querySelectorAll('.heat .scroll')].filter((one) => one.scrollWidth > one.clientWidth + 1).map(() => 'the heat map is cut');
    const picture = document.querySelector('.pictures.narrow svg');
    const low = picture && picture.getBoundingClientRect().top + scrollY > innerHeight - 60 ? ['no picture on the first screen'] : [];
    return [...small, ...narrow, ...cut, ...low];
  });
  assert.deepEqual(found, []);
}

/** A tab says what the page says; a run's scenario, mix and verdict. */
async function title(page) {
  const text = await page.title();
  assert.match(text, isRun ? /^\p{Lu}.*, .+: ./u : /./, text);
  const first = page.locator('.verdict .first').first();
  // Other reports begin with the name of a strategy.
  if (text.includes(', sweep of ')) assert.match(await first.innerText(), /^[^\p{Ll}]/u, 'a sentence begins with a small letter');
}

/** The first Tab leads past everything to the times of all operations. */
async function skips(page) {
  if (await page.locator('#heat-map').count() === 0) return;
  await page.keyboard.press('Tab');
  assert.equal(await page.evaluate(() => document.activeElement.getAttribute('href')), '#heat-map');
  assert(await page.locator('.skip').isVisible());
  await page.keyboard.press('Enter');
  assert(await page.locator('#heat-map').evaluate((one) => one.getBoundingClientRect().top < innerHeight), 'not in view');
  await page.evaluate(() => scrollTo(0, 0));
}

/** Printed, there is the answer alone unless all is wanted, and nothing is cut off. */
async function printed(page) {
  await page.emulateMedia({ media: 'print' });
  // A4 without its margins.
  await page.setViewportSize({ width: 688, height: 1000 });
  if (isRun) {
    const shown = () => page.locator('main > section').evaluateAll((all) => all.filter((one) => one.getClientRects().length > 0).length);
    assert.equal(await shown(), 1, 'more than page one');
    await layout(page);
    await page.emulateMedia({ media: null });
    await page.locator('#print-all').check();
    await page.emulateMedia({ media: 'print' });
    assert(await shown() > 5, 'not all sections');
  }
  await layout(page);
  for (const hidden of ['.rail', '.contents', '.tools', '.what-if', '.legend', '.narrow']) {
    assert.equal(await page.locator(hidden).evaluateAll((all) => all.filter((one) => one.getClientRects().length > 0).length), 0, hidden);
  }
  assert.equal(await page.locator('.scroll').evaluateAll((all) => all.filter((one) => getComputedStyle(one).overflowY !== 'visible').length), 0);
  const verdict = page.locator('#verdict');
  if (isRun) assert.equal(await verdict.evaluate((one) => getComputedStyle(one).breakAfter), 'page');
  await accessibility(page);
  await page.emulateMedia({ media: null });
  if (isRun) await page.locator('#print-all').uncheck();
}

/** A link into a folded table unfolds it. */
async function folds(page) {
  const link = page.locator('.heat tbody a').first();
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
  // A button that is fading in, where the pointer happens to be, has too little contrast.
  const context = await browser.newContext({ viewport: { width, height }, reducedMotion: 'reduce', ...options });
  const page = await context.newPage();
  const problems = [];
  page.on('console', (message) => problems.push(`console: ${message.text()}`));
  page.on('dialog', (dialog) => { problems.push(`dialog: ${dialog.message()}`); dialog.dismiss(); });
  page.on('pageerror', (error) => problems.push(`error: ${error.message}`));
  page.on('request', (request) => {
    const isOwn = request.url().split(/[?#]/)[0] === url || /^(data|blob):/.test(request.url());
    if (!isOwn) problems.push(`request: ${request.url()}`);
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
  const mark = () => page.evaluate(() => document.querySelectorAll('details[open]').forEach((fold) => fold.setAttribute('data-open', '')));
  await mark();
  await page.waitForTimeout(200);
  const longest = await page.evaluate(() => window.longest);
  console.log(`${name}: the longest task took ${Math.round(longest)} ms`);
  assert(longest < LONGEST, `${longest} ms`);

  if (!isOld) await skips(page);
  if (isRun) await switches(page);
  if (!isOld) {
    await pictures(page);
    await links(page);
    await title(page);
    await layout(page);
    if (name === 'phone') await phone(page);
    await page.screenshot({ path: join(folder, `${name}.png`) });
    await page.screenshot({ path: join(folder, `${name}-whole.png`), fullPage: true, timeout: 120_000 });
    await contents(page, width >= 1200);
    await accessibility(page);
    if (name !== 'dark') await copies(page);
    if (isRun) {
      await values(page);
      await winnerFirst(page, name === 'phone');
      await folds(page);
    }
  }
  if (name === 'light') {
    if (isRun) {
      await scales(page);
      await crossHair(page);
      await addresses(page);
      await whatIf(page);
      await mark();
    }
    await printed(page);
    const paper = await page.pdf({ path: join(folder, 'print.pdf'), format: 'A4' });
    const sheets = paper.toString('latin1').match(/\/Type\s*\/Page\b/g).length;
    if (isRun && !process.env.SHEETS) assert.equal(sheets, 1, 'more than one sheet of paper');
  }
  assert.deepEqual(problems, [], name);
  await context.close();
}

// Without script the page is complete: contents, tables, the estimates of the measured mix.
{
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, javaScriptEnabled: false });
  const page = await context.newPage();
  await page.goto(url);
  if (await page.locator('.rail').count() > 0) assert(await page.locator('.rail').isVisible(), 'no contents without script');
  assert.equal(await page.locator('.tools, .what-if').count(), 0);
  await context.close();
}
await browser.close();
console.log(`${file}: ${Math.round(bytes / 1000)} KB, nothing to complain of`);
