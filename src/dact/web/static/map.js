// The map: nodes, the best routes in colours, the current ones below them.

import { Canvas } from "./canvas.js";
import { css, pen, slots } from "./colours.js";
import { under } from "./hits.js";

const MARGIN = 28;

export class MapView extends Canvas {
  constructor(canvas) {
    super(canvas);
    this.shows = { best: true, current: true };
    this.set(null);
    this.onHover = this.onPick = () => {};
    this.listen();
  }

  /** Show an instance; `bounds` fixes the part of the plane that is seen. */
  set(instance, bounds = null) {
    this.instance = instance;
    this.bounds = bounds;
    this.best = this.current = null;
    this.slots = [];
    this.picked = this.hovered = -1;
    this.cursor = null;
    this.zoom = { scale: 1, x: 0, y: 0 };
    this.draw();
  }

  setBest(best) {
    const before = new Map();
    this.best?.routes.forEach((route, index) => route.forEach((node) => before.set(node, this.slots[index])));
    const kept = this.slots[this.picked];
    this.slots = slots(best.routes, before);
    this.best = best;
    this.picked = this.picked < 0 ? -1 : this.slots.indexOf(kept);
    this.draw();
  }

  setCurrent(routes) {
    this.current = routes;
    this.draw();
  }

  show(name, is) {
    this.shows[name] = is;
    this.draw();
  }

  hover(index) {
    if (this.hovered === index) return;
    this.hovered = index;
    this.draw();
  }

  pick(index) {
    this.picked = index;
    this.draw();
  }

  paint(ink, wide, high) {
    this.places = this.placed(wide, high);
    ink.lineJoin = ink.lineCap = "round";
    if (this.current && this.shows.current) this.paintCurrent(ink);
    if (this.best && this.shows.best) this.paintBest(ink);
    this.paintNodes(ink);
    if (this.bounds) this.paintPlane(ink);
    if (this.cursor) this.paintCursor(ink);
  }

  /** Pixels of each node: in proportion, y upwards, zoomed. */
  placed(wide, high) {
    if (!this.instance) return [];
    const points = this.bounds ?? this.instance.points;
    const xs = points.map((point) => point[0]);
    const ys = points.map((point) => point[1]);
    const [left, right, low, top] = [Math.min(...xs), Math.max(...xs), Math.min(...ys), Math.max(...ys)];
    const fit = Math.min((wide - 2 * MARGIN) / (right - left || 1), (high - 2 * MARGIN) / (top - low || 1));
    const scale = fit * this.zoom.scale;
    this.toPixels = ([x, y]) => [
      wide / 2 + (x - (left + right) / 2) * scale + this.zoom.x,
      high / 2 - (y - (low + top) / 2) * scale + this.zoom.y,
    ];
    this.toPlane = (x, y) => [
      (x - wide / 2 - this.zoom.x) / scale + (left + right) / 2,
      (high / 2 - y + this.zoom.y) / scale + (low + top) / 2,
    ];
    return this.instance.points.map(this.toPixels);
  }

  /** A route from its first node to its last, the depot and the way back included. */
  legs(route) {
    const nodes = this.instance.depot ? [0, ...route] : route;
    return this.instance.returns ? [...nodes, nodes[0]] : nodes;
  }

  path(ink, nodes) {
    ink.beginPath();
    for (const node of nodes) ink.lineTo(...this.places[node]);
    ink.stroke();
  }

  /** Only where it is another than the best; the ways to and from the depot are faint. */
  paintCurrent(ink) {
    const known = new Set();
    const size = this.places.length;
    const key = (a, b) => Math.min(a, b) * size + Math.max(a, b);
    const each = (route, action) => {
      const nodes = this.legs(route);
      for (let at = 1; at < nodes.length; at += 1) action(nodes[at - 1], nodes[at]);
    };
    if (this.best && this.shows.best) for (const route of this.best.routes) each(route, (a, b) => known.add(key(a, b)));
    ink.strokeStyle = css("--current");
    ink.lineWidth = this.width() * 0.7;
    ink.setLineDash([4, 3]);
    for (const route of this.current) each(route, (a, b) => {
      if (known.has(key(a, b))) return;
      ink.globalAlpha = (this.instance.depot && (!a || !b) ? 0.35 : 0.9) * (this.chosen() < 0 ? 1 : 0.3);
      this.path(ink, [a, b]);
    });
    ink.globalAlpha = 1;
    ink.setLineDash([]);
  }

  paintBest(ink) {
    const chosen = this.chosen();
    this.best.routes.forEach((route, index) => {
      const { colour, dash } = pen(this.slots[index]);
      const out = chosen >= 0 && chosen !== index;
      ink.strokeStyle = colour;
      if (this.instance.depot) this.paintDepotLegs(ink, route, out, chosen === index);
      ink.globalAlpha = out ? 0.16 : 1;
      ink.lineWidth = this.width() * (chosen === index ? 1.7 : 1);
      ink.setLineDash(dash);
      this.path(ink, this.instance.depot ? route : this.legs(route));
      ink.setLineDash([]);
    });
    ink.globalAlpha = 1;
  }

  /** Thin and faint, so that a busy depot stays readable; a single customer's route must still be seen. */
  paintDepotLegs(ink, route, out, full) {
    const many = this.best.routes.length;
    ink.globalAlpha = out ? 0.08 : full || route.length < 2 ? 1 : Math.max(0.25, Math.min(0.6, 6 / many));
    ink.lineWidth = this.width() * (full ? 1.2 : 0.6);
    this.path(ink, [0, route[0]]);
    if (this.instance.returns) this.path(ink, [route.at(-1), 0]);
  }

