// Draws a line at the same place of all charts of a gallery that have the same x axis: under the pointer, and at the mark that
// the arrow keys chose.
(() => {
  let hairs = [];
  const number = (element, name) => Number(element.getAttribute(name));
  const clear = () => {
    for (const hair of hairs) hair.remove();
    hairs = [];
  };
  const draw = (plane, share) => {
    const hair = document.createElementNS('http://www.w3.org/2000/svg', 'line');
    const x = number(plane, 'x') + share * number(plane, 'width');
    const top = number(plane, 'y');
    const ends = { class: 'hair', x1: x, x2: x, y1: top, y2: top + number(plane, 'height') };
    for (const [name, value] of Object.entries(ends)) hair.setAttribute(name, value);
    plane.after(hair);
    hairs.push(hair);
  };
  const at = (chart, clientX) => {
    clear();
    const plane = chart && chart.querySelector('.plane');
    const gallery = plane && chart.closest('.grid');
    if (!gallery) return;
    const frame = chart.getBoundingClientRect();
    const x = ((clientX - frame.left) / frame.width) * chart.viewBox.baseVal.width;
    const share = (x - number(plane, 'x')) / number(plane, 'width');
    if (!(share >= 0 && share <= 1)) return;
    for (const other of gallery.querySelectorAll('.plane')) {
      const place = (share * plane.dataset.span) / other.dataset.span;
      if (other.dataset.axis === plane.dataset.axis && place <= 1) draw(other, place);
    }
  };
  document.addEventListener('pointermove', ({ target, clientX }) => at(target.closest && target.closest('svg.chart'), clientX));
  document.addEventListener('focusout', clear);
  document.addEventListener('keydown', ({ key }) => {
    if (key === 'Escape') clear();
    const chart = document.activeElement;
    const mark = key.startsWith('Arrow') && chart.matches('svg.chart') && chart.querySelector('.mark.on');
    if (!mark) return;
    const { left, width } = (mark.querySelector('.dot, .hollow, .bar') || mark).getBoundingClientRect();
    at(chart, left + width / 2);
  });
})();
