// Gives every table two buttons, and on narrow screens the winner's columns the first place.
const tables = (() => {
  const main = document.querySelector('main');
  const status = document.createElement('p');
  status.className = 'sr';
  status.setAttribute('role', 'status');
  main.append(status);

  /** What a cell says; a remark in brackets, or left out. */
  const text = (cell, isBare) => {
    const copy = cell.cloneNode(true);
    for (const part of copy.querySelectorAll(isBare ? '.sr, small, .remark' : '.sr')) part.remove();
    for (const small of copy.querySelectorAll('small')) small.textContent = `(${small.textContent})`;
    return copy.textContent.replace(/\s+/g, ' ').trim();
  };
  const isShown = (element) => getComputedStyle(element).display !== 'none';
  const cellsOf = (row) => [...row.cells].filter(isShown);

  /** The headings of the columns that are shown: names of strategies where these have the columns, and keys. */
  const columns = (table) => {
    const rows = [...table.tHead.rows];
    const heads = cellsOf(rows[rows.length - 1]);
    const names = rows.length > 1 ? cellsOf(rows[0]).flatMap((cell) => Array(cell.colSpan).fill(text(cell, true))) : [];
    const keys = heads.map((head) => head.dataset.key || text(head, true));
    const isTwice = (key) => keys.filter((other) => other === key).length > 1;
    return heads.map((head, place) => ({
      text: [names[place], text(head)].filter(Boolean).join(', '),
      key: isTwice(keys[place]) ? `${names[place] || text(head, true)} ${keys[place]}` : keys[place],
      isText: place === 0 || head.classList.contains('l'),
    }));
  };

  /** The rows that are shown, each with its group where the table has groups. */
  const rows = (table) => {
    let group = null;
    const found = [];
    for (const row of [...table.tBodies].flatMap((body) => [...body.rows]).filter(isShown)) {
      if (row.classList.contains('group')) group = row.cells[0];
      else found.push(group ? [group, ...cellsOf(row)] : cellsOf(row));
    }
    return found;
  };

  const isGrouped = (table) => table.querySelector('tbody .group') !== null;

  const escaped = (words) => words
    .replace(/[&<>]/g, (c) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;' })[c])
    .replace(/[\\`*[\]|~$]/g, '\\$&')
    .replace(/_/g, (_, place, whole) => (/\w/.test(whole[place - 1] || ' ') && /\w/.test(whole[place + 1] || ' ') ? '_' : '\\_'));

  const markdown = (table) => {
    const heads = columns(table);
    if (isGrouped(table)) heads.unshift({ text: table.dataset.group || '', isText: true });
    const line = (texts) => `| ${texts.join(' | ')} |`;
    return [
      line(heads.map((head) => escaped(head.text))),
      line(heads.map((head) => (head.isText ? '---' : '---:'))),
      ...rows(table).map((cells) => line(cells.map((cell) => escaped(text(cell))))),
    ].join('\n');
  };

  const csv = (table) => {
    const heads = columns(table).map((head) => head.key);
    if (isGrouped(table)) heads.unshift(table.dataset.group || '');
    const field = (value) => {
      // A spreadsheet would take such a text for a formula.
      const safe = /^[=+\-@]/.test(value) && Number.isNaN(Number(value)) ? `'${value}` : value;
      return /[",\n]/.test(safe) ? `"${safe.replace(/"/g, '""')}"` : safe;
    };
    const value = (cell) => {
      const shown = cell.dataset.v || text(cell, cell.tagName === 'TH');
      return shown === '–' ? '' : shown;
    };
    const lines = rows(table).map((cells) => cells.map(value));
    return `${[heads, ...lines].map((fields) => fields.map(field).join(',')).join('\n')}\n`;
  };

  const copy = async (words) => {
    try {
      await navigator.clipboard.writeText(words);
    } catch {
      // Without the right to write to the clipboard, or outside a secure context.
      const area = document.createElement('textarea');
      area.value = words;
      document.body.append(area);
      area.select();
      document.execCommand('copy');
      area.remove();
    }
  };

  const download = (words, name) => {
    const link = document.createElement('a');
    link.href = URL.createObjectURL(new Blob([words], { type: 'text/csv;charset=utf-8' }));
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1_000);
  };

  for (const scroll of document.querySelectorAll('.scroll')) {
    const table = scroll.querySelector('table');
    if (!table) continue;
    const title = scroll.getAttribute('aria-label');
    const id = table.dataset.table || 'table';
    const tools = document.createElement('div');
    tools.className = 'tools';
    const add = (label, done, act) => {
      const button = document.createElement('button');
      button.type = 'button';
      button.textContent = label;
      button.setAttribute('aria-label', `${label}: ${title}`);
      button.addEventListener('click', async () => {
        await act();
        button.focus();
        button.textContent = done;
        status.textContent = `${done}: ${title}`;
        setTimeout(() => {
          button.textContent = label;
        }, 2_000);
      });
      tools.append(button);
    };
    add('Copy as Markdown', 'Copied', () => copy(`${markdown(table)}\n`));
    add('CSV', 'Saved', () => download(csv(table), `${id}.csv`));
    scroll.after(tools);
  }

  // On a narrow screen only the first columns are in view.
  const { winner } = main.dataset;
  const narrow = matchMedia('(max-width:44rem)');
  if (winner !== undefined) {
    const isWinner = (cell) => cell.classList.contains(`s${winner}`);
    const sideBySide = [...document.querySelectorAll('.scroll table')].filter((table) =>
      new Set([...table.tHead.rows[0].cells].map((cell) => /\bs\d+\b/.exec(cell.className)?.[0])).size > 2);
    const all = sideBySide.flatMap((table) => [...table.rows]).map((row) => [row, [...row.cells]]);
    const arrange = () => {
      for (const [row, cells] of all) {
        const [first, ...rest] = cells;
        const inOrder = narrow.matches ? [...rest.filter(isWinner), ...rest.filter((cell) => !isWinner(cell))] : rest;
        if (first) row.append(first, ...inOrder);
      }
    };
    narrow.addEventListener('change', arrange);
    if (narrow.matches) arrange();
  }
  return { text };
})();
