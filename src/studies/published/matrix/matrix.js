// Filters rows, shows another number in their cells, and keeps the choice in the address of the page.
(() => {
  const form = document.getElementById('filters');
  const inputs = [...form.querySelectorAll('input')];
  const rows = [...document.querySelectorAll('tbody tr[data-mix]')];
  const chosen = (key) => inputs.find((input) => input.name === key && input.checked);
  const keys = [...new Set(inputs.map((input) => input.name))];
  const isFirst = (input) => inputs.find((other) => other.name === input.name) === input;

  const fill = (cell, metric, isEstimated) => {
    const [look, text, remark] = (cell.dataset.v.split(';')[metric] || 'n|–|').split('|');
    cell.className = look;
    cell.firstElementChild.textContent = text;
    const estimated = isEstimated && look !== 'n' ? 'est.' : '';
    cell.lastElementChild.textContent = [remark, estimated].filter(Boolean).join(' ');
  };
  // A row without a server, such as a mix that nobody measured, is of every server.
  const fits = (row, key) => {
    const input = chosen(key);
    if (!input || isFirst(input)) return true;
    const marks = row.dataset[key];
    return key === 'mix' ? marks.split(' ').includes(input.dataset.place) : marks === '' || marks === input.dataset.place;
  };
  const hideEmpty = (all, parts) => all.forEach((one) => {
    one.hidden = [...one.querySelectorAll(parts)].every((part) => part.hidden);
  });

  const apply = () => {
    const metric = chosen('metric');
    document.getElementById('about').textContent = metric.dataset.about;
    for (const cell of document.querySelectorAll('td[data-v]')) {
      fill(cell, Number(metric.dataset.place), cell.parentElement.classList.contains('est'));
    }
    for (const row of rows) row.hidden = !keys.every((key) => key === 'metric' || fits(row, key));
    hideEmpty(document.querySelectorAll('article'), 'tbody tr');
    hideEmpty(document.querySelectorAll('.group-of'), 'article');
    const shown = rows.filter((row) => !row.hidden).length;
    document.getElementById('count').textContent = `${shown} of ${rows.length} rows`;
  };
  const keep = () => {
    const state = new URLSearchParams();
    for (const key of keys) if (!isFirst(chosen(key))) state.set(key, chosen(key).value);
    history.replaceState(null, '', `#${state}`);
    apply();
  };
  // What the address names and this page does not have stays as it was.
  const restore = () => {
    const hash = location.hash.slice(1);
    if (hash !== '' && !hash.includes('=')) return;
    const state = new URLSearchParams(hash);
    for (const key of keys) {
      const of = inputs.filter((input) => input.name === key);
      (of.find((input) => input.value === state.get(key)) || of[0]).checked = true;
    }
    apply();
  };
  form.hidden = false;
  form.addEventListener('change', keep);
  form.addEventListener('submit', (event) => event.preventDefault());
  addEventListener('hashchange', restore);
  restore();
})();
