// Mouse and keys on the map: what is under the pointer, which route is picked out, where the next node goes.

import { $, isSketching, state } from "./page.js";
import { described } from "./routes.js";

/** `actions`: place(x, y) adds a node, undo() takes the last back, pick(route) picks a route out or not any more. */
export function listen(map, actions) {
  map.onHover = (found, event) => hover(map, found, event);
  map.onPick = (found, event) => {
    if (isSketching()) placeInside(map.toPlane(event.offsetX, event.offsetY), actions);
    else if (state.run?.best) actions.pick(found.route);
  };
  $("map").addEventListener("keydown", (event) => {
    const keys = isSketching() ? sketchKeys(map, actions, event.shiftKey ? 10 : 2) : mapKeys(map, actions);
    if (!keys[event.key] || event.ctrlKey || event.metaKey || event.altKey) return;
    keys[event.key]();
    event.preventDefault();
  });
}

function placeInside([x, y], actions) {
  const inside = (value) => value > -2 && value < 102;
  if (inside(x) && inside(y)) actions.place(x, y);
}

function hover(map, found, event) {
  const tip = $("tip");
  const route = found?.route ?? -1;
  map.hover(route);
  const lines = [];
  if (found && found.node >= 0) lines.push(nodeText(map.instance, found.node));
  if (route >= 0) lines.push(routeText(state.run.best, route, state.run.instance));
  tip.hidden = !lines.length;
  if (tip.hidden) return;
  tip.textContent = lines.join("\n");
  const wide = $("map").clientWidth;
  const left = event.offsetX < wide - 240;
  tip.style.top = `${event.offsetY + 14}px`;
  tip.style.left = left ? `${event.offsetX + 12}px` : "auto";
  tip.style.right = left ? "auto" : `${wide - event.offsetX + 8}px`;
}

function nodeText({ labels, demand, depot }, node) {
  return depot && node > 0 ? `${labels[node]}, demand ${demand[node]}` : labels[node];
}

function routeText(best, index, instance) {
  const name = instance.depot ? `route ${index + 1}: ` : "";
  return `${name}${described(best, index, instance)}`;
}

function sketchKeys(map, actions, step) {
  const move = (dx, dy) => () => {
    const [x, y] = map.cursor ?? [50, 50];
    map.cursor = [Math.max(0, Math.min(100, x + dx)), Math.max(0, Math.min(100, y + dy))];
    map.draw();
  };
  const add = () => actions.place(...(map.cursor ??= [50, 50]));
  return {
    ArrowLeft: move(-step, 0),
    ArrowRight: move(step, 0),
    ArrowUp: move(0, step),
    ArrowDown: move(0, -step),
    Enter: add,
    " ": add,
    Backspace: actions.undo,
  };
}

function mapKeys(map, actions) {
  const count = state.run?.best?.routes.length ?? 0;
  const to = (index) => count && index !== map.picked && actions.pick(index);
  return {
    ArrowRight: () => to((map.picked + 1) % count),
    ArrowLeft: () => to((Math.max(map.picked, 0) - 1 + count) % count),
    Escape: () => map.picked >= 0 && actions.pick(map.picked),
    "+": () => map.zoomBy(1.4),
    "-": () => map.zoomBy(1 / 1.4),
    0: () => map.zoomBy(0),
  };
}
