// Colours that colour-blind eyes tell apart, and dashes when they are used up. The light ones are those of our plots.

const LIGHT = ["#0072b2", "#e69f00", "#009e73", "#d55e00", "#cc79a7", "#56b4e9", "#5b2a86", "#7f7f2a"];
const DARK = ["#4aa3e8", "#f0b429", "#2fcf9f", "#ff7f3f", "#e9a3c9", "#a5dcff", "#b48be8", "#c6c65c"];
const DASHES = [[], [7, 3], [2, 2.5]];

export const isDark = () => document.documentElement.dataset.theme === "dark";

export function pen(slot) {
  const colours = isDark() ? DARK : LIGHT;
  return { colour: colours[slot % colours.length], dash: DASHES[Math.floor(slot / colours.length) % DASHES.length] };
}

export const css = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

/** A slot for each route: that of the old route it shares most nodes with, so that colours stay while routes change. */
export function slots(routes, before) {
  const bids = [];
  routes.forEach((route, index) => {
    const votes = new Map();
    for (const node of route) if (before.has(node)) votes.set(before.get(node), (votes.get(before.get(node)) ?? 0) + 1);
    for (const [slot, count] of votes) bids.push({ index, slot, count });
  });
  bids.sort((a, b) => b.count - a.count || a.index - b.index);
  const given = new Array(routes.length).fill(-1);
  const taken = new Set();
  for (const { index, slot } of bids) {
    if (given[index] >= 0 || taken.has(slot)) continue;
    given[index] = slot;
    taken.add(slot);
  }
  let next = 0;
  return given.map((slot) => {
    if (slot >= 0) return slot;
    while (taken.has(next)) next += 1;
    taken.add(next);
    return next;
  });
}
