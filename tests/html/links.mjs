// Follows every link of the pages and reports in folders: each leads to a file that is there, and to a part that the page has.
//
//   node tests/html/links.mjs FOLDER...
import assert from 'node:assert/strict';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';

/** The addresses that a text leads to. */
function addresses(file, text) {
  if (!file.endsWith('.html')) return [...text.matchAll(/\]\(([^()\s]+)\)/g)].map((found) => found[1]);
  const plain = (value) => value.replace(/&#(\d+);/g, (_, code) => String.fromCharCode(code)).replaceAll('&amp;', '&');
  return [...text.matchAll(/<a\b[^>]*? href="([^"]*)"/g)].map((found) => plain(found[1]));
}

const folders = process.argv.slice(2);
assert(folders.length > 0, 'usage: links.mjs FOLDER...');
let count = 0;
const dead = [];
for (const folder of folders) {
  for (const name of readdirSync(folder, { recursive: true })) {
    const file = resolve(folder, name);
    if (!file.endsWith('.html') && basename(file) !== 'report.md') continue;
    for (const address of addresses(file, readFileSync(file, 'utf8'))) {
      const [path, part] = address.split('#').map(decodeURIComponent);
      const target = path ? join(dirname(file), path) : file;
      count += 1;
      if (/^[a-z]+:/.test(address) || !existsSync(target)) dead.push(`${file}: ${address} is not there`);
      // The headings of Markdown have other names in every viewer.
      else if (part && target.endsWith('.html') && !readFileSync(target, 'utf8').includes(` id="${part}"`)) dead.push(`${file}: ${address} leads to no part`);
    }
  }
}
assert.deepEqual(dead, []);
assert(count > 0, 'no link');
console.log(`${count} links lead somewhere`);
