// Copies a record with texts that would run as code if they were interpreted as markup.
//
//   node tests/html/hostile.mjs FROM/run.json TO/run.json
import { readFileSync, writeFileSync } from 'node:fs';

const [from, to] = process.argv.slice(2);
const record = JSON.parse(readFileSync(from, 'utf8'));
const hostile = (text) => `${text}</title></style></script><script>alert(1)</script>"'><img src=x onerror=alert(1)><svg onload=alert(1)>`;

record.scenario.title = hostile(record.scenario.title);
record.scenario.about = hostile(record.scenario.about);
record.scenario.text = record.scenario.text.split('\n').map((line) => (line.includes('#') ? hostile(line) : line)).join('\n')
  .replace('strategies:', `strategies:\n  ${hostile('x')}: 1`);
// Names that spreadsheets, Markdown and addresses would interpret, too.
const rename = (name) => `=${name}|"<i>`;
record.strategies[1].name = rename(record.strategies[1].name);
const [operation] = record.operations;
record.operations[0] = rename(operation);
record.mix.weights = record.mix.weights.map(([name, weight]) => [name === operation ? rename(name) : name, weight]);
record.strategies.forEach((strategy) => { strategy.about = hostile(strategy.about); });
record.warnings = [hostile('a warning')];
record.mix.name = hostile('=mix|`*_');
record.parameters = record.parameters.map(([name, value]) => [name, hostile(String(value))]);
// The checksum is that of the record before.
delete record.sha256;
writeFileSync(to, JSON.stringify(record));
