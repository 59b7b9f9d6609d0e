// Marks the section in view in the table of contents.
(() => {
  const rail = document.querySelector('.rail');
  if (!rail) return;
  const links = [...rail.querySelectorAll('a')];
  const sections = links.map((link) => document.getElementById(link.hash.slice(1)));
  let current = null;
  const mark = () => {
    const line = innerHeight * 0.3;
    const top = (section) => section.getBoundingClientRect().top;
    const passed = sections.filter((section) => top(section) <= line).length;
    // Where several sections are in view the chosen one counts; else, at the end of the page, the last one.
    const isAtEnd = scrollY + innerHeight > document.documentElement.scrollHeight - 2;
    const chosen = links.findIndex((link) => link.hash === location.hash);
    const isChosen = chosen >= 0 && top(sections[chosen]) > 0 && top(sections[chosen]) <= (isAtEnd ? innerHeight : line);
    const place = isAtEnd && scrollY > 0 ? links.length - 1 : Math.max(passed - 1, 0);
    const next = links[isChosen ? chosen : place];
    if (next === current) return;
    if (current) current.removeAttribute('aria-current');
    current = next;
    current.setAttribute('aria-current', 'true');
    const [entry, frame] = [current.getBoundingClientRect(), rail.getBoundingClientRect()];
    if (entry.top < frame.top || entry.bottom > frame.bottom) rail.scrollTop += entry.top - frame.top - frame.height / 2;
  };
  let isWaiting = false;
  const later = () => {
    if (isWaiting) return;
    isWaiting = true;
    requestAnimationFrame(() => {
      isWaiting = false;
      mark();
    });
  };
  addEventListener('scroll', later, { passive: true });
  addEventListener('resize', later);
  addEventListener('hashchange', later);
  mark();
})();