  paintNodes(ink) {
    if (!this.instance) return;
    const chosen = this.chosen();
    const radius = this.radius();
    const plain = css("--ink");
    const colours = new Map();
    if (this.best && this.shows.best && this.instance.depot)
      this.best.routes.forEach((route, index) => route.forEach((node) => colours.set(node, pen(this.slots[index]).colour)));
    const inside = chosen >= 0 && this.best ? new Set(this.best.routes[chosen]) : null;
    this.places.forEach(([x, y], node) => {
      if (this.instance.depot && node === 0) return;
      ink.globalAlpha = inside && !inside.has(node) ? 0.3 : 1;
      ink.fillStyle = colours.get(node) ?? plain;
      ink.beginPath();
      ink.arc(x, y, radius, 0, 2 * Math.PI);
      ink.fill();
    });
    ink.globalAlpha = 1;
    this.paintNumbers(ink, inside);
    if (this.instance.depot && this.places.length) this.paintDepot(ink, radius);
  }

  /** Numbers of the nodes where there is room, or the order of the stops of the route that is picked out. */
  paintNumbers(ink, inside) {
    const few = this.places.length / this.zoom.scale ** 2 <= 80;
    if (!few && !inside) return;
    ink.font = "11px system-ui, sans-serif";
    ink.lineWidth = 3;
    ink.strokeStyle = css("--paper");
    ink.fillStyle = css("--ink");
    const [dx, dy] = [this.radius() + 2, -this.radius() - 1];
    this.places.forEach(([x, y], node) => {
      if ((this.instance.depot && node === 0) || (inside && !inside.has(node))) return;
      const text = this.instance.titles[node];
      ink.strokeText(text, x + dx, y + dy);
      ink.fillText(text, x + dx, y + dy);
    });
  }

  paintDepot(ink, radius) {
    const half = Math.max(6, 1.6 * radius);
    const [x, y] = this.places[0];
    ink.fillStyle = css("--ink");
    ink.strokeStyle = css("--paper");
    ink.lineWidth = 2;
    ink.fillRect(x - half, y - half, 2 * half, 2 * half);
    ink.strokeRect(x - half, y - half, 2 * half, 2 * half);
  }

  paintPlane(ink) {
    const [[left, low], [right, top]] = this.bounds.map(this.toPixels);
    ink.strokeStyle = css("--line");
    ink.lineWidth = 1;
    ink.strokeRect(left - 10, top - 10, right - left + 20, low - top + 20);
  }

  paintCursor(ink) {
    const [x, y] = this.toPixels(this.cursor);
    ink.strokeStyle = css("--accent");
    ink.lineWidth = 2;
    ink.beginPath();
    for (const [dx, dy] of [[10, 0], [0, 10]]) {
      ink.moveTo(x - dx, y - dy);
      ink.lineTo(x + dx, y + dy);
    }
    ink.stroke();
  }

  chosen() {
    return this.picked >= 0 ? this.picked : this.hovered;
  }

  width() {
    return Math.max(1.3, Math.min(3, 34 / Math.sqrt(this.places.length || 1)));
  }

  radius() {
    const size = Math.min(this.canvas.clientWidth, this.canvas.clientHeight) * Math.sqrt(this.zoom.scale);
    return Math.max(1.7, Math.min(6, (0.075 * size) / Math.sqrt(this.places.length || 1)));
  }

  listen() {
    this.drag = null;
    this.canvas.addEventListener("pointerdown", (event) => (this.drag = { x: event.offsetX, y: event.offsetY, far: 0 }));
    this.canvas.addEventListener("pointermove", (event) => {
      if (this.drag && event.buttons) this.shift(event);
      else this.onHover(under(this, event.offsetX, event.offsetY), event);
    });
    this.canvas.addEventListener("pointerleave", (event) => this.onHover(null, event));
    this.canvas.addEventListener("click", (event) => {
      if ((this.drag?.far ?? 0) < 5) this.onPick(under(this, event.offsetX, event.offsetY), event);
    });
    this.canvas.addEventListener("wheel", (event) => {
      event.preventDefault();
      this.zoomBy(Math.exp(-event.deltaY / 400), event.offsetX, event.offsetY);
    }, { passive: false });
  }

  shift(event) {
    if (this.bounds) return;
    this.zoom.x += event.offsetX - this.drag.x;
    this.zoom.y += event.offsetY - this.drag.y;
    this.drag.far += Math.hypot(event.offsetX - this.drag.x, event.offsetY - this.drag.y);
    [this.drag.x, this.drag.y] = [event.offsetX, event.offsetY];
    this.draw();
  }

  zoomBy(factor, x = this.canvas.clientWidth / 2, y = this.canvas.clientHeight / 2) {
    if (this.bounds) return;
    const scale = Math.max(1, Math.min(30, this.zoom.scale * factor));
    const [dx, dy] = [x - this.canvas.clientWidth / 2, y - this.canvas.clientHeight / 2];
    const change = scale / this.zoom.scale;
    this.zoom = scale === 1 ? { scale, x: 0, y: 0 }
      : { scale, x: dx - (dx - this.zoom.x) * change, y: dy - (dy - this.zoom.y) * change };
    this.draw();
  }
}
