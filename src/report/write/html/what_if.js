// What if my mix is different: sliders for the shares of the operations. The sum is that of stats::MixEstimate, from the numbers
// in the section; for a measured mix, the measured times are next to it.
(() => {
  const section = document.getElementById('what-if');
  const numbers = section && section.querySelector('script[type="application/json"]');
  if (!numbers) return;

  const { noise, tolerance: TOLERANCE, operations, ...data } = JSON.parse(numbers.textContent);
  const look = (place) => section.querySelector(`th.s${place} .key, tr.s${place} .key`)?.className || 'key';
  const strategies = data.strategies.map((strategy) => ({ ...strategy, look: look(strategy.place) }));
  const mixes = data.mixes.map(({ name, shares, measured }) => ({
    name,
    weights: shares.map((share) => share * 100),
    measured: measured.filter(({ times }) => times.every((time) => time > 0)).map(({ part, times }) => ({
      label: part,
      time: (strategy) => times[strategies.indexOf(strategy)],
    })),
  }));

  // Numbers as the rest of the page writes them (report/format.rs).
  const count = (value) => Math.round(value).toString().replace(/\B(?=(\d{3})+$)/g, ',');
  const three = (value) => {
    const exponent = Number(value.toExponential(2).split('e')[1]);
    return value === 0 ? '0' : exponent > 2 ? count(value) : value.toFixed(2 - exponent);
  };
  const time = (nanoseconds) => {
    const units = [[1e9, 's'], [1e6, 'ms'], [1e3, 'µs']];
    const [size, unit] = units.find(([least]) => nanoseconds / least >= 0.9995) || [1, 'ns'];
    return `${size === 1 ? count(nanoseconds) : three(nanoseconds / size)} ${unit}`;
  };
  const percent = (share) => {
    const value = share * 100;
    if (value > 0 && value < 0.1) return '< 0.1 %';
    if (value > 99.9 && value < 100) return '> 99.9 %';
    if (value === 0 || value === 100) return `${value} %`;
    return `${value < 9.95 || value >= 90 ? value.toFixed(1) : value.toFixed(0)} %`;
  };
  const listed = (names) => (names.length < 2 ? names.join('') : `${names.slice(0, -1).join(', ')} and ${names[names.length - 1]}`);

  /** The mean time of a call of some shares, but one operation; NaN without any. */
  const mean = ({ own }, parts, leftOut) => {
    let [sum, total] = [0, 0];
    parts.forEach((share, operation) => {
      if (share === 0 || operation === leftOut) return;
      sum += share * own[operation];
      total += share;
    });
    return sum / total;
  };

  /** The nearest share of an operation at which two strategies take the same time, the other operations keeping their proportions. */
  const flip = (one, other, parts) => {
    const found = parts.map((share, operation) => {
      const own = one.own[operation] - other.own[operation];
      const rest = mean(one, parts, operation) - mean(other, parts, operation);
      const at = rest / (rest - own);
      // How far the other strategy is ahead where the operation is all of the mix, or nothing of it.
      const beyond = at > share ? one.own[operation] / other.own[operation] : mean(one, parts, operation) / mean(other, parts, operation);
      return { operation, share, at, beyond };
    }).filter(({ at, beyond }) => at >= 0 && at <= 1 && beyond > 1 + noise);
    const distance = ({ share, at }) => Math.abs(at - share);
    return found.sort((a, b) => distance(a) - distance(b))[0];
  };

  const flipText = (best, other, parts) => {
    const found = flip(best, other, parts);
    if (!found) return `No share of a single operation flips the order of ${best.name} and ${other.name}.`;
    const side = found.at > found.share ? 'exceeds' : 'falls below';
    return `${other.name} wins once ${operations[found.operation]} ${side} about ${percent(found.at)} of calls (now ${percent(found.share)}; estimated).`;
  };

  const answerText = ([best, ...others]) => {
    const close = others.filter(({ ratio }) => ratio <= 1 + TOLERANCE).map(({ strategy }) => strategy.name);
    const first = `Estimated: ${best.strategy.name} is fastest`;
    if (close.length === 0) return `${first}.`;
    return `${first}, but ${listed(close)} ${close.length === 1 ? 'is' : 'are'} too close to tell (within ${percent(TOLERANCE)}).`;
  };

  const element = (name, className, words = '') => {
    const made = document.createElement(name);
    if (className) made.className = className;
    made.textContent = words;
    return made;
  };

  const panel = element('div', 'what-if');
  const buttons = element('div', 'mixes');
  buttons.setAttribute('role', 'group');
  buttons.setAttribute('aria-label', 'Measured mixes');
  const sliders = element('div', 'weights');
  const result = element('div', 'result');
  const [answer, order, flips, spoken] = [element('p', 'answer'), element('ol'), element('ul'), element('p', 'sr')];
  spoken.setAttribute('role', 'status');
  order.setAttribute('aria-label', 'Estimated order');
  flips.setAttribute('aria-label', 'Where the order flips');
  result.append(answer, order, flips, spoken);

  let weights = mixes[0].weights;
  const rows = operations.map((name, operation) => {
    const label = element('label', 'weight');
    const input = element('input');
    Object.assign(input, { type: 'range', min: 0, max: 100, step: 1, autocomplete: 'off' });
    const output = element('output');
    label.append(element('span', '', name), input, output);
    sliders.append(label);
    input.addEventListener('input', () => {
      set(weights.map((weight, place) => (place === operation ? Number(input.value) : weight)));
    });
    return { input, output };
  });

  const line = ({ strategy, mean: estimated, ratio }, longest, compared) => {
    const item = element('li', `s${strategy.place}`);
    item.dataset.ns = estimated;
    const name = element('span', 'name');
    name.append(element('i', strategy.look), strategy.name);
    const bar = element('span', `bar-of ${strategy.look.replace('key', '')}`);
    const filled = element('i');
    filled.style.width = `${(100 * estimated) / longest}%`;
    bar.append(filled);
    item.append(name, bar, element('b', '', ratio === 1 ? 'fastest' : `× ${three(ratio)}`), element('span', 'time', time(estimated)));
    if (compared.length > 0) item.append(element('span', 'measured', `measured ${compared.join(', ')}`));
    return item;
  };

  const show = () => {
    const total = weights.reduce((sum, weight) => sum + weight, 0);
    const parts = weights.map((weight) => (total > 0 ? weight / total : 0));
    rows.forEach(({ input, output }, operation) => {
      input.value = Math.round(weights[operation]);
      output.textContent = percent(parts[operation]);
      input.setAttribute('aria-valuetext', `${percent(parts[operation])} of the calls`);
    });
    const mix = mixes.find((one) => one.weights.every((weight, place) => weight === weights[place]));
    [...buttons.children].forEach((button, place) => {
      if (place < mixes.length) button.setAttribute('aria-pressed', mixes[place] === mix);
    });
    order.replaceChildren();
    flips.replaceChildren();
    if (!(total > 0)) {
      answer.textContent = 'A mix needs at least one operation with a share: move a slider.';
      return;
    }
    const found = strategies.map((strategy) => ({ strategy, mean: mean(strategy, parts) })).sort((a, b) => a.mean - b.mean);
    const [best] = found;
    const longest = found[found.length - 1].mean;
    for (const one of found) {
      one.ratio = one.mean / best.mean;
      const compared = (mix ? mix.measured : []).map(({ label, time: of }) => `× ${three(of(one.strategy) / of(best.strategy))} ${label}`);
      order.append(line(one, longest, one === best ? [] : compared));
    }
    for (const { strategy } of found.slice(1)) flips.append(element('li', `s${strategy.place}`, flipText(best.strategy, strategy, parts)));
    answer.textContent = answerText(found);
  };

  const set = (next) => {
    weights = next;
    show();
    const isMeasured = weights.every((weight, place) => weight === mixes[0].weights[place]);
    address.write((query) => {
      if (isMeasured) query.delete('mix');
      else query.set('mix', weights.map((weight) => Number(weight.toFixed(3))).join('-'));
    });
  };

  const button = (label, next) => {
    const made = element('button', '', label);
    made.type = 'button';
    made.addEventListener('click', () => {
      set(next);
      spoken.textContent = answer.textContent;
    });
    buttons.append(made);
  };
  mixes.forEach((mix, place) => button(place === 0 ? `${mix.name} (this run)` : mix.name, mix.weights));
  button('Reset', mixes[0].weights);
  sliders.addEventListener('change', () => {
    spoken.textContent = answer.textContent;
  });

  // The mix of a link, where it is one of these operations.
  const linked = (address.query().get('mix') || '').split('-');
  if (linked.length === operations.length && linked.every((weight) => /^\d{1,3}(\.\d{1,3})?$/.test(weight) && Number(weight) <= 100)) {
    weights = linked.map(Number);
  }
  show();
  panel.append(buttons, sliders, result);
  const first = section.querySelector('h3, .table, details');
  first.before(panel);
})();
