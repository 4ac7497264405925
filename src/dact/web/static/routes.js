// The list of routes beside the map, each a button that picks its route out.

import { pen } from "./colours.js";
import { cost } from "./page.js";

export class RouteList {
  constructor(list, { hover, pick }) {
    this.list = list;
    this.onHover = hover;
    this.onPick = pick;
  }

  /** Buttons are kept and filled anew, so that the one in use keeps the focus. */
  show(best, slots, picked, instance) {
    const count = best?.routes.length ?? 0;
    while (this.list.children.length > count) this.list.lastChild.remove();
    while (this.list.children.length < count) this.list.append(this.item(this.list.children.length));
    [...this.list.children].forEach((item, index) => {
      const button = item.firstChild;
      const [line, number, stops, load, length] = button.children;
      button.setAttribute("aria-pressed", String(index === picked));
      button.setAttribute("aria-label", `${instance.depot ? `route ${index + 1}` : "tour"}: ${described(best, index, instance)}`);
      number.textContent = instance.depot ? String(index + 1) : "tour";
      stops.textContent = best.routes[index].length;
      load.textContent = instance.capacity ? `${best.loads[index]}/${instance.capacity}` : "";
      length.textContent = cost(best.lengths[index]);
      this.paint(line, slots[index]);
    });
  }

  item(index) {
    const item = document.createElement("li");
    const button = document.createElement("button");
    button.type = "button";
    const line = document.createElement("canvas");
    [line.width, line.height] = [54, 22];
    const parts = ["number", "stops", "load", "length"].map((name) => {
      const part = document.createElement("span");
      part.className = name;
      return part;
    });
    button.append(line, ...parts);
    button.addEventListener("click", () => this.onPick(index));
    for (const name of ["pointerenter", "focus"]) button.addEventListener(name, () => this.onHover(index));
    for (const name of ["pointerleave", "blur"]) button.addEventListener(name, () => this.onHover(-1));
    item.append(button);
    return item;
  }

  paint(canvas, slot) {
    const ink = canvas.getContext("2d");
    const { colour, dash } = pen(slot);
    ink.clearRect(0, 0, 54, 22);
    ink.strokeStyle = colour;
    ink.lineWidth = 6;
    ink.setLineDash(dash.map((part) => 2 * part));
    ink.beginPath();
    ink.moveTo(2, 11);
    ink.lineTo(52, 11);
    ink.stroke();
  }
}

export function described(best, index, instance) {
  const stops = best.routes[index].length;
  const text = `${stops} stop${stops === 1 ? "" : "s"}`;
  const load = instance.capacity ? `, load ${best.loads[index]} of ${instance.capacity}` : "";
  return `${text}${load}, length ${cost(best.lengths[index])}`;
}
