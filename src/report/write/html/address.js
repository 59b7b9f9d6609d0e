// Keeps what is switched off, and whatever else a reader chose, in the address: a link shows the page as it was. What an address
// does not name as this page does is ignored.
const address = (() => {
  const query = () => new URLSearchParams(location.search);
  const write = (change) => {
    const changed = query();
    change(changed);
    const text = changed.toString();
    try {
      history.replaceState(null, '', location.href.split(/[?#]/)[0] + (text && `?${text}`) + location.hash);
    } catch {
      // Some browsers refuse this for files. The page works without.
    }
  };

  const boxes = [...document.querySelectorAll('.legend input')];
  const name = (box) => box.closest('label').querySelector('span').textContent;
  const off = query().getAll('off');
  for (const box of boxes) box.checked = !off.includes(name(box));
  document.addEventListener('change', ({ target }) => {
    if (!boxes.includes(target)) return;
    write((changed) => {
      changed.delete('off');
      for (const box of boxes.filter((one) => !one.checked)) changed.append('off', name(box));
    });
  });
  return { query, write };
})();
