// Shows values as tooltips, for the pointer and for the arrow keys in a focused chart, and opens folded tables for links.
// Without this script the browser shows the same values as titles.
(() => {
  const tip = document.getElementById('tip');
  let current = null;
  for (const title of document.querySelectorAll('.chart title')) {
    title.parentNode.dataset.words = title.textContent;
    title.remove();
  }
  const hide = () => {
    if (current) current.classList.remove('on');
    current = null;
    tip.hidden = true;
  };
  const show = (mark, x, y) => {
    if (mark !== current) {
      hide();
      current = mark;
      tip.textContent = mark.dataset.words;
      tip.hidden = false;
    }
    const { width, height } = tip.getBoundingClientRect();
    const left = Math.min(Math.max(x - width / 2, 8), document.documentElement.clientWidth - width - 8);
    const above = y - height - 14;
    tip.style.left = `${left}px`;
    tip.style.top = `${above > 8 ? above : y + 18}px`;
  };
  document.addEventListener('pointermove', (event) => {
    const mark = event.target.closest ? event.target.closest('[data-words]') : null;
    if (mark) show(mark, event.clientX, event.clientY);
    else hide();
  });
  document.addEventListener('scroll', hide, { passive: true });
  document.addEventListener('focusout', hide);
  document.addEventListener('keydown', (event) => {
    if (event.key === 'Escape') hide();
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    const chart = document.activeElement;
    if (!step || !chart.matches('svg.chart')) return;
    const marks = [...chart.querySelectorAll('.mark[data-words]')].filter((mark) => mark.getBoundingClientRect().width > 0);
    if (marks.length === 0) return;
    event.preventDefault();
    const place = marks.indexOf(current);
    const next = marks[place < 0 ? (step > 0 ? 0 : marks.length - 1) : (place + step + marks.length) % marks.length];
    const dot = (next.querySelector('.dot, .hollow, .bar') || next).getBoundingClientRect();
    show(next, dot.left + dot.width / 2, dot.top);
    next.classList.add('on');
  });

  // Browsers without :has() need this script to switch strategies off.
  if (!CSS.supports('selector(:has(*))')) {
    for (const box of document.querySelectorAll('.legend input')) {
      const marks = document.getElementsByClassName(`s${box.id.slice('show-'.length)}`);
      const set = () => {
        for (const mark of marks) mark.style.display = box.checked ? '' : 'none';
      };
      box.addEventListener('change', set);
      set();
    }
  }

  // Opens folded tables for links and for printing.
  const reveal = () => {
    const target = document.getElementById(location.hash.slice(1));
    const folds = [];
    for (let fold = target && target.closest('details'); fold; fold = fold.parentElement.closest('details')) folds.push(fold);
    if (folds.every((fold) => fold.open)) return;
    for (const fold of folds) fold.open = true;
    target.scrollIntoView();
  };
  addEventListener('hashchange', reveal);
  // A second click on the same link does not change the address.
  document.addEventListener('click', (event) => {
    if (event.target.closest && event.target.closest('a[href^="#"]')) setTimeout(reveal);
  });
  reveal();
  let opened = [];
  addEventListener('beforeprint', () => {
    opened = [...document.querySelectorAll('details.print:not([open])')];
    for (const fold of opened) fold.open = true;
  });
  addEventListener('afterprint', () => {
    for (const fold of opened) fold.open = false;
  });
})();
